"""The formats that a view can be written in, by name."""

from collections.abc import Callable, Mapping

from attrs import frozen

from cgraph.view.data import view_json
from cgraph.view.dot import dot_text
from cgraph.view.html import html_text
from cgraph.view.mermaid import mermaid_text
from cgraph.view.model import View
from cgraph.view.svg import svg_text
from cgraph.view.trace import trace_text


@frozen
class Format:
    """One format: what writes it, and the ends of file names that mean it, the usual one first."""

    write: Callable[[View], str]
    suffixes: tuple[str, ...]


FORMATS: Mapping[str, Format] = {
    "html": Format(html_text, (".html", ".htm")),
    "svg": Format(svg_text, (".svg",)),
    "dot": Format(dot_text, (".dot", ".gv")),
    "mermaid": Format(mermaid_text, (".mmd", ".mermaid")),
    "trace": Format(trace_text, (".trace.json", ".trace")),
    "json": Format(view_json, (".view.json", ".json")),
}


def format_of(path: str) -> str | None:
    """The name of the format that a file's name means, None where it means none."""
    lower = path.lower()
    matches = (name for name, form in FORMATS.items() if lower.endswith(form.suffixes))
    return next(matches, None)

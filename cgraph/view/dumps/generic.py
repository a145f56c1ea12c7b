r"""Nodes and boxes of DOT that no driver wrote: what is drawn is all that is known.

Receives the raw label of a node; guarantees lines of text as Graphviz would show them: escapes and entities resolved,
`\N` is the node's own name, tags of HTML-like labels left out.
"""

import re
from html import unescape

from cgraph.view.dumps.commands import Command
from cgraph.view.dumps.limits import LONGEST_FACT, LONGEST_LABEL
from cgraph.view.dumps.model import DotGraph, DotNode
from cgraph.view.dumps.records import cells_of, plain, texts
from cgraph.view.model import ViewPhase

MOST_NAMES = 10
_PORT = re.compile(r"(?<!\\)<[^<>]*+>")
_TAG = re.compile(r"<[^<>]*+>")
_BREAK = re.compile(r"<(?:br|/tr|/td)[^<>]*+>", re.IGNORECASE)


def command_of(node: DotNode) -> Command:
    """A node of unknown meaning; what stands behind the first line of its label is a detail."""
    text = _text_of(node)
    first, _, rest = text.partition("\n")
    details = [("name", node.name[:LONGEST_LABEL])] if first != node.name else []
    if rest.strip():
        details.append(("label", text))
    return Command("unknown", first[:LONGEST_LABEL] or node.name[:LONGEST_LABEL], details=tuple(details))


def phases_of(graph: DotGraph) -> list[ViewPhase]:
    """The boxes, nested as they are."""
    return [
        ViewPhase(box.name, text_of_label(box.label, is_html=box.is_html) or box.name, box.parent)
        for box in graph.boxes
    ]


def text_of_label(label: str | None, *, is_html: bool) -> str:
    """The text of a label that is no record, cut."""
    text = _TAG.sub(" ", _BREAK.sub("\n", label or "")) if is_html else plain(label or "")
    return unescape(text).strip()[:LONGEST_FACT]


def _text_of(node: DotNode) -> str:
    label = node.attributes.get("label")
    if label is None:
        return node.name
    if node.is_html:
        return text_of_label(label, is_html=True)
    label = label.replace("\\N", node.name[:LONGEST_LABEL], MOST_NAMES)
    if "record" in node.attributes.get("shape", "").lower():
        return unescape("\n".join(texts(cells_of(_PORT.sub("", label))))).strip()[:LONGEST_FACT]
    return text_of_label(label, is_html=False)

"""The reference page of all problems, `cgraph/docs/diagnostics.md`.

Receives the problem classes; gives one table for each stage, with titles as templates. The words are those of the
classes, so the page says what the program says.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from cgraph.diagnostics.codes import problem_classes
from cgraph.diagnostics.problem import Problem, Severity

_HEAD = """# Diagnostics

Every problem that cgraph reports has a code, which stays the same from version to version. A title's `…` stands for
what the program at hand has there. Errors stop the way from text to planes; a warning does not. The table is written by
`cgraph/diagnostics/page.py` from the problems themselves.
"""

_STAGES = {
    "syntax": "Reading and parsing",
    "check": "Checking: names, types, quantities, naturals, launches",
    "graph": "Verifying a built graph",
    "build": "Building a graph",
    "backends": "Running",
    "models": "Programs in pairs, gradients and files of planes",
}


def diagnostics_page() -> str:
    """The page as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    stages: defaultdict[str, list[type[Problem]]] = defaultdict(list)
    for kind in problem_classes():
        stages[kind.__module__.split(".")[1]].append(kind)
    for stage, kinds in stages.items():
        yield f"## {_STAGES.get(stage, stage.capitalize())}\n"
        yield "| code | title | meaning | stated in |"
        yield "|---|---|---|---|"
        yield from map(_row, kinds)
        yield ""


def _row(kind: type[Problem]) -> str:
    code = kind.code if kind.severity is Severity.ERROR else f"{kind.code} (warning)"
    where = f"`{kind.__module__.removeprefix('cgraph.').replace('.', '/')}.py`"
    return f"| {code} | {_title(kind)} | {_meaning(kind)} | {where} |"


def _title(kind: type[Problem]) -> str:
    """The template with `…` for fields; a bar would end the cell."""
    text = re.sub(r"(\{[^{}]+\})+", "…", kind.title.replace("{{", "\0").replace("}}", "\1"))
    return text.replace("\0", "{").replace("\1", "}").replace("|", r"\|")


def _meaning(kind: type[Problem]) -> str:
    """The first sentence of the class's docstring."""
    first = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) |; `span`", first)[0].rstrip(".").replace("|", r"\|") + "."

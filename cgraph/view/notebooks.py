"""Values of all stages as notebooks show them: HTML for a reader.

Receives values of the line from text to planes; guarantees HTML that needs nothing outside itself, holds no script,
escapes every name and is readable on light and dark pages. A picture stands in an element of its own (`img`), so that
its style touches nothing else on the page.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Protocol, runtime_checkable

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture.model import Bundle
from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.cost import levels
from cgraph.schedule.model import Schedule
from cgraph.view.bundles import view_of_bundle
from cgraph.view.captions import facts, headline, size_text
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View
from cgraph.view.svg import svg_text
from cgraph.view.tree_html import tree_html

MOST_DRAWN = 60
"""Commands up to which a graph is drawn; a larger picture is not readable beside text."""
MOST_LISTED = 400
"""Commands up to which they have rows of their own in the tree."""


@runtime_checkable
class Planned(Protocol):
    """A graph with its order and its memory, as the pipeline hands it on."""

    graph: CommandGraph
    schedule: Schedule
    plan: MemoryPlan


def notebook_html(value: object) -> str:
    """A value of a stage as HTML.

    Args:
        value: a `View`, `CommandGraph`, `Schedule`, `MemoryPlan`, `Bundle`, an imported graph or what the pipeline
            makes of a program; anything else is its `repr`.
    """
    match value:
        case View():
            return view_html(value)
        case CommandGraph():
            return view_html(view_of_graph(value, title=_program_name(value)))
        case Bundle():
            return view_html(view_of_bundle(value, f"bundle of {value.graph.entry}"))
        case ImportedGraph():
            return view_html(view_of_bundle(value, "imported graph"))
        case Schedule():
            return _table("schedule", _schedule_rows(value))
        case MemoryPlan():
            return _table("memory plan", _plan_rows(value))
        case Planned():
            name = _program_name(value.graph)
            return view_html(view_of_graph(value.graph, value.schedule, value.plan, title=name))
        case _:
            return f"<pre>{escape(repr(value))}</pre>"


def view_html(view: View) -> str:
    """A view: its facts and the tree of its phases; of a small one the picture, which tells the facts as well."""
    tree = tree_html(view, commands=len(view.nodes) <= MOST_LISTED)
    if 0 < len(view.nodes) <= MOST_DRAWN:
        lines = [_picture(view), f"<details><summary>phases and their costs</summary>{tree}</details>"]
    else:
        lines = [f"<div><b>{escape(headline(view))}</b></div>"]
        lines += [f'<div style="opacity:.75">{escape(fact)}</div>' for fact in facts(view)]
        lines.append(tree)
    return f'<div class="cgraph-view">{"".join(lines)}</div>'


def _program_name(graph: CommandGraph) -> str:
    """The name of the file that the entry stands in, without folders; the entry's own where there are no commands."""
    if not graph.nodes:
        return graph.entry
    source = graph.nodes[0].origin.chain()[0].span.source
    return source.name.replace("\\", "/").rpartition("/")[2]


def _picture(view: View) -> str:
    data = b64encode(svg_text(view).encode("utf-8")).decode("ascii")
    return (
        f'<img alt="the commands of {escape(headline(view))} and what waits for what" '
        f'style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
    )


def _schedule_rows(schedule: Schedule) -> Iterable[tuple[str, str]]:
    yield "order", schedule.order.value
    yield "commands", f"{len(schedule.sequence):,}"
    yield "edges", f"{sum(map(len, schedule.predecessors)):,}"
    kinds = Counter(hazard.kind.value for hazard in schedule.hazards)
    yield from ((f"hazards, {kind}", f"{count:,}") for kind, count in sorted(kinds.items()))
    found = Counter(levels(schedule))
    yield "levels", f"{len(found):,}"
    yield "commands of the widest level", f"{max(found.values(), default=0):,}"


def _plan_rows(plan: MemoryPlan) -> Iterable[tuple[str, str]]:
    yield "arena of scratch planes", size_text(plan.size_bytes)
    yield "lower bound", size_text(plan.lower_bound_bytes)
    yield "without sharing", size_text(plan.unshared_bytes)
    yield "planes in the arena", f"{sum(offset is not None for offset in plan.offsets):,}"
    yield "other planes", size_text(plan.persistent_bytes)


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<div><b>{escape(title)}</b><table><tbody>{cells}</tbody></table></div>"

"""A view as a Mermaid flowchart, for pages that draw those (READMEs, wikis).

Receives a view; guarantees a text without characters that mean something to Mermaid or to HTML in names. Mermaid draws
no more than some hundred lines: past `MOST_EDGES` the outermost phases are drawn as one box each, and all that waits
between two of them as one line.
"""

from collections.abc import Iterator

from cgraph.view.captions import headline, line, node_caption
from cgraph.view.model import View
from cgraph.view.nesting import Close, Open, nesting

MOST_EDGES = 500  # Mermaid's own default for `maxEdges`, which a text cannot change
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:+=_()→×·µ…/-")


def mermaid_text(view: View) -> str:
    """One flowchart from top to bottom."""
    drawn = _whole(view) if len(view.edges) <= MOST_EDGES else _outermost(view)
    return "".join(f"{text}\n" for text in (f"%% {_shown(headline(view))}", "flowchart TD", *drawn))


def _whole(view: View) -> Iterator[str]:
    for step in nesting(view):
        indent = "  " * (step.depth + 1)
        if isinstance(step, Close):
            yield f"{indent}end"
        elif isinstance(step, Open):
            phase = view.phases[step.phase]
            yield f'{indent}subgraph p{step.phase}["{_shown(line(phase.title or phase.name))}"]'
            if step.is_empty:
                yield f'{indent}  e{step.phase}["(empty)"]'
        else:
            yield f'{indent}n{step.node}["{"<br/>".join(map(_shown, node_caption(view, step.node)))}"]'
    for edge in view.edges:
        arrow = "-.->" if edge.reason == "order" else "-->"
        yield f"  n{edge.before} {arrow} n{edge.after}"
    for number, node in enumerate(view.nodes):
        for box in node.body:
            yield f"  n{number} -. runs .-> p{box}"


def _outermost(view: View) -> Iterator[str]:
    """Outermost boxes and nodes outside boxes, each with the lines between them once; a box says how much is in it."""
    outermost: list[int] = []
    for number, phase in enumerate(view.phases):
        outermost.append(number if phase.parent is None else outermost[phase.parent])
    counts = [0] * len(view.phases)
    names = []
    for number, node in enumerate(view.nodes):
        if node.phase is None:
            names.append(f"n{number}")
        else:
            names.append(f"p{outermost[node.phase]}")
            counts[outermost[node.phase]] += 1
    drawn: set[str] = set()
    for number in view.sequence:
        name = names[number]
        if name in drawn:
            continue
        drawn.add(name)
        top = view.nodes[number].phase
        if top is None:
            yield f'  {name}["{"<br/>".join(map(_shown, node_caption(view, number)))}"]'
        else:
            phase = view.phases[outermost[top]]
            title = _shown(line(phase.title or phase.name))
            yield f'  {name}["{title}<br/>{counts[outermost[top]]} commands"]'
    lines = dict.fromkeys((names[edge.before], names[edge.after]) for edge in view.edges)
    for before, after in lines:
        if before != after:
            yield f"  {before} --> {after}"


def _shown(text: str) -> str:
    """A text in which every character that is not plain is written by its number, as Mermaid asks for."""
    return "".join(character if character in _PLAIN else f"#{ord(character)};" for character in text)

"""A view as Graphviz text.

Receives a view; guarantees valid DOT whatever names contain: phases are nested clusters, edges without a hazard (the
order alone asks for them) are dashed, boxes that a node runs hang on it by dotted lines. Layout is left to Graphviz.
"""

from collections.abc import Iterator

from cgraph.view.captions import description, edge_text, headline, line, node_caption
from cgraph.view.model import View
from cgraph.view.nesting import Close, Leaf, Open, nesting

TITLE_LENGTH = 200


def dot_text(view: View) -> str:
    """One directed graph; a node's tooltip is what it does and where it comes from."""
    return "".join(f"{text}\n" for text in _lines(view))


def _lines(view: View) -> Iterator[str]:
    yield f"digraph {_quoted(headline(view))} {{"
    yield "  graph [compound=true];"
    yield "  node [shape=box];"
    anchors: dict[int, str] = {}
    around: list[int] = []
    for step in nesting(view):
        indent = "  " * (step.depth + 1)
        if isinstance(step, Close):
            around.pop()
            yield f"{indent}}}"
        elif isinstance(step, Open):
            around.append(step.phase)
            phase = view.phases[step.phase]
            yield f"{indent}subgraph cluster_{step.phase} {{"
            yield f"{indent}  label={_quoted(line(phase.title or phase.name, TITLE_LENGTH))};"
            if step.is_empty:
                yield f'{indent}  empty_{step.phase} [label="(empty)", shape=plaintext];'
                anchors |= {box: f"empty_{step.phase}" for box in around if box not in anchors}
        else:
            anchors |= {box: f"n{step.node}" for box in around if box not in anchors}
            yield f"{indent}{_node_line(view, step)}"
    for edge in view.edges:
        style = "style=dashed, " if edge.reason == "order" else ""
        tooltip = _quoted(line(edge_text(view, edge), TITLE_LENGTH))
        yield f"  n{edge.before} -> n{edge.after} [{style}tooltip={tooltip}];"
    for number, node in enumerate(view.nodes):
        for box in node.body:
            yield f'  n{number} -> {anchors[box]} [style=dotted, lhead=cluster_{box}, tooltip="runs"];'
    yield "}"


def _node_line(view: View, leaf: Leaf) -> str:
    label = "\n".join(node_caption(view, leaf.node))
    tooltip = "\n".join(description(view, leaf.node))
    return f"n{leaf.node} [label={_quoted(label)}, tooltip={_quoted(tooltip)}];"


def _quoted(text: str) -> str:
    r"""A DOT string of clean lines; a line end becomes `\n`, and `&` cannot begin an entity."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return f'"{escaped}"'

"""A view as an SVG picture that needs nothing else: nested boxes, commands in layers, critical path.

Receives a view; guarantees well-formed XML without scripts or references whatever names contain, the same text for the
same view, and colours that follow the reader's light or dark setting. Names that all kernels or planes begin with are
left out and said once in the heading.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from cgraph.view.captions import (
    common_prefix,
    cost_text,
    description,
    facts,
    few_names,
    headline,
    line,
    written_planes,
)
from cgraph.view.layout.model import Item, Point, Route
from cgraph.view.layout.nested import PADDING, Box, Picture, nested
from cgraph.view.model import View, ViewNode, ViewPhase
from cgraph.view.svg_style import STYLE, family

CHARACTER = 6.3  # width of a character of a label: 0.6 of its 10.5 pixels
TITLE_CHARACTER = 7.2
NODE_HEIGHT = 34.0
MARGIN = 20.0
LINE_HEIGHT = 17.0
TITLE_HEIGHT = 27.0
MOST_NAMES = 2


def svg_text(view: View) -> str:
    """The whole picture."""
    return "".join(f"{text}\n" for text in _Drawing(view).lines())


class _Drawing:
    """One picture while it is written."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.kernel_prefix = common_prefix(kernel.name for kernel in view.kernels)
        self.plane_prefix = common_prefix(plane.name for plane in view.planes)
        self.labels = [self._label(index, node) for index, node in enumerate(view.nodes)]
        self.critical = set(view.critical_path)
        self.steps = set(pairwise(view.critical_path))
        costs = [self._cost(node) for node in view.nodes]
        self.most = max((cost for cost in costs if cost is not None), default=0.0)
        # Leaves are numbered by position in the sequence, so that lines run forward.
        self.order = view.sequence
        self.position = {node: position for position, node in enumerate(self.order)}
        self.edges = sorted(view.edges, key=lambda edge: (self.position[edge.before], self.position[edge.after]))
        self.picture = self._layout()

    def _layout(self) -> Picture:
        leaves = [Item(max(map(len, self.labels[node])) * CHARACTER + 18, NODE_HEIGHT) for node in self.order]
        boxes = [
            Box(phase.parent, len(self._title(phase)) * TITLE_CHARACTER, TITLE_HEIGHT) for phase in self.view.phases
        ]
        lines = [(self.position[edge.before], self.position[edge.after]) for edge in self.edges]
        return nested(leaves, [self.view.nodes[node].phase for node in self.order], boxes, lines)

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        title = headline(self.view)
        heading = self._heading()
        top = 2 * MARGIN + LINE_HEIGHT * (len(heading) + 1)
        width = max(self.picture.width, TITLE_CHARACTER * max(map(len, (title, *heading)))) + 2 * MARGIN
        height = top + self.picture.height + MARGIN
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
        )
        yield f"<title>{escape(title)}</title>"
        yield f"<style>{STYLE}</style>"
        yield '<rect class="paper" width="100%" height="100%"/>'
        yield _text("heading", MARGIN, MARGIN + 12, title)
        for number, fact in enumerate(heading, start=1):
            yield _text("fact", MARGIN, MARGIN + 12 + LINE_HEIGHT * number, fact)
        yield f'<g transform="translate({MARGIN:.0f} {top:.0f})">'
        yield from self._boxes()
        yield from self._edges()
        yield from self._titles()
        yield from self._nodes()
        yield "</g>"
        yield "</svg>"

    def _heading(self) -> list[str]:
        """The lines under the title."""
        prefixes = (("kernels", self.kernel_prefix), ("planes", self.plane_prefix))
        shown = [f"{what} without `{line(prefix)}`" for what, prefix in prefixes if prefix]
        return [*facts(self.view), *(["names of " + ", ".join(shown)] if shown else [])]

    def _boxes(self) -> Iterator[str]:
        depths: list[int] = []
        for phase, ((x, y), size) in zip(self.view.phases, self.picture.boxes, strict=True):
            depths.append(0 if phase.parent is None else depths[phase.parent] + 1)
            shade = "odd" if depths[-1] % 2 else "even"
            yield (
                f'<rect class="box {shade} {phase.kind}" x="{x:.1f}" y="{y:.1f}" '
                f'width="{size.width:.1f}" height="{size.height:.1f}" rx="7"/>'
            )

    def _titles(self) -> Iterator[str]:
        """After the lines, which their halo covers."""
        for phase, ((x, y), _) in zip(self.view.phases, self.picture.boxes, strict=True):
            yield _text("title", x + PADDING, y + 17, self._title(phase))

    def _edges(self) -> Iterator[str]:
        last: list[str] = []
        for edge, route in zip(self.edges, self.picture.routes, strict=True):
            kind = "order" if edge.reason == "order" else "data"
            critical = (edge.before, edge.after) in self.steps
            text = f'<path class="line {kind}{" critical" if critical else ""}" d="{_curve(route)}"/>' + _head(
                route[-1], critical=critical
            )
            if critical:
                last.append(text)
            else:
                yield text
        yield from last

    def _nodes(self) -> Iterator[str]:
        for node_index, (x, y) in zip(self.order, self.picture.leaves, strict=True):
            node = self.view.nodes[node_index]
            name, writes = self.labels[node_index]
            width = max(len(name), len(writes)) * CHARACTER + 18
            critical = " critical" if node_index in self.critical else ""
            kind = family(node.kind, node.operations)
            yield f'<g class="node {kind}{critical}" transform="translate({x:.1f} {y:.1f})">'
            yield f"<title>{escape(chr(10).join(description(self.view, node_index)))}</title>"
            yield f'<rect class="body" width="{width:.1f}" height="{NODE_HEIGHT:.0f}" rx="4"/>'
            cost = self._cost(node)
            if cost and self.most:
                share = width * cost / self.most
                yield f'<rect class="cost" y="{NODE_HEIGHT - 3:.0f}" width="{share:.1f}" height="3"/>'
            yield f'<rect class="stripe" width="4" height="{NODE_HEIGHT:.0f}" rx="1.5"/>'
            yield _text("name", 11, 14, name) + _text("writes", 11, 26, writes)
            yield "</g>"

    def _label(self, index: int, node: ViewNode) -> tuple[str, str]:
        """Number and name, and under it the planes that it writes."""
        name = node.label
        if node.kernel is not None and name == self.view.kernels[node.kernel].name:
            name = name.removeprefix(self.kernel_prefix)
        planes = [plane.removeprefix(self.plane_prefix) for plane in written_planes(self.view, node)]
        writes = few_names(planes, MOST_NAMES)
        return line(f"{index} {name}"), f"→ {writes}" if writes else cost_text(node)

    @staticmethod
    def _title(phase: ViewPhase) -> str:
        return line(phase.title or phase.name)

    @staticmethod
    def _cost(node: ViewNode) -> float | None:
        return node.cost_us if node.elapsed_ms is None else 1e3 * node.elapsed_ms


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _curve(route: Route) -> str:
    """A path through all corners: straight between two above each other, else bent so that both ends are upright."""
    points = _without_stops(route)
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (next_x, next_y) in pairwise(points):
        if abs(x - next_x) < 0.05:
            parts.append(f"V{next_y:.1f}")
        else:
            bend = (next_y - y) / 2
            parts.append(f"C{x:.1f} {y + bend:.1f} {next_x:.1f} {next_y - bend:.1f} {next_x:.1f} {next_y:.1f}")
    return "".join(parts)


def _without_stops(route: Sequence[Point]) -> list[Point]:
    """The corners without those in the middle of an upright part."""
    points: list[Point] = []
    for point in route:
        while len(points) > 1 and abs(points[-1][0] - point[0]) < 0.05 and abs(points[-2][0] - point[0]) < 0.05:
            points.pop()
        points.append(point)
    return points


def _head(end: Point, *, critical: bool) -> str:
    x, y = end
    kind = "head critical" if critical else "head"
    return f'<path class="{kind}" d="M{x - 3:.1f} {y - 6:.1f}L{x:.1f} {y:.1f}L{x + 3:.1f} {y - 6:.1f}Z"/>'

"""Command graphs made by hand, for tests of what comes after the builder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cgraph.core.elements import Element
from cgraph.core.origins import Origin
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Signature, Slot, SlotKind
from cgraph.graph.model import (
    Access,
    Argument,
    CommandGraph,
    CopyNode,
    FillNode,
    Image,
    JoinNode,
    LaunchNode,
    Node,
    Phase,
    Plane,
    PlaneArgument,
)
from cgraph.source import Source, Span


class GraphMaker:
    """Collects planes and nodes, then hands out the graph. Each node has a line of its own in a made-up text.

    Sizes of parts are given in elements; without `start` and `stop` a part is the whole plane.
    """

    def __init__(self, lines: int = 10_000) -> None:
        self.source = Source("folder/hand.cg", "command\n" * lines)
        self._lines = lines
        self.entry = Origin(self.span(0), "main")
        self._origin = self.entry
        self._planes: list[Plane] = []
        self._phases: list[Phase] = []
        self._phase: int | None = None
        self._nodes: list[Node] = []

    def span(self, line: int) -> Span:
        start = 8 * (line % self._lines)
        return Span(self.source, start, start + 7)

    def plane(
        self,
        name: str,
        elements: int,
        role: Role = Role.SCRATCH,
        element: Element = Element.F32,
        gradient_of: int | None = None,
    ) -> int:
        index = len(self._planes)
        family, *indices = name.split()
        numbers = tuple(int(number) for number in indices)
        plane = Plane(index, name, family, numbers, element, (elements,), role, gradient_of, self.span(index))
        self._planes.append(plane)
        return index

    @contextmanager
    def phase(self, name: str) -> Iterator[int]:
        around = self._phase
        self._phase = len(self._phases)
        self._phases.append(Phase(self._phase, name, name.title(), around))
        yield self._phase
        self._phase = around

    @contextmanager
    def call(self, text: str, line: int) -> Iterator[None]:
        around = self._origin
        self._origin = Origin(self.span(line), text, around)
        yield
        self._origin = around

    def part(self, plane: int, mode: AccessMode, start: int = 0, stop: int | None = None) -> Access:
        made = self._planes[plane]
        size = made.element.size_bytes
        return Access(plane, start * size, (made.elements if stop is None else stop) * size, mode)

    def read(self, plane: int, start: int = 0, stop: int | None = None) -> Access:
        return self.part(plane, AccessMode.READ, start, stop)

    def write(self, plane: int, start: int = 0, stop: int | None = None) -> Access:
        return self.part(plane, AccessMode.WRITE, start, stop)

    def accumulate(self, plane: int, start: int = 0, stop: int | None = None) -> Access:
        return self.part(plane, AccessMode.ACCUMULATE, start, stop)

    def fill(self, plane: int, start: int = 0, stop: int | None = None, value: float = 0.0) -> int:
        return self._add(FillNode, "fill", (self.write(plane, start, stop),), value)

    def copy(self, destination: Access, source: Access) -> int:
        return self._add(CopyNode, "copy", (destination, source))

    def join(self) -> int:
        return self._add(JoinNode, "join", ())

    def launch(
        self,
        *accesses: Access,
        naturals: Sequence[tuple[str, int]] = (),
        aliases: dict[int, tuple[int, ...]] | None = None,
        optional: Sequence[int] = (),
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (32, 1, 1),
        shared_bytes: int = 0,
    ) -> int:
        """A launch with one pointer slot `s0`, `s1` … for each access, then the naturals; no floats."""
        slots, arguments = [], []
        extents: list[tuple[int, ...]] = []
        for number, access in enumerate(accesses):
            made = self._planes[access.plane]
            count = (access.stop - access.start) // made.element.size_bytes
            partners = tuple(f"s{other}" for other in (aliases or {}).get(number, ()))
            slots.append(
                Slot(
                    number,
                    f"s{number}",
                    SlotKind.POINTER,
                    self.span(0),
                    made.element,
                    access.mode,
                    (count,),
                    optional=number in optional,
                    aliases=partners,
                )
            )
            arguments.append(PlaneArgument(access.plane, access.start))
            extents.append((count,))
        plain: list[Argument] = list(arguments)
        for name, value in naturals:
            slots.append(Slot(len(slots), name, SlotKind.NATURAL, self.span(0)))
            plain.append(value)
            extents.append(())
        signature = Signature(
            "handImage", "hand.cu", "hand", tuple(slots), (), grid, block, shared_bytes, (), self.span(0)
        )
        image = Image(signature, ())
        return self._add(LaunchNode, "launch", accesses, image, grid, block, shared_bytes, tuple(plain), tuple(extents))

    def graph(self) -> CommandGraph:
        return CommandGraph("main", (), Element.F32, tuple(self._planes), tuple(self._phases), tuple(self._nodes))

    def _add(self, kind: type[Node], text: str, accesses: tuple[Access, ...], *more: object) -> int:
        index = len(self._nodes)
        origin = Origin(self.span(index), text, self._origin)
        self._nodes.append(kind(index, self._phase, origin, accesses, *more))  # type: ignore[arg-type]
        return index

"""The command graph: planes, phases and nodes with concrete sizes.

Receives what the builder evaluated; guarantees that indices are in range and that accesses lie in the order of the
slots. It does not hold dependencies: those follow from the accesses (`hazards`), and an order is chosen by the
schedule.
"""

from typing import TypeAlias

from attrs import field, frozen

from cgraph.core.elements import Element
from cgraph.core.notebooks import ShownInNotebooks
from cgraph.core.origins import Origin
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Signature
from cgraph.source import Span


@frozen(eq=False)
class Plane:
    """A block of memory of the graph.

    Args:
        index: its place in `CommandGraph.planes`.
        name: family and indices, e.g. `cgQkvWeight 0`.
        element: never HALF: a build has bound it.
        extent: row-major, in elements. gradient_of: index of the plane whose gradient this is.
    """

    index: int
    name: str
    family: str
    indices: tuple[int, ...]
    element: Element
    extent: tuple[int, ...]
    role: Role
    gradient_of: int | None
    span: Span

    @property
    def elements(self) -> int:
        """How many elements it has."""
        count = 1
        for size in self.extent:
            count *= size
        return count

    @property
    def size_bytes(self) -> int:
        """Its size in bytes."""
        return self.elements * self.element.size_bytes


@frozen
class Access:
    """Bytes `start … stop` (half-open, from the plane's first byte) that a node touches."""

    plane: int
    start: int
    stop: int
    mode: AccessMode


@frozen
class PlaneArgument:
    """A pointer argument: a plane's index and an offset into it, in bytes."""

    plane: int
    offset: int


Argument: TypeAlias = PlaneArgument | int | float | None


@frozen(eq=False)
class Phase:
    """One run of a phase. `parent` is the index of the phase around it, None outside; `name` is the declared one."""

    index: int
    name: str
    title: str
    parent: int | None


@frozen(eq=False)
class Image:
    """A signature with the parameters of this build put in.

    Args:
        signature: its sizes contain slot atoms only; elements are bound.
        constants: name and value of each size that the kernel is compiled with.
    """

    signature: Signature
    constants: tuple[tuple[str, int], ...]


@frozen(eq=False)
class LaunchNode:
    """Runs a kernel. Arguments stand in slot order; an optional pointer that was left out is None.

    `extents` holds, for each slot, the extent in elements that the kernel touches (() for numbers and left-out slots).
    """

    index: int
    phase: int | None
    origin: Origin
    accesses: tuple[Access, ...]
    image: Image
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    extents: tuple[tuple[int, ...], ...]


@frozen(eq=False)
class FillNode:
    """Sets every element of a plane's part to one value; its only access is the part."""

    index: int
    phase: int | None
    origin: Origin
    accesses: tuple[Access, ...]
    value: float


@frozen(eq=False)
class CopyNode:
    """Copies bytes; its accesses are the destination, then the source."""

    index: int
    phase: int | None
    origin: Origin
    accesses: tuple[Access, ...]


@frozen(eq=False)
class JoinNode:
    """Does nothing; a place where orders meet."""

    index: int
    phase: int | None
    origin: Origin
    accesses: tuple[Access, ...] = ()


Node: TypeAlias = LaunchNode | FillNode | CopyNode | JoinNode


@frozen(eq=False)
class CommandGraph(ShownInNotebooks):
    """A built program.

    Args:
        entry: the definition it was built from.
        parameters: name and value of each parameter that the entry uses, in the order of their declaration.
        half: the element type that `half` stands for.
        planes: those that some node touches, in the order of first use, plus declared outputs and gradients.
        nodes: in program order; a node's `index` is its place here.
    """

    entry: str
    parameters: tuple[tuple[str, int | float], ...]
    half: Element
    planes: tuple[Plane, ...] = field(repr=False)
    phases: tuple[Phase, ...] = field(repr=False)
    nodes: tuple[Node, ...] = field(repr=False)

"""The picture of a graph, before anything is drawn: one value for programs, bundles and dumps of other tools.

Guarantees nothing by itself: whoever makes a view keeps its references (indices into its tuples) in range, and a view
that was read from a file has been checked (`view.data`). What is not known is None, never a made-up zero. Drawing is
left to the exporters, one file each. `docs/view.md` says the same of its JSON form.
"""

from typing import Literal, TypeAlias

from attrs import field, frozen

from cgraph.core.notebooks import ShownInNotebooks

ViewKind: TypeAlias = Literal["program", "bundle", "dump"]
OrderName: TypeAlias = Literal["dataflow", "phase", "serial"]
PhaseKind: TypeAlias = Literal["phase", "graph", "child", "body"]
SlotKindName: TypeAlias = Literal["pointer", "natural", "float", "bytes"]
Mode: TypeAlias = Literal["read", "write", "accumulate"]
NodeKind: TypeAlias = Literal[
    "launch",
    "fill",
    "copy",
    "join",
    "memset",
    "memcpy",
    "alloc",
    "free",
    "event_record",
    "event_wait",
    "host",
    "child",
    "conditional",
    "empty",
    "unknown",
]
EdgeReason: TypeAlias = Literal["read-after-write", "write-after-read", "write-after-write", "order", "given"]
NoteSeverity: TypeAlias = Literal["note", "warning", "error"]
Status: TypeAlias = Literal["same", "changed", "added", "removed"]
Dimensions: TypeAlias = tuple[int, int, int]


@frozen
class ViewSource:
    """A text that origins point into; `name` is as short as tells it from the others."""

    name: str
    text: str = field(repr=False)


@frozen
class ViewOrigin:
    """One step of the way from an entry point to a command. Lines and columns count from 1.

    Args:
        parent: the step before: index of an origin with a smaller index, None at the entry.
        stop_line, stop_column: just behind the last character.
        text: what the step is, e.g. a definition's name for a call, or `l = 3` for a loop.
    """

    parent: int | None
    source: int
    start_line: int
    start_column: int
    stop_line: int
    stop_column: int
    text: str


@frozen
class ViewPhase:
    """A box around nodes: one run of a phase, a child graph, or a body of a conditional node; it may be empty.

    Args:
        parent: index of the box around it, smaller than its own.
        note: what its declaration says about it, or a dump.
    """

    name: str
    title: str
    parent: int | None
    kind: PhaseKind = "phase"
    note: str | None = None


@frozen
class ViewSlot:
    """One argument that a kernel takes."""

    name: str
    kind: SlotKindName
    element: str | None = None
    access: Mode | None = None


@frozen
class ViewKernel:
    """What launches run.

    Args:
        name: as people read it; symbol: as the code has it.
        slots: None where nothing is known of them. registers: of a thread.
        constants: name and value of the sizes that it is compiled with.
    """

    name: str
    symbol: str
    file: str | None = None
    slots: tuple[ViewSlot, ...] | None = None
    registers: int | None = None
    constants: tuple[tuple[str, int], ...] = ()
    doc: str | None = None


@frozen
class ViewPlane:
    """A block of memory.

    Args:
        role: `input`, `output`, `weight`, `gradient`, `saved`, `state`, `scratch`; `memory` where nobody declared one.
        extent: row-major, in elements. offset: in the arena, in bytes. gradient_of: index of a plane.
        origin: of its declaration.
    """

    name: str
    family: str
    element: str | None
    extent: tuple[int, ...] | None
    role: str
    size_bytes: int
    offset: int | None = None
    gradient_of: int | None = None
    doc: str | None = None
    origin: int | None = None


@frozen
class ViewArgument:
    """What a node gives to one slot: a place in a plane (`offset_bytes`, `extent` in elements), or a value as text."""

    slot: str
    plane: int | None = None
    offset_bytes: int | None = None
    extent: tuple[int, ...] | None = None
    access: Mode | None = None
    value: str | None = None


@frozen
class ViewAccess:
    """Bytes `start … stop` (half-open, from the plane's first byte) that a node touches."""

    plane: int
    start: int
    stop: int
    mode: Mode


@frozen
class ViewNode:
    """One command.

    Args:
        phase: the innermost box that it is in. grid, block: in x, y and z. shared_bytes: dynamic ones of a block.
        read_bytes, written_bytes: that move at least; accumulated bytes count on both sides.
        operations: of its products; None where they are not known.
        cost_us: an estimate by `View.roofline`. elapsed_ms: measured.
        body: boxes that this node runs: a child graph, or what a condition chooses among.
        details: further facts, name and text. flags: what a reader should notice, a few words each.
    """

    kind: NodeKind
    label: str
    phase: int | None = None
    kernel: int | None = None
    grid: Dimensions | None = None
    block: Dimensions | None = None
    shared_bytes: int | None = None
    arguments: tuple[ViewArgument, ...] = ()
    accesses: tuple[ViewAccess, ...] = ()
    read_bytes: int | None = None
    written_bytes: int | None = None
    operations: int | None = None
    cost_us: float | None = None
    elapsed_ms: float | None = None
    origin: int | None = None
    body: tuple[int, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


@frozen
class ViewEdge:
    """Node `after` waits for node `before`.

    Args:
        reason: the first hazard between the two; `order` where only the schedule asks for it, `given` in a dump.
        plane, start, stop: the bytes that the hazard is about. count: of hazards between the two, 0 without one.
    """

    before: int
    after: int
    reason: EdgeReason
    plane: int | None = None
    start: int | None = None
    stop: int | None = None
    count: int = 0


@frozen
class ViewMemory:
    """How good a memory plan is; see `memory.model.MemoryPlan`."""

    arena_bytes: int
    lower_bound_bytes: int
    unshared_bytes: int
    persistent_bytes: int


@frozen
class ViewLifetime:
    """The first and the last use of a plane, as positions in `View.sequence`."""

    plane: int
    first: int
    last: int


@frozen
class Roofline:
    """What estimates are made with: what a device can do at best; `device` says in words which, and who says so."""

    bandwidth_bytes_per_us: float
    operations_per_us: float
    overhead_us: float
    device: str


@frozen
class ViewNote:
    """A remark on the whole, on a node, or on a 1-based line of what was read."""

    severity: NoteSeverity
    text: str
    node: int | None = None
    line: int | None = None


@frozen
class Pairing:
    """A node or plane of one graph beside one of the other; `changes` says what differs, empty where nothing does.

    `left` is an index into the other view (what there was before), `right` into the view that holds the comparison;
    `added` has no left, `removed` no right.
    """

    status: Status
    left: int | None
    right: int | None
    changes: tuple[str, ...] = ()


@frozen
class Comparison:
    """Another graph beside this one; `other` holds no comparison of its own."""

    other_title: str
    nodes: tuple[Pairing, ...]
    planes: tuple[Pairing, ...]
    other: "View" = field(repr=False)


@frozen
class View(ShownInNotebooks):
    """A whole graph.

    Args:
        title: a file's name, as a heading.
        tool: that made a dump, in words. entry, half, parameters, order: of a program.
        sequence: each node once, in a legal order: program order.
        critical_path: the chain of nodes that takes longest, first to last, by measured times where `timed`, else by
            estimates; () where it is not known.
        timed: whether nodes have measured times.
    """

    title: str
    kind: ViewKind
    tool: str | None = None
    entry: str | None = None
    half: str | None = None
    parameters: tuple[tuple[str, int | float], ...] = ()
    order: OrderName | None = None
    sources: tuple[ViewSource, ...] = field(default=(), repr=False)
    origins: tuple[ViewOrigin, ...] = field(default=(), repr=False)
    phases: tuple[ViewPhase, ...] = field(default=(), repr=False)
    kernels: tuple[ViewKernel, ...] = field(default=(), repr=False)
    planes: tuple[ViewPlane, ...] = field(default=(), repr=False)
    nodes: tuple[ViewNode, ...] = field(default=(), repr=False)
    edges: tuple[ViewEdge, ...] = field(default=(), repr=False)
    sequence: tuple[int, ...] = field(default=(), repr=False)
    memory: ViewMemory | None = None
    lifetimes: tuple[ViewLifetime, ...] = field(default=(), repr=False)
    critical_path: tuple[int, ...] = field(default=(), repr=False)
    critical_path_us: float | None = None
    timed: bool = False
    roofline: Roofline | None = None
    notes: tuple[ViewNote, ...] = field(default=(), repr=False)
    comparison: Comparison | None = None

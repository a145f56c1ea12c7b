"""Values that terms evaluate to, while checking (sizes are symbols) and while building (sizes are ints).

Commands are values too: a tree that a walk turns into nodes. Nothing here computes.
"""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from cgraph.check.terms import Function, Primitive
from cgraph.core.elements import Element
from cgraph.core.naturals import Natural, Polynomial, Symbol
from cgraph.core.origins import Origin
from cgraph.core.roles import Role
from cgraph.core.signatures import Signature, SlotKind
from cgraph.core.types import Type
from cgraph.source import Span

# ── what declarations stand for ────────────────────────────────────────────────────────────────────


@frozen(eq=False)
class PhaseValue:
    """A declared phase."""

    name: str
    title: str
    span: Span


@frozen(eq=False)
class PlaneFamily:
    """A declared plane, or one plane for each value of its indices.

    Args:
        symbols: stand for the indices in `bounds` (exclusive) and `extent`.
    """

    name: str
    symbols: tuple[Symbol, ...]
    bounds: tuple[Natural, ...]
    element: Element
    extent: tuple[Natural, ...]
    role: Role
    gradient_of: str | None
    documentation: str
    span: Span


@frozen(eq=False)
class ImageValue:
    """A declared image. `sizes` computes, from the natural slots' values in order, what a launch is held against."""

    signature: Signature
    sizes: "Callable[..., LaunchSizes]"


@frozen
class LaunchSizes:
    """Sizes of one launch.

    Args:
        extents: of each slot, () for numbers. elements: their products.
        grid: the one that the image asks for. requirements: both sides of each.
    """

    extents: tuple[tuple[Natural, ...], ...]
    elements: tuple[Natural, ...]
    grid: tuple[Natural, Natural, Natural] | None
    block: tuple[Natural, Natural, Natural]
    shared_bytes: Natural
    requirements: tuple[tuple[Natural, Natural], ...]


# ── values ─────────────────────────────────────────────────────────────────────────────────────────


@frozen(eq=False)
class PlaneValue:
    """One plane of a family, from an offset in elements on.

    Args:
        extent: the whole plane's. elements: how many there are from the offset on.
    """

    family: PlaneFamily
    indices: tuple[Natural, ...]
    extent: tuple[Natural, ...]
    offset: Natural
    elements: Natural


@frozen(eq=False)
class ArgumentValue:
    """A slot number."""

    number: Natural


@frozen(eq=False)
class SlotValue:
    """One filled slot and the slots filled after it in the text; the span holds its number and its value."""

    kind: SlotKind
    argument: "Value"
    value: "Value"
    rest: "Value"
    span: Span


@frozen(eq=False)
class NoSlots:
    """The end of the slots."""


@frozen(eq=False)
class Closure:
    """A function with the environment of its free names; `name` is the definition it is the value of."""

    function: Function
    environment: "Environment"
    name: str | None = None


@frozen(eq=False)
class Partial:
    """A primitive or a plane family with fewer arguments than it needs."""

    target: Primitive | PlaneFamily
    arguments: "tuple[Value, ...]"


@frozen(eq=False)
class Unknown:
    """A value that only a build will know; its type says what can be relied on."""

    type: Type


@frozen(eq=False)
class Then:
    """First, then second."""

    first: "Value"
    second: "Value"


@frozen(eq=False)
class InPhase:
    """A command under a phase's name."""

    phase: "Value"
    command: "Value"


@frozen(eq=False)
class LaunchCommand:
    """A launch, with its slots in the order of the text."""

    image: "Value"
    grid: "tuple[Value, Value, Value]"
    slots: "Value"
    origin: Origin


@frozen(eq=False)
class FillCommand:
    """Sets a plane, from its offset to its end, to a value."""

    plane: "Value"
    value: "Value"
    origin: Origin


@frozen(eq=False)
class CopyCommand:
    """Copies a plane over another of the same size."""

    destination: "Value"
    source: "Value"
    origin: Origin


@frozen(eq=False)
class EachCommand:
    """The body for 0 … count-1, or the other way round."""

    count: "Value"
    body: "Value"
    down: bool
    origin: Origin


@frozen(eq=False)
class Nothing:
    """No command."""


Command: TypeAlias = Then | InPhase | LaunchCommand | FillCommand | CopyCommand | EachCommand | Nothing
Value: TypeAlias = (
    int
    | Polynomial
    | float
    | PhaseValue
    | ImageValue
    | PlaneValue
    | ArgumentValue
    | SlotValue
    | NoSlots
    | Closure
    | Partial
    | Unknown
    | Command
)
# The nearest binder's value and the environment around it; in some cells a third part, see `environments`.
Environment: TypeAlias = "tuple[Value, Environment] | tuple[Value, Environment, Environment] | None"

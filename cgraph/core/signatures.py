"""Signatures of images: what a kernel expects of each argument and of its launch.

The signature is the one source of truth: launches are checked against it, accesses come from it, arguments are packed
by it. Sizes in it are naturals over parameters and over the signature's own natural slots (atoms of kind `SLOT`).
"""

from enum import Enum

from attrs import frozen

from cgraph.core.elements import Element
from cgraph.core.naturals import Natural
from cgraph.core.roles import AccessMode
from cgraph.source import Span


class SlotKind(Enum):
    """What an argument is."""

    POINTER = "pointer"
    NATURAL = "natural"
    FLOAT = "float"


class Relation(Enum):
    """How the two sides of a requirement compare."""

    EQUAL = "="
    AT_MOST = "<="


@frozen
class Slot:
    """One kernel argument.

    Args:
        number: its position, from 0.
        kind: pointer, natural (a 32-bit signed kernel argument) or float (f32).
        element, access, extent: of the plane behind a pointer (None and () otherwise); extent is row-major.
        optional: a pointer that may be left out; the kernel then gets null.
        aliases: names of slots that may name the very same bytes.
        half: whether the declaration says `half`, whatever a build has bound that to in `element`.
    """

    number: int
    name: str
    kind: SlotKind
    span: Span
    element: Element | None = None
    access: AccessMode | None = None
    extent: tuple[Natural, ...] = ()
    optional: bool = False
    aliases: tuple[str, ...] = ()
    half: bool = False


@frozen
class Requirement:
    """A condition on sizes that the kernel relies on, e.g. an even head width."""

    left: Natural
    relation: Relation
    right: Natural
    span: Span


@frozen
class Signature:
    """Everything a launch of one image is checked against.

    Args:
        name: the image's name in the language.
        file: the .cu file, by name, and `entry` the kernel in it.
        slots: in order of their numbers, without gaps.
        constants: named sizes that the kernel is compiled with.
        grid: blocks in x, y and z that a launch must ask for, or None where any grid will do.
        block: threads of a block in x, y and z. shared_bytes: dynamic shared memory of a block.
    """

    name: str
    file: str
    entry: str
    slots: tuple[Slot, ...]
    constants: tuple[tuple[str, Natural], ...]
    grid: tuple[Natural, Natural, Natural] | None
    block: tuple[Natural, Natural, Natural]
    shared_bytes: Natural
    requirements: tuple[Requirement, ...]
    span: Span

"""A kernel's arguments in memory, as the driver wants them: one buffer, and the address of each argument in it."""

import ctypes as c
from collections.abc import Sequence

from attrs import frozen

from cgraph.core.signatures import Slot, SlotKind
from cgraph.graph.model import Argument, PlaneArgument

# Each argument gets a cell of 8 bytes, so that any of them is aligned.
CELL_BYTES = 8


@frozen(eq=False)
class PackedArguments:
    """Argument values. The driver copies them when a node is added or changed, so they need not live longer.

    Args:
        cells: a cell for each argument. pointers: their addresses.
    """

    cells: "c.Array[c.c_ubyte]"
    pointers: "c.Array[c.c_void_p]"

    @property
    def address(self) -> int:
        """What the driver calls `kernelParams`; 0 for a kernel without parameters."""
        return c.addressof(self.pointers) if len(self.pointers) else 0


def pack(slots: Sequence[Slot], arguments: Sequence[Argument], addresses: Sequence[int]) -> PackedArguments:
    """Packs a launch's arguments.

    Args:
        slots: of the image.
        arguments: of the launch, in slot order.
        addresses: of the planes, by index.

    Returns:
        A pointer as 8 bytes (0 where it was left out), a natural as a 32-bit int, a float as f32.
    """
    cells = (c.c_ubyte * (CELL_BYTES * len(slots)))()
    start = c.addressof(cells)
    places = [start + CELL_BYTES * number for number in range(len(slots))]
    for slot, argument, place in zip(slots, arguments, places, strict=True):
        if slot.kind is SlotKind.POINTER:
            address = addresses[argument.plane] + argument.offset if isinstance(argument, PlaneArgument) else 0
            c.c_uint64.from_address(place).value = address
        elif slot.kind is SlotKind.NATURAL:
            c.c_int32.from_address(place).value = int(argument)  # type: ignore[arg-type]  # the build made sure
        else:
            c.c_float.from_address(place).value = float(argument)  # type: ignore[arg-type]  # the build made sure
    return PackedArguments(cells, (c.c_void_p * len(slots))(*places))

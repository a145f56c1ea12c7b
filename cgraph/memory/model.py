"""What a memory plan is: where each scratch plane lies in the one arena that all of them share."""

from attrs import field, frozen

from cgraph.core.notebooks import ShownInNotebooks

ALIGNMENT_BYTES = 256  # what cudaMalloc guarantees of an address, so a plane's own alignment is never worse than alone


@frozen(eq=False)
class MemoryPlan(ShownInNotebooks):
    """Offsets in the arena, and how good they are.

    Args:
        offsets: for each plane of the graph its first byte in the arena, a multiple of `ALIGNMENT_BYTES`; None for a
            plane that is not scratch, or that no node touches.
        size_bytes: of the arena: its peak.
        lower_bound_bytes: no plan for this schedule has a smaller arena.
        unshared_bytes: what the arena would be without sharing.
        persistent_bytes: of the planes that are not scratch; they lie outside the arena.
    """

    offsets: tuple[int | None, ...] = field(repr=False)
    size_bytes: int
    lower_bound_bytes: int
    unshared_bytes: int
    persistent_bytes: int


def aligned(size_bytes: int) -> int:
    """The size rounded up to `ALIGNMENT_BYTES`."""
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

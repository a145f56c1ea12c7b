"""How many blocks of a kernel a multiprocessor holds at once.

Source: the calculator in CUDA's own header cuda_occupancy.h, and the limits in the CUDA C++ Programming Guide,
"Technical Specifications per Compute Capability". Registers are given to warps in units of 256, and a fourth of the
warps must fit into a fourth of the registers; shared memory is given in units of 128 bytes, plus 1 KiB that the system
keeps for each block.
"""

from attrs import frozen

from cgraph.backends.cuda.entries import Resources

WARP_THREADS = 32
REGISTERS = 65_536
REGISTER_UNIT = 256
PARTITIONS = 4
SHARED_UNIT_BYTES = 128
SHARED_RESERVED_BYTES = 1024


@frozen
class Limits:
    """What a multiprocessor of one compute capability holds: warps, blocks, and bytes of shared memory."""

    warps: int
    blocks: int
    shared_bytes: int


LIMITS = {
    "sm_80": Limits(64, 32, 164 * 1024),
    "sm_86": Limits(48, 16, 100 * 1024),
    "sm_87": Limits(48, 16, 164 * 1024),
    "sm_89": Limits(48, 24, 100 * 1024),
    "sm_90": Limits(64, 32, 228 * 1024),
    "sm_100": Limits(64, 32, 228 * 1024),
    "sm_103": Limits(64, 32, 228 * 1024),
    "sm_120": Limits(48, 24, 100 * 1024),
    "sm_121": Limits(48, 24, 100 * 1024),
}


@frozen
class Occupancy:
    """Blocks that run on a multiprocessor at once, and their warps as a share of those that it could hold."""

    blocks: int
    share: float


def occupancy(
    architecture: str, resources: Resources, block_threads: int, dynamic_shared_bytes: int
) -> Occupancy | None:
    """The occupancy of a kernel; None for an architecture whose limits are not known here.

    Args:
        architecture: e.g. `sm_90`.
        resources: of the kernel.
        block_threads: of the launch.
        dynamic_shared_bytes: of the launch, besides the kernel's static shared memory.
    """
    limits = LIMITS.get(architecture.rstrip("af"))
    if limits is None:
        return None
    warps = -(-block_threads // WARP_THREADS)
    warp_registers = _up(resources.registers * WARP_THREADS, REGISTER_UNIT)
    by_registers = REGISTERS // PARTITIONS // warp_registers * PARTITIONS // warps if warp_registers else limits.blocks
    shared = _up(resources.shared_bytes + dynamic_shared_bytes + SHARED_RESERVED_BYTES, SHARED_UNIT_BYTES)
    blocks = min(limits.blocks, limits.warps // warps, by_registers, limits.shared_bytes // shared)
    return Occupancy(blocks, blocks * warps / limits.warps)


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit

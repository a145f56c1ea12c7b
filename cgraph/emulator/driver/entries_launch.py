"""Entry points that launch kernels on streams."""

from collections.abc import Mapping

from attrs import evolve

from cgraph.emulator.driver.abi import ADDRESS, HANDLE, UINT, Table, structure
from cgraph.emulator.driver.capturing import enqueue
from cgraph.emulator.driver.hardware import Grid
from cgraph.emulator.driver.launching import kernel_work
from cgraph.emulator.driver.layouts import LaunchAttribute, LaunchConfig
from cgraph.emulator.driver.objects import Function
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

SIZES = (UINT,) * 6  # grid and block
CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION


def _launch(
    driver: Driver,
    handle: int,
    grid: Grid,
    block: Grid,
    shared_bytes: int,
    stream: int,
    arguments: tuple[int, int],
    attributes: Mapping[int, bytes] | None = None,
) -> None:
    on = driver.stream(stream)
    function = driver.handles.get(Function, handle)
    if function.module.context not in (None, on.context):
        raise DriverError(Result.INVALID_HANDLE, "kernel and stream belong to two contexts")
    work = kernel_work(function, grid, block, shared_bytes, *arguments)
    enqueue(driver, on, evolve(work, attributes=attributes or {}))


@TABLE.entry("cuLaunchKernel", 4000, HANDLE, *SIZES, UINT, HANDLE, ADDRESS, ADDRESS)
def launch_kernel(driver: Driver, function: int, *rest: int) -> None:
    """The values of the arguments are taken now."""
    x, y, z, block_x, block_y, block_z, shared_bytes, stream, params, extra = rest
    _launch(driver, function, (x, y, z), (block_x, block_y, block_z), shared_bytes, stream, (params, extra))


@TABLE.entry("cuLaunchCooperativeKernel", 9000, HANDLE, *SIZES, UINT, HANDLE, ADDRESS)
def launch_cooperative_kernel(_driver: Driver, *_rest: int) -> None:
    """Blocks that wait for each other are not emulated."""
    raise DriverError(Result.NOT_SUPPORTED, "cooperative launches")


@TABLE.entry("cuLaunchKernelEx", 11060, structure(LaunchConfig), HANDLE, ADDRESS, ADDRESS)
def launch_kernel_ex(driver: Driver, config: LaunchConfig, function: int, params: int, extra: int) -> None:
    """As `launch_kernel`. Clusters are not emulated, other attributes change nothing; a captured node keeps them."""
    if config.numAttrs and config.attrs == 0:
        raise DriverError(Result.INVALID_VALUE, "attributes are null")
    attributes = (LaunchAttribute * config.numAttrs).from_address(config.attrs) if config.numAttrs else ()
    for attribute in attributes:
        if attribute.id == CLUSTER_DIMENSION and any(attribute.value[byte] > 1 for byte in (0, 4, 8)):
            raise DriverError(Result.NOT_SUPPORTED, "clusters")
    grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
    block = (config.blockDimX, config.blockDimY, config.blockDimZ)
    kept = {attribute.id: bytes(attribute.value) for attribute in attributes}
    _launch(driver, function, grid, block, config.sharedMemBytes, config.hStream, (params, extra), kept)

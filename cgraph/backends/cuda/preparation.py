"""Makes a planned graph ready to run on a GPU, real or emulated.

Receives a verified graph, its schedule and its memory plan; guarantees an executable whose launch needs nothing else of
the driver. What cannot be prepared is a problem now. The emulated device is the same backend on another driver, which
takes PTX instead of machine code.
"""

from collections.abc import Callable
from contextlib import ExitStack

from attrs import frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.arena import DevicePlanes, allocate_planes
from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import KernelSupply, Target
from cgraph.backends.cuda.context import DeviceContext, open_context
from cgraph.backends.cuda.emulated import connect_emulated
from cgraph.backends.cuda.executable import CudaExecutable
from cgraph.backends.cuda.instantiated import instantiate
from cgraph.backends.cuda.modules import load_modules
from cgraph.backends.cuda.pieces import pieces_of
from cgraph.backends.cuda.ptx_versions import newest_ptx
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.cuda.supply import compile_kernels
from cgraph.backends.cuda.watching import Watch
from cgraph.backends.devices import Device, DeviceKind
from cgraph.backends.memory_needs import emulated_available_bytes
from cgraph.backends.problems_devices import DoubleOnDevice
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph, LaunchNode
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@frozen(eq=False)
class _Driver:
    """What differs between a real device and an emulated one."""

    kinds: tuple[CodeKind, ...]
    watch: Watch
    label: Callable[[int, str], None]
    most_bytes: int | None = None


def prepare(
    graph: CommandGraph,
    schedule: Schedule,
    plan: MemoryPlan,
    device: Device,
    stored: StoredKernels | None = None,
) -> CudaExecutable:
    """Loads kernels, allocates and instantiates.

    Args:
        graph: verified; half is f16 or bf16 where a kernel works with it.
        schedule: of this graph.
        plan: of this schedule.
        device: a GPU's number, or the emulated device.
        stored: kernels that were compiled before; None where the program's own files are compiled.

    Raises:
        ProblemsFound: CG718 where the device has too little memory, CG730 to CG739 from the compiler, CG740 to CG743
            from the driver, CG745 to CG747 where the emulated one cannot be set up, CG830 to CG832 where stored kernels
            will not do.
    """
    if graph.half is Element.F64 and any(isinstance(node, LaunchNode) for node in graph.nodes):
        raise ProblemsFound([DoubleOnDevice(None)])
    driver = (
        _emulated()
        if device.kind is DeviceKind.EMULATED
        else _Driver((CodeKind.CUBIN, CodeKind.PTX), Watch(), _no_label)
    )
    call = Calls(driver.watch.take)
    supply: KernelSupply = compile_kernels if stored is None else stored.supply
    with ExitStack() as undo:
        context = open_context(device.number, call)
        undo.callback(context.close)
        with context.current():
            modules = load_modules(graph, context, _target(context, driver), supply)
            undo.callback(modules.close)
            planes = allocate_planes(graph, plan, call, str(device), driver.most_bytes)
            undo.callback(planes.close)
            _label(planes, driver.label, plan)
            pieces = tuple(
                tuple(
                    pieces_of(
                        node,
                        planes,
                        modules.functions[node.image] if isinstance(node, LaunchNode) else None,
                        context.context,
                    )
                )
                for node in graph.nodes
            )
            instantiated = instantiate(pieces, schedule, call, context.stream)
        undo.pop_all()
    machine_code = (context.architecture,) if CodeKind.CUBIN in driver.kinds else ()
    return CudaExecutable(
        graph=graph,
        schedule=schedule,
        device=context,
        planes=planes,
        modules=modules,
        instantiated=instantiated,
        watch=driver.watch,
        plan=plan,
        device_name=str(device),
        architectures=machine_code,
        stored=stored,
    )


def _target(context: DeviceContext, driver: _Driver) -> Target:
    """The emulator's reader goes by the instructions, not by the version of the PTX."""
    if CodeKind.CUBIN not in driver.kinds:
        return Target(context.architecture, driver.kinds)
    return Target(context.architecture, driver.kinds, newest_ptx(context.call(cu.cuDriverGetVersion)))


def _emulated() -> _Driver:
    device = connect_emulated()
    return _Driver((CodeKind.PTX,), device.watch, device.label, emulated_available_bytes())


def _label(planes: DevicePlanes, label: Callable[[int, str], None], plan: MemoryPlan) -> None:
    """Gives memory the names of planes, which an emulated device prints in its reports."""
    for plane, address, offset in zip(planes.planes, planes.addresses, plan.offsets, strict=True):
        if plane.size_bytes and offset is None:
            label(address, f"plane {plane.name}")
        elif plane.size_bytes and offset is not None:
            label(address - offset, "the arena of scratch planes")


def _no_label(_address: int, _text: str) -> None:
    """A real device has no use for names."""

"""Makes an imported graph ready to run on a GPU, real or emulated.

Receives a graph that keeps the rules of imported graphs; guarantees an executable whose launch needs nothing else of
the driver. What cannot be prepared is a problem now.
"""

from collections.abc import Callable

from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.context import open_context
from cgraph.backends.cuda.emulated import connect_emulated
from cgraph.backends.cuda.imported.executable import ImportedExecutable, Owned, rebuild
from cgraph.backends.cuda.imported.loading import ImportedModules, load_kernels
from cgraph.backends.cuda.imported.memory import ImportedMemory, allocate_memory
from cgraph.backends.cuda.imported.model import ImportedGraph, MemoryKind
from cgraph.backends.cuda.watching import Watch
from cgraph.backends.devices import Device, DeviceKind
from cgraph.backends.memory_needs import check_sizes, emulated_available_bytes, host_available_bytes


def prepare_imported(graph: ImportedGraph, device: Device) -> ImportedExecutable:
    """Loads, allocates and instantiates.

    Args:
        graph: as it was read or loaded.
        device: a GPU's number, or the emulated device.

    Raises:
        ProblemsFound: CG718 where there is too little memory, CG858 for kernels without code for the device, CG859 for
            nodes that the driver does not take, CG740 to CG742 from the driver, CG745 to CG747 where the emulated one
            cannot be set up.
    """
    emulated = connect_emulated() if device.kind is DeviceKind.EMULATED else None
    watch = Watch() if emulated is None else emulated.watch
    call = Calls(watch.take)
    context = open_context(device.number, call)
    owned = Owned(context, ImportedMemory(call), ImportedModules(call), [])
    try:
        with context.current():
            owned.modules = load_kernels(graph, call, f"{device} ({context.architecture})")
            _check_memory(graph, device, call(cu.cuMemGetInfo)[0])
            owned.memory = allocate_memory(graph, call)
            if emulated is not None:
                _label(graph, owned.memory, emulated.label)
            for _ in range(graph.events):
                owned.events.append(call(cu.cuEventCreate, 0))
            rebuild(graph, owned)
    except BaseException:
        owned.close()
        raise
    return ImportedExecutable(graph, owned, watch, str(device))


def _check_memory(graph: ImportedGraph, device: Device, free_bytes: int) -> None:
    """Raises ProblemsFound (CG718) where the device's memory, or the host's, is too small for the allocations."""
    emulated = device.kind is DeviceKind.EMULATED
    spaces = (
        (str(device), free_bytes, False),
        ("the host", emulated_available_bytes() if emulated else host_available_bytes(), True),
    )
    for name, available_bytes, on_host in spaces:
        sizes_bytes = {
            graph.planes[number].name: allocation.size_bytes
            for number, allocation in enumerate(graph.allocations)
            if emulated or on_host is (allocation.memory is MemoryKind.HOST)
        }
        check_sizes(sizes_bytes, name, available_bytes)


def _label(graph: ImportedGraph, memory: ImportedMemory, label: Callable[[int, str], None]) -> None:
    """Gives memory the names of planes, which an emulated device prints in its reports."""
    for number, allocation in enumerate(graph.allocations):
        if allocation.memory is not MemoryKind.HOST:
            label(memory.addresses[number], f"plane {graph.planes[number].name}")

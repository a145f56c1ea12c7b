"""The kernels of a graph, loaded into a context.

Receives a graph, an open device and where kernels come from; guarantees a function for every image that is launched,
with leave to use as much dynamic shared memory as its launches ask for, and parameters as large as the launches pass.
Owner: the executable, which unloads the modules after its graph is gone.
"""

from typing import Any

from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.compiled import CompiledKernel, KernelSupply, Target
from cgraph.backends.cuda.context import DeviceContext
from cgraph.backends.cuda.imported.parameters import read_parameters
from cgraph.backends.cuda.problems_stored import StoredParametersDiffer
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph, Image, LaunchNode

DYNAMIC_SHARED = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
PARAMETERS_SINCE = (8, 4)  # the PTX of CUDA 12.4, whose driver is the first to tell the parameters of a function
DEFAULT_SHARED_BYTES = 48 * 1024  # more dynamic shared memory than this needs the function's attribute


@define(eq=False)
class LoadedModules:
    """Modules, and the function of each image.

    Args:
        functions: by the image.
    """

    call: Calls = field(repr=False)
    functions: dict[Image, Any] = field(factory=dict, repr=False)
    _modules: dict[str, Any] = field(factory=dict, repr=False)

    def load(self, key: str, code: bytes) -> Any:
        """The module with that key, loaded once. Raises ProblemsFound (CG742)."""
        if key not in self._modules:
            # PTX is read up to a zero byte; a cubin knows its own length.
            self._modules[key] = self.call(cu.cuModuleLoadData, code + b"\0")
        return self._modules[key]

    def close(self) -> None:
        """Unloads the modules, once or again. Errors are left to whoever uses the device next."""
        self.functions.clear()
        while self._modules:
            cu.cuModuleUnload(self._modules.popitem()[1])


def load_modules(graph: CommandGraph, device: DeviceContext, target: Target, supply: KernelSupply) -> LoadedModules:
    """Loads the kernels that a graph launches into the current context.

    Args:
        graph: whose launches.
        device: the open device.
        target: what it and its driver take.
        supply: gives the kernels' code.

    Raises:
        ProblemsFound: what the supply raises, CG742 from the driver, CG832 where machine code takes other parameters
            than it was said to.
    """
    launches = [node for node in graph.nodes if isinstance(node, LaunchNode)]
    images = list(dict.fromkeys(node.image for node in launches))
    modules = LoadedModules(device.call)
    try:
        for kernel in supply(images, graph.half, target):
            module = modules.load(kernel.module.key, kernel.module.code)
            function = device.call(cu.cuModuleGetFunction, module, kernel.entry.name.encode())
            if target.ptx_version is None or target.ptx_version >= PARAMETERS_SINCE:
                _check_parameters(kernel, function, device.call)
            modules.functions[kernel.image] = function
        for image, node in _most_shared(launches).items():
            function = modules.functions[image]
            device.call(cu.cuFuncSetAttribute, function, DYNAMIC_SHARED, node.shared_bytes, node=node)
    except BaseException:
        modules.close()
        raise
    return modules


def _check_parameters(kernel: CompiledKernel, function: Any, call: Calls) -> None:
    """Holds the loaded kernel's parameters against what the launch will pass. Raises ProblemsFound (CG832).

    Code may have been stored by others, and a kernel that reads more than it is passed reads beyond the arguments.
    """
    stated = tuple(parameter.size_bytes for parameter in kernel.entry.parameters)
    loaded = tuple(place.size_bytes for place in read_parameters(call, function))
    if stated != loaded:
        signature = kernel.image.signature
        raise ProblemsFound([StoredParametersDiffer(signature.span, signature.entry, stated, loaded)])


def _most_shared(launches: list[LaunchNode]) -> dict[Image, LaunchNode]:
    """For each image that needs leave, the launch with the most dynamic shared memory."""
    most: dict[Image, LaunchNode] = {}
    for node in launches:
        if node.shared_bytes > DEFAULT_SHARED_BYTES and (
            node.image not in most or node.shared_bytes > most[node.image].shared_bytes
        ):
            most[node.image] = node
    return most

"""The compiled kernels of a graph, loaded into a context.

Receives a graph and an open device; guarantees a function for every image that is launched, with leave to use as much
dynamic shared memory as its launches ask for. Owner: the executable, which unloads the modules after its graph is gone.
"""

from typing import Any

from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiler import compile_images
from cgraph.backends.cuda.context import DeviceContext
from cgraph.graph.model import CommandGraph, Image, LaunchNode

DYNAMIC_SHARED = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
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


def load_modules(graph: CommandGraph, device: DeviceContext, kind: CodeKind) -> LoadedModules:
    """Compiles the kernels that a graph launches and loads them into the current context.

    Raises:
        ProblemsFound: CG730 to CG739 from the compiler, CG742 from the driver.
    """
    launches = [node for node in graph.nodes if isinstance(node, LaunchNode)]
    images = list(dict.fromkeys(node.image for node in launches))
    kernels = compile_images(images, graph.half, device.architecture, kind)
    modules = LoadedModules(device.call)
    try:
        for image, kernel in zip(images, kernels, strict=True):
            module = modules.load(kernel.module.key, kernel.module.code)
            modules.functions[image] = device.call(cu.cuModuleGetFunction, module, kernel.entry.name.encode())
        for image, node in _most_shared(launches).items():
            function = modules.functions[image]
            device.call(cu.cuFuncSetAttribute, function, DYNAMIC_SHARED, node.shared_bytes, node=node)
    except BaseException:
        modules.close()
        raise
    return modules


def _most_shared(launches: list[LaunchNode]) -> dict[Image, LaunchNode]:
    """For each image that needs leave, the launch with the most dynamic shared memory."""
    most: dict[Image, LaunchNode] = {}
    for node in launches:
        if node.shared_bytes > DEFAULT_SHARED_BYTES and (
            node.image not in most or node.shared_bytes > most[node.image].shared_bytes
        ):
            most[node.image] = node
    return most

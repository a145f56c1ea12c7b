"""The Python face of imports: a live CUDA graph becomes a value that `save_bundle` takes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.devices import read_cuda_graph


def from_cuda_graph(
    handle: Any,
    *,
    code: Iterable[Any] = (),
    names: Mapping[int, str | tuple[str, int]] | None = None,
    pointers: Mapping[str, Sequence[int]] | None = None,
    with_data: bool = False,
) -> ImportedGraph:
    """Reads a live CUDA graph, made by stream capture, by driver calls or by another library. It does not change.

    Memory that the graph touches must be allocated. Bytes of the host that copies read are kept; contents of device
    memory only `with_data`. Contents of module variables, and addresses that lie in memory, are not kept.

    Args:
        handle: a CUgraph, its handle as an int, or an object with one: cuda.core's GraphDefinition and GraphBuilder,
            torch's CUDAGraph made with `keep_graph=True`. An int must be the handle of a graph that lives.
        code: of the kernels, which the driver does not give back: bytes of PTX, cubins or fat binaries, paths to them,
            objects with `code` (cuda.core's ObjectCode), or pairs of what was loaded (a CUmodule or CUlibrary) and its
            code. Kernels are found by their names and the sizes of their parameters.
        names: of planes: an address in memory that the graph touches, and a name or a name and a size in bytes.
        pointers: for a kernel by its name in the code, the indices of those parameters that are addresses or structures
            with addresses in them. For a kernel that is not named, each parameter of 8 bytes whose value lies in a live
            allocation is one.
        with_data: whether contents of device memory are kept.

    Returns:
        The graph, without addresses. `remarks` says what looked like an address and is kept as a number.

    Raises:
        ProblemsFound: CG850 to CG857 with everything that can't be kept, CG740 to CG742 from the driver, CG748 where
            CUDA's Python packages are missing.
    """
    return read_cuda_graph(handle, code=code, names=names, pointers=pointers, with_data=with_data)

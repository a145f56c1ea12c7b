"""Live CUDA graphs, imported by handle, saved, loaded and run: the same bits as the graph itself gives.

One is captured from a stream by driver calls, one by PyTorch where that is installed with CUDA. The kernel is ours, as
an import needs its code; a graph with a kernel of PyTorch's must be refused with the kernel's name.
"""

import ctypes as c
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import NDArray
from rows import Row, Status, judged
from session import Session

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.context import open_context
from cgraph.backends.cuda.emulated import connect_emulated
from cgraph.backends.cuda.nvrtc import run_nvrtc
from cgraph.capture import Replay, from_cuda_graph, save_bundle
from cgraph.diagnostics import ProblemsFound

KERNEL = """
extern "C" __global__ void combine(signed char a, float* out, double scale, const float* x, long long n, short shift) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = (float)(scale * x[i]) + a + shift;
}
"""
TYPES = (c.c_int8, c.c_void_p, c.c_double, c.c_void_p, c.c_longlong, c.c_short)
RELAXED = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
BLOCK_THREADS = 128


def check_imports(session: Session) -> Iterator[Row]:
    """A row for a capture by driver calls, and two for PyTorch."""
    if session.emulated:
        connect_emulated()
    device = open_context(session.device.number, Calls())
    architecture = "compute_80" if session.emulated else device.architecture
    made = run_nvrtc(KERNEL, "combine.cu", (f"--gpu-architecture={architecture}",))
    code = made.ptx.encode() if session.emulated else made.cubin
    with device.current():
        function = device.call(cu.cuModuleGetFunction, device.call(cu.cuModuleLoadData, code + b"\0"), b"combine")
        yield _captured(session, device, function, code)
    yield from _of_torch(session, device, function, code)
    device.close()


def _captured(session: Session, device: Any, function: Any, code: bytes) -> Row:
    """Bytes from the host, a fill of rows, a fork to a second stream, kernels on both, a join and a copy back."""
    count = 1_000 if session.reduced else 1_000_000
    call, size_bytes = device.call, 4 * count
    host = np.linspace(-2, 2, count, dtype=np.float32)
    x, y, z = (int(call(cu.cuMemAlloc, size_bytes)) for _ in range(3))
    back = int(call(cu.cuMemHostAlloc, size_bytes, 0))
    fork, join = call(cu.cuEventCreate, 2), call(cu.cuEventCreate, 2)
    other = call(cu.cuStreamCreate, 1)
    call(cu.cuStreamBeginCapture, device.stream, RELAXED)
    call(cu.cuMemcpyHtoDAsync, x, host.ctypes.data, size_bytes, device.stream)
    call(cu.cuMemsetD2D32Async, x, 64, 0x3F800000, 2, count // 16, device.stream)
    call(cu.cuEventRecord, fork, device.stream)
    call(cu.cuStreamWaitEvent, other, fork, 0)
    _launch(call, function, device.stream, (3, y, 0.1, x, count, -2))
    _launch(call, function, other, (-100, z, -7.25, x, count, 1))
    call(cu.cuEventRecord, join, other)
    call(cu.cuStreamWaitEvent, device.stream, join, 0)
    _launch(call, function, device.stream, (1, x, 0.5, z, count, 30_000))
    call(cu.cuMemcpyDtoHAsync, back, x, size_bytes, device.stream)
    graph = call(cu.cuStreamEndCapture, device.stream)
    imported = from_cuda_graph(int(graph), code=[code], names={x: "x", y: "y", z: "z", back: "back"})

    def source() -> list[NDArray[np.uint8]]:
        executable = call(cu.cuGraphInstantiate, graph, 0)
        call(cu.cuGraphLaunch, executable, device.stream)
        device.synchronize()
        found = [_download(call, address, size_bytes) for address in (x, y, z)]
        return [*found, np.frombuffer(c.string_at(back, size_bytes), np.uint8)]

    return _compared("captured by driver calls", session, imported, source, ("x", "y", "z", "back"))


def _of_torch(session: Session, device: Any, function: Any, code: bytes) -> Iterator[Row]:
    if find_spec("torch") is None:
        yield Row("captured by PyTorch", Status.SKIPPED, "it is not installed")
        return
    torch: Any = import_module("torch")
    if session.emulated or not torch.cuda.is_available():
        yield Row("captured by PyTorch", Status.SKIPPED, "there is no PyTorch with CUDA for this device")
        return
    torch.cuda.set_device(session.device.number)
    count = 100_003
    x, y, z = (torch.linspace(-1, number, count, device="cuda") for number in (1, 2, 3))
    names = {tensor.data_ptr(): (name, 4 * count) for name, tensor in (("x", x), ("y", y), ("z", z))}
    before = {"x": x.cpu().numpy(), "y": y.cpu().numpy(), "z": z.cpu().numpy()}
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        stream = cu.CUstream(torch.cuda.current_stream().cuda_stream)
        y.copy_(x)
        _launch(device.call, function, stream, (3, z.data_ptr(), 0.1, y.data_ptr(), count, -2))
        x.copy_(z)
    imported = from_cuda_graph(graph, code=[code], names=names)

    def source() -> list[NDArray[np.uint8]]:
        graph.replay()
        torch.cuda.synchronize()
        return [tensor.cpu().numpy().view(np.uint8) for tensor in (x, y, z)]

    yield _compared("captured by PyTorch", session, imported, source, ("x", "y", "z"), before)
    with_kernels = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(with_kernels):
        x.mul_(3)
    try:
        from_cuda_graph(with_kernels, code=[code])
        yield Row("a kernel of PyTorch's", Status.FAILED, "it was imported without its code")
    except ProblemsFound as stopped:
        codes = [problem.code for problem in stopped.problems]
        yield judged("a kernel of PyTorch's", codes == ["CG852"], f"refused with {', '.join(codes)}")


def _compared(
    name: str,
    session: Session,
    imported: Any,
    source: Callable[[], list[NDArray[np.uint8]]],
    planes: tuple[str, ...],
    given: dict[str, NDArray[Any]] | None = None,
) -> Row:
    """Runs what is loaded from a file, then the graph itself, and compares planes bit by bit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "imported.cgb"
        save_bundle(imported, path)
        with Replay(path, str(session.device)) as replay:
            for plane, values in (given or {}).items():
                replay.set(plane, values)
            replay.run()
            ours = [replay.get(plane).copy() for plane in planes]
    theirs = source()
    differ = [plane for plane, one, two in zip(planes, ours, theirs, strict=True) if one.tobytes() != two.tobytes()]
    nodes = len(imported.levels[0].nodes)
    return judged(name, not differ, f"{nodes} nodes; {'differ: ' + ', '.join(differ) if differ else 'the same bits'}")


def _launch(call: Calls, function: Any, stream: Any, values: tuple[Any, ...]) -> None:
    blocks = -(-values[4] // BLOCK_THREADS)
    call(cu.cuLaunchKernel, function, blocks, 1, 1, BLOCK_THREADS, 1, 1, 0, stream, (values, TYPES), 0)


def _download(call: Calls, address: int, size_bytes: int) -> NDArray[np.uint8]:
    found = np.empty(size_bytes, np.uint8)
    call(cu.cuMemcpyDtoH, found.ctypes.data, address, size_bytes)
    return found

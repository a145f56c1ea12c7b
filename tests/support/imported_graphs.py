"""What the tests of imports share: kernels in CUDA C++, a trip through a file, and runs on the emulated device."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.executable import ImportedExecutable
from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.imported.preparation import prepare_imported
from cgraph.backends.cuda.nvrtc import run_nvrtc
from cgraph.capture.imported.api import from_cuda_graph
from cgraph.capture.loading import load_bundle
from cgraph.capture.saving import save_bundle
from cgraph.diagnostics import Problem, ProblemsFound
from tests.support.emulated_runs import EMULATED, random_order

# Parameters of every size, one after another, so that each has padding of its own before it.
ECHO = """
struct Echoed { signed char a; double b; unsigned short c; int d; void* p; signed char e; long long f; };
extern "C" __global__ void echo(signed char a, double b, unsigned short c, int d, unsigned* p, signed char e,
                                long long f, unsigned char* out) {
    *(double*)out = b;
    *(long long*)(out + 8) = f;
    *(int*)(out + 16) = d;
    *(unsigned*)(out + 20) = *p;
    *(unsigned short*)(out + 24) = c;
    out[26] = a;
    out[27] = e;
}
"""
STRUCTURE = """
struct Table { int count; unsigned* from; unsigned* to; };
extern "C" __global__ void fromTable(Table table, unsigned more) {
    if (threadIdx.x < table.count) table.to[threadIdx.x] = table.from[threadIdx.x] + more;
}
"""
SHARED = """
extern "C" __global__ void reverse(unsigned* data, int n) {
    extern __shared__ unsigned kept[];
    kept[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = kept[n - 1 - threadIdx.x];
}
"""


def ptx_of(text: str) -> bytes:
    made = run_nvrtc(text, "test.cu", ("--gpu-architecture=compute_80",))
    assert made.succeeded, made.log
    return made.ptx.encode()


def cubin_of(text: str) -> bytes:
    made = run_nvrtc(text, "test.cu", ("--gpu-architecture=sm_90",))
    assert made.succeeded, made.log
    return made.cubin


def through_file(graph: ImportedGraph, folder: Path) -> ImportedGraph:
    """The graph as it is read from a file; writing it again must give the same bytes."""
    save_bundle(graph, folder / "one.cgb")
    read = load_bundle(folder / "one.cgb")
    assert isinstance(read, ImportedGraph)
    save_bundle(read, folder / "two.cgb")
    assert (folder / "one.cgb").read_bytes() == (folder / "two.cgb").read_bytes()
    return read


def run_again(graph: ImportedGraph, **given: NDArray[Any]) -> ImportedExecutable:
    """The graph after one run with these planes."""
    executable = prepare_imported(graph, EMULATED)
    for name, values in given.items():
        executable.set(name, values)
    executable.run()
    return executable


def run_in_five_orders(graph: ImportedGraph) -> Iterator[ImportedExecutable]:
    """The graph after one run each, in orders that the device chose at random among those that the edges allow."""
    for seed in range(5):
        with random_order(seed):
            executable = run_again(graph)
        with executable:
            yield executable


def words(executable: ImportedExecutable, name: str) -> list[int]:
    """A plane as 32-bit numbers."""
    return [int(value) for value in executable.get(name).view(np.int32)]


def refusals(handle: Any, **options: Any) -> tuple[Problem, ...]:
    """The problems of an import that must fail."""
    try:
        from_cuda_graph(handle, **options)
    except ProblemsFound as found:
        return found.problems
    raise AssertionError("it was imported")

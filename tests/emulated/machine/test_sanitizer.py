"""Each planted fault is reported with its .cu line, thread and place; the same kernels without the fault are silent."""

from typing import Any

import numpy as np
import pytest

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.problems import (
    AccessFault,
    GlobalRace,
    KernelFault,
    Misaligned,
    OutOfBounds,
    PartialBarrier,
    PartialWarp,
    SharedRace,
    UninitialisedRead,
    UseAfterFree,
)
from cgraph.emulator.sanitizer import Sanitizer
from tests.support.machine import Address, Bench, compile_module, reports, run_source


def _one(problems: list[Problem], kind: type[KernelFault]) -> Any:
    assert [type(problem) for problem in problems] == [kind], [problem.render_title() for problem in problems]
    (problem,) = problems
    assert isinstance(problem, kind)
    assert problem.place is not None
    assert problem.place.file.endswith("test.cu")
    return problem


COPY = """extern "C" __global__ void copy(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = in[i];
        out[i] = value;
    }
}"""


def test_a_read_behind_the_end_of_a_plane() -> None:
    problem = _one(reports(COPY, "copy", 3, 32, np.zeros(96, "f4"), np.zeros(70, "f4"), 96), OutOfBounds)
    assert (problem.place.line, problem.block, problem.thread) == (4, (2, 0, 0), (6, 0, 0))
    assert (problem.memory, problem.offset, problem.extent, problem.access) == ("plane 1", 280, 280, "reads")
    assert problem.threads == 26
    assert "copy" in "\n".join(problem.notes())


def test_a_write_behind_the_end_of_a_plane_stops_without_a_sanitizer_too() -> None:
    with pytest.raises(ProblemsFound) as stopped:
        run_source(COPY, "copy", 1, 64, np.zeros(32, "f4"), np.zeros(64, "f4"), 64)
    problem = stopped.value.problems[0]
    assert isinstance(problem, OutOfBounds)
    assert (problem.access, problem.offset, problem.thread) == ("writes", 128, (32, 0, 0))
    assert "test.cu:5" in problem.render_title()


def test_a_null_pointer() -> None:
    problem = _one(reports(COPY, "copy", 1, 32, np.zeros(32, "f4"), Address(0), 32), OutOfBounds)
    assert "null" in problem.memory


def test_a_use_of_freed_memory() -> None:
    bench = Bench(compile_module(COPY))
    address = bench.memory.allocate(128, "gone")
    bench.memory.free(address)
    with pytest.raises(ProblemsFound) as stopped:
        bench.run("copy", 1, 32, Address(address), np.zeros(32, "f4"), 32)
    problem = stopped.value.problems[0]
    assert isinstance(problem, UseAfterFree)
    assert problem.memory == "gone"


def test_memory_freed_between_two_launches_of_one_kernel() -> None:
    bench = Bench(compile_module(COPY))
    address = bench.memory.allocate(128, "gone")
    bench.run("copy", 1, 32, Address(address), np.zeros(32, "f4"), 32)
    bench.memory.free(address)
    with pytest.raises(ProblemsFound):
        bench.run("copy", 1, 32, Address(address), np.zeros(32, "f4"), 32)


def test_a_misaligned_vector() -> None:
    text = """extern "C" __global__ void shift(float4* out, const float* in) {
        out[threadIdx.x] = *(const float4*)(in + 1 + 4 * threadIdx.x);
    }"""
    problem = _one(reports(text, "shift", 1, 8, np.zeros(32, "f4"), np.zeros(64, "f4")), Misaligned)
    assert (problem.size_bytes, problem.offset, problem.threads) == (16, 4, 8)


def test_a_read_of_device_bytes_that_nothing_wrote() -> None:
    bench = Bench(compile_module(COPY), sanitizer=Sanitizer())
    address = bench.memory.allocate(256, "half full")
    bench.memory.write(address, bytes(128))
    bench.run("copy", 1, 64, np.zeros(64, "f4"), Address(address), 64)
    assert bench.sanitizer is not None
    problem = _one(bench.sanitizer.problems, UninitialisedRead)
    assert (problem.memory, problem.offset, problem.thread, problem.threads) == ("half full", 128, (32, 0, 0), 32)
    assert problem.place.line == 4


def test_what_a_kernel_wrote_may_be_read() -> None:
    bench = Bench(compile_module(COPY), sanitizer=Sanitizer())
    address = bench.memory.allocate(256)
    bench.run("copy", 1, 64, Address(address), np.ones(64, "f4"), 64)
    bench.run("copy", 1, 64, np.zeros(64, "f4"), Address(address), 64)
    assert bench.sanitizer is not None
    assert not bench.sanitizer.problems


REVERSE = """extern "C" __global__ void reverse(float* out, const float* in, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = in[blockIdx.x * n + i];
    BARRIER
    out[blockIdx.x * n + i] = tile[n - 1 - i];
}"""


def test_shared_bytes_read_without_a_barrier() -> None:
    text = REVERSE.replace("BARRIER", "")
    problem = _one(reports(text, "reverse", 3, 128, np.zeros(384, "f4"), np.ones(384, "f4"), 128), SharedRace)
    assert (problem.place.line, problem.thread, problem.offset) == (6, (0, 0, 0), 508)
    assert "thread (127, 0, 0) wrote" in "\n".join(problem.notes())


def test_shared_bytes_read_behind_a_barrier() -> None:
    text = REVERSE.replace("BARRIER", "__syncthreads();")
    values = np.arange(384, dtype="f4")
    out = np.zeros(384, "f4")
    assert not reports(text, "reverse", 3, 128, out, values, 128)
    np.testing.assert_array_equal(out.reshape(3, 128), values.reshape(3, 128)[:, ::-1])


def test_a_barrier_of_the_warp_is_enough_within_it_only() -> None:
    text = REVERSE.replace("BARRIER", "__syncwarp();")
    assert not reports(text, "reverse", 1, 32, np.zeros(32, "f4"), np.ones(32, "f4"), 32)
    _one(reports(text, "reverse", 1, 64, np.zeros(64, "f4"), np.ones(64, "f4"), 64), SharedRace)


def test_shared_bytes_written_before_others_have_read_them() -> None:
    text = """extern "C" __global__ void shift(float* out, const float* in) {
        __shared__ float tile[64];
        tile[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        float next = tile[(threadIdx.x + 33) % 64];
        tile[threadIdx.x] = next;
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x];
    }"""
    problem = _one(reports(text, "shift", 1, 64, np.zeros(64, "f4"), np.ones(64, "f4")), SharedRace)
    assert problem.place.line == 6
    assert "read" in "\n".join(problem.notes())


def test_two_threads_write_the_same_shared_byte() -> None:
    text = """extern "C" __global__ void both(int* out) {
        __shared__ int word;
        word = threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = word;
    }"""
    assert _one(reports(text, "both", 1, 64, np.zeros(64, "i4")), SharedRace).place.line == 3


def test_neighbouring_halves_are_no_race() -> None:
    text = """extern "C" __global__ void narrow(unsigned short* out, const unsigned char* in) {
        __shared__ unsigned short halves[64];
        __shared__ unsigned char bytes[64];
        bytes[threadIdx.x] = in[threadIdx.x];
        halves[threadIdx.x] = bytes[threadIdx.x];
        out[threadIdx.x] = halves[threadIdx.x];
    }"""
    assert not reports(text, "narrow", 1, 64, np.zeros(64, "u2"), np.ones(64, "u1"))


def test_shared_bytes_that_nothing_wrote() -> None:
    text = """extern "C" __global__ void gap(float* out, const float* in) {
        __shared__ float tile[64];
        if (threadIdx.x < 60) tile[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x ^ 1];
    }"""
    problem = _one(reports(text, "gap", 2, 64, np.zeros(64, "f4"), np.ones(64, "f4"))[:1], UninitialisedRead)
    assert (problem.space, problem.offset, problem.thread) == ("shared", 244, (60, 0, 0))


def test_shared_memory_is_fresh_for_every_block() -> None:
    text = """extern "C" __global__ void keep(float* out) {
        __shared__ float tile[32];
        if (blockIdx.x == 0) tile[threadIdx.x] = 1.0f;
        out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
    }"""
    problem = _one(reports(text, "keep", 400, 32, np.zeros(400 * 32, "f4")), UninitialisedRead)
    assert problem.block == (1, 0, 0)


def test_a_shared_index_out_of_bounds() -> None:
    text = """extern "C" __global__ void far(float* out) {
        extern __shared__ float tile[];
        tile[threadIdx.x] = 0.0f;
        out[threadIdx.x] = tile[threadIdx.x];
    }"""
    problem = _one(reports(text, "far", 1, 32, np.zeros(32, "f4"), shared=100), OutOfBounds)
    assert (problem.space, problem.offset, problem.extent, problem.thread) == ("shared", 100, 100, (25, 0, 0))


def test_two_blocks_write_the_same_bytes() -> None:
    text = """extern "C" __global__ void clash(float* out) {
        out[blockIdx.x / 2 * 32 + threadIdx.x] = blockIdx.x;
    }"""
    problem = _one(reports(text, "clash", 4, 32, np.zeros(64, "f4")), GlobalRace)
    assert (problem.memory, problem.place.line) == ("plane 0", 2)


def test_a_block_reads_what_another_writes_in_another_wave() -> None:
    text = """extern "C" __global__ void chain(float* data, int n) {
        int i = blockIdx.x * 32 + threadIdx.x;
        if (i + 32 < n) data[i] = data[i + 32] + 1.0f;
    }"""
    n = 32 * 600
    problem = _one(reports(text, "chain", 600, 32, np.zeros(n, "f4"), n), GlobalRace)
    assert problem.place.line == 3


def test_blocks_that_write_neighbouring_halves_are_no_race() -> None:
    text = """extern "C" __global__ void stripes(unsigned short* out, float* wide) {
        out[threadIdx.x * 4 + blockIdx.x] = blockIdx.x;
        wide[threadIdx.x * 4 + blockIdx.x] = 1.0f;
    }"""
    assert not reports(text, "stripes", 4, 32, np.zeros(128, "u2"), np.zeros(128, "f4"))


def test_atomic_sums_of_blocks_are_no_race_but_plain_reads_of_them_are() -> None:
    text = """extern "C" __global__ void count(int* total, int* seen, int reads) {
        atomicAdd(total, 1);
        if (reads) seen[blockIdx.x * 32 + threadIdx.x] = *total;
    }"""
    total = np.zeros(1, "i4")
    assert not reports(text, "count", 5, 32, total, np.zeros(160, "i4"), 0)
    assert total[0] == 160
    assert _one(reports(text, "count", 5, 32, total, np.zeros(160, "i4"), 1), GlobalRace).place.line == 3


PART = """extern "C" __global__ void part(float* out, int n) {
    if (threadIdx.x >= n) LEAVE;
    __syncthreads();
    out[threadIdx.x] = 1.0f;
}"""


def test_a_barrier_that_exited_threads_do_not_reach() -> None:
    problem = _one(reports(PART.replace("LEAVE", "return"), "part", 1, 64, np.zeros(64, "f4"), 40), PartialBarrier)
    assert (problem.arrived, problem.expected, problem.place.line) == (40, 64, 3)
    assert not reports(PART.replace("LEAVE", "return"), "part", 1, 64, np.zeros(64, "f4"), 64)


def test_a_barrier_that_waiting_threads_never_reach() -> None:
    text = """extern "C" __global__ void stuck(int* out) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 1, 64;");
            out[threadIdx.x] = 1;
        }
    }"""
    problem = _one(reports(text, "stuck", 2, 64, np.zeros(64, "i4")), PartialBarrier)
    assert (problem.number, problem.arrived, problem.expected, problem.place.line) == (1, 32, 64, 3)


def test_a_shuffle_that_some_named_lanes_do_not_execute() -> None:
    text = """extern "C" __global__ void lost(int* out) {
        int value = threadIdx.x;
        if (threadIdx.x % 2) {
            asm volatile("bar.sync 1, 64;");
        } else {
            value = __shfl_xor_sync(0xffffffffu, value, 2);
        }
        out[threadIdx.x] = value;
    }"""
    problem = _one(reports(text, "lost", 1, 32, np.zeros(32, "i4")), PartialWarp)
    assert problem.place.line == 6


def test_a_shuffle_that_reads_a_lane_that_is_not_there() -> None:
    text = """extern "C" __global__ void gone(int* out) {
        if (threadIdx.x < 8) out[threadIdx.x] = __shfl_sync(0xffu, threadIdx.x, 20);
    }"""
    problem = _one(reports(text, "gone", 1, 32, np.zeros(32, "i4")), PartialWarp)
    assert "lane 20" in problem.render_label()


COPY_AHEAD = """extern "C" __global__ void ahead(float* out, const float* in) {
    __shared__ alignas(16) float tile[4 * 64];
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * threadIdx.x);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 4 * threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    WAIT
    BARRIER
    out[threadIdx.x] = tile[(4 * threadIdx.x + SHIFT) % 256];
}"""
WAIT = 'asm volatile("cp.async.wait_group 0;" ::: "memory");'


@pytest.mark.parametrize(
    ("wait", "barrier", "shift", "kind"),
    [
        (WAIT, "__syncthreads();", "132", None),
        (WAIT, "", "0", None),
        ("", "__syncthreads();", "0", UninitialisedRead),
        (WAIT, "", "132", SharedRace),
        ("", "", "0", UninitialisedRead),
    ],
)
def test_asynchronous_copies_are_waited_for(
    wait: str, barrier: str, shift: str, kind: type[AccessFault] | None
) -> None:
    text = COPY_AHEAD.replace("WAIT", wait).replace("BARRIER", barrier).replace("SHIFT", shift)
    values = np.arange(256, dtype="f4")
    out = np.zeros(64, "f4")
    found = reports(text, "ahead", 1, 64, out, values)
    if kind is None:
        assert not found
        np.testing.assert_array_equal(out, values[(4 * np.arange(64) + int(shift)) % 256])
    else:
        problem = _one(found[:1], kind)
        assert problem.place.line == 8
        if kind is UninitialisedRead:
            assert "cp.async" in "\n".join(problem.notes())


def test_reports_are_kept_up_to_a_limit() -> None:
    sanitizer = Sanitizer(limit=1)
    for _ in range(3):
        run_source(REVERSE.replace("BARRIER", ""), "reverse", 1, 64, np.zeros(64, "f4"), np.ones(64, "f4"), 64,
                   sanitizer=sanitizer)  # fmt: skip
    assert (len(sanitizer.problems), sanitizer.left_out) == (1, 2)

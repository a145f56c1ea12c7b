"""Lanes that part and meet again: branches, loops of different length, exits, barriers in loops, calls."""

import numpy as np
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.problems import KernelTrap, LaunchRefused
from cgraph.emulator.sanitizer import Sanitizer
from tests.support.instructions import kernel_text, run_text
from tests.support.machine import Bench, compile_module, run_source


def test_nested_branches() -> None:
    text = """extern "C" __global__ void nest(int* out, const int* in, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = in[i], r = 0;
        if (v & 1) {
            if (v & 2) { r = 3 * v; for (int k = 0; k < (v & 7); ++k) r ^= out[0] + k * v; }
            else if (v & 4) r = v - 100;
            r += 1;
        } else {
            r = v / 3;
            if (v % 5 == 0) { if (v & 8) r = -r; else r *= 7; }
        }
        out[i + 1] = r;
    }"""
    generator = np.random.default_rng(0)
    values = generator.integers(0, 1 << 20, 777).astype("i4")
    out = np.zeros(778, "i4")
    run_source(text, "nest", 7, 128, out, values, 777)

    def expected(v: int) -> int:
        if v & 1:
            r = 0
            if v & 2:
                r = 3 * v
                for k in range(v & 7):
                    r ^= k * v
            elif v & 4:
                r = v - 100
            return r + 1
        r = v // 3
        if v % 5 == 0:
            r = -r if v & 8 else r * 7
        return r

    np.testing.assert_array_equal(out[1:], [expected(int(v)) for v in values])


def test_loops_of_different_length_with_breaks_and_continues() -> None:
    text = """extern "C" __global__ void walk(int* out, const int* in) {
        int v = in[blockIdx.x * 64 + threadIdx.x], steps = 0;
        while (v != 1) {
            ++steps;
            if (v % 2) { v = 3 * v + 1; continue; }
            v /= 2;
            if (steps > 150) break;
        }
        out[blockIdx.x * 64 + threadIdx.x] = steps;
    }"""
    values = np.arange(1, 257, dtype="i4")
    out = np.zeros(256, "i4")
    run_source(text, "walk", 4, 64, out, values)

    def collatz(v: int) -> int:
        steps = 0
        while v != 1:
            steps += 1
            if v % 2:
                v = 3 * v + 1
                continue
            v //= 2
            if steps > 150:
                break
        return steps

    np.testing.assert_array_equal(out, [collatz(int(v)) for v in values])


def test_lanes_meet_again_behind_a_branch() -> None:
    """Behind the branch all lanes of a warp are active together, though they took different ways."""
    text = """extern "C" __global__ void meet(unsigned* out) {
        int v = 0;
        for (int k = 0; k < (int)(threadIdx.x % 4); ++k) { v += k; if (v > 100) v = 0; }
        unsigned here;
        asm volatile("activemask.b32 %0;" : "=r"(here));
        out[threadIdx.x] = here + v - v;
    }"""
    out = np.zeros(64, "u4")
    run_source(text, "meet", 1, 64, out)
    np.testing.assert_array_equal(out, 0xFFFFFFFF)


@pytest.mark.parametrize("threads", [32, 96, 256])
def test_sums_by_halving_with_barriers_in_a_loop(threads: int) -> None:
    text = """extern "C" __global__ void total(int* out, const int* in, int n) {
        __shared__ int part[256];
        int sum = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int half = 128; half; half /= 2) {
            if (threadIdx.x < half && threadIdx.x + half < blockDim.x) part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x] = part[0];
    }"""
    values = np.random.default_rng(1).integers(-1000, 1000, (9, 777)).astype("i4")
    out = np.zeros(9, "i4")
    sanitizer = Sanitizer()
    run_source(text, "total", 9, threads, out, values, 777, sanitizer=sanitizer)
    np.testing.assert_array_equal(out, values.sum(axis=1))
    assert not sanitizer.problems


def test_a_barrier_with_a_vote() -> None:
    text = """extern "C" __global__ void vote(int* out, const int* in) {
        int v = in[blockIdx.x * 64 + threadIdx.x];
        int count = __syncthreads_count(v > 0), every = __syncthreads_and(v > 0), some = __syncthreads_or(v > 0);
        out[blockIdx.x * 64 + threadIdx.x] = count * 4 + (every ? 2 : 0) + (some ? 1 : 0);
    }"""
    values = np.zeros((3, 64), "i4")
    values[1] = 1
    values[2, 5:20] = 7
    out = np.zeros((3, 64), "i4")
    run_source(text, "vote", 3, 64, out, values)
    np.testing.assert_array_equal(out, np.repeat([0, 64 * 4 + 3, 15 * 4 + 1], 64).reshape(3, 64))


def test_named_barriers_let_warps_wait_for_each_other() -> None:
    text = """extern "C" __global__ void relay(int* out) {
        __shared__ int word[2];
        int warp = threadIdx.x / 32;
        if (warp == 0) {
            if (threadIdx.x == 0) word[0] = 41;
            asm volatile("bar.arrive 3, 64;" ::: "memory");
            asm volatile("bar.sync 4, 64;" ::: "memory");
            out[threadIdx.x] = word[1];
        } else if (warp == 1) {
            asm volatile("bar.sync 3, 64;" ::: "memory");
            if (threadIdx.x == 32) word[1] = word[0] + 1;
            asm volatile("bar.sync 4, 64;" ::: "memory");
            out[threadIdx.x] = word[0];
        }
    }"""
    out = np.zeros(64, "i4")
    sanitizer = Sanitizer()
    run_source(text, "relay", 1, 96, out, sanitizer=sanitizer)
    np.testing.assert_array_equal(out, [42] * 32 + [41] * 32)
    assert not sanitizer.problems


def test_a_loop_that_waits_for_lanes_ahead_of_it() -> None:
    text = """extern "C" __global__ void lock(int* m) {
        if (threadIdx.x % 32 == 0) {
            while (atomicCAS(m, 0, 1) != 0) {}
            m[1] = m[1] + 1;
            __threadfence();
            atomicExch(m, 0);
        }
    }"""
    m = np.zeros(2, "i4")
    run_source(text, "lock", 2, 96, m)
    np.testing.assert_array_equal(m, [0, 6])


def test_functions_that_are_called() -> None:
    text = """
    __device__ __noinline__ int power(int base, int n) {
        int result = 1;
        for (int i = 0; i < n; ++i) result *= base;
        return result;
    }
    struct Pair { int first; float second; };
    __device__ __noinline__ Pair twice(Pair p, int* where) {
        *where = power(p.first, 2);
        return {p.first * 2, p.second * 2};
    }
    extern "C" __global__ void call(int* out) {
        int local = 0;
        Pair p = twice({(int)threadIdx.x, 0.5f}, &local);
        out[threadIdx.x] = power(3, threadIdx.x % 5) + local * 1000 + p.first + (int)(p.second * 100);
    }"""
    out = np.zeros(32, "i4")
    run_source(text, "call", 1, 32, out)
    np.testing.assert_array_equal(out, [3 ** (t % 5) + t * t * 1000 + 2 * t + 100 for t in range(32)])


def test_a_branch_over_a_table() -> None:
    body = """.reg .u32 %r<4>; .reg .u64 %d<3>;
    ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
    rem.u32 %r1, %r0, 3;
    T: .branchtargets A, B, C;
    brx.idx %r1, T;
    A: mov.u32 %r2, 10; bra.uni END;
    B: mov.u32 %r2, 20; bra.uni END;
    C: mov.u32 %r2, 30;
    END: st.global.u32 [%d0], %r2; ret;"""
    out = np.zeros(50, "u4")
    run_text(kernel_text(body, 1), [out], block=50)
    np.testing.assert_array_equal(out, [10 + 10 * (t % 3) for t in range(50)])


def test_guarded_instructions_change_only_their_lanes() -> None:
    body = """.reg .u32 %r<4>; .reg .u64 %d<3>; .reg .pred %p<2>;
    ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
    setp.lt.u32 %p0, %r0, 10; setp.lt.u32 %p1, %r0, 20;
    mov.u32 %r1, 1; @%p0 mov.u32 %r1, 2; @!%p0 add.u32 %r1, %r1, 5;
    @!%p1 exit;
    @%p0 st.global.u32 [%d0], %r1; @!%p0 st.global.u32 [%d0], %r0;
    ret;"""
    out = np.full(40, 99, "u4")
    run_text(kernel_text(body, 1), [out], block=40)
    np.testing.assert_array_equal(out, [2 if t < 10 else t if t < 20 else 99 for t in range(40)])


def test_indices_of_blocks_and_threads() -> None:
    text = """extern "C" __global__ void where(int* out) {
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int n = blockDim.x * blockDim.y * blockDim.z;
        out[b * n + t] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z
                         + 1000 * (blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z) + 1000000 * (t % 32);
        unsigned lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        if (lane != t % 32) out[b * n + t] = -1;
    }"""
    out = np.zeros((2, 3, 2, 2, 3, 7), "i4")
    run_source(text, "where", (2, 3, 2), (7, 3, 2), out)
    for bz, by, bx, tz, ty, tx in np.ndindex(2, 3, 2, 2, 3, 7):
        t = tx + 7 * (ty + 3 * tz)
        expected = tx + 10 * ty + 100 * tz + 1000 * (bx + 10 * by + 100 * bz) + 1000000 * (t % 32)
        assert out[bz, by, bx, tz, ty, tx] == expected


def test_more_blocks_than_fit_at_once() -> None:
    text = """extern "C" __global__ void number(int* out) { out[blockIdx.x * 32 + threadIdx.x] = blockIdx.x; }"""
    out = np.zeros((1000, 32), "i4")
    statistics = run_source(text, "number", 1000, 32, out)
    np.testing.assert_array_equal(out, np.repeat(np.arange(1000), 32).reshape(1000, 32))
    assert statistics.thread_instructions >= 1000 * 32 * 5


def test_a_trap_names_its_line_and_thread() -> None:
    text = """extern "C" __global__ void stop(int* out) {
        out[threadIdx.x] = 1;
        if (threadIdx.x == 17)
            __trap();
    }"""
    with pytest.raises(ProblemsFound) as stopped:
        run_source(text, "stop", 1, 32, np.zeros(32, "i4"))
    (problem,) = stopped.value.problems
    assert isinstance(problem, KernelTrap)
    assert (problem.thread, str(problem.place)) == ((17, 0, 0), "test.cu:4")


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [(0, 32, 0), (1, 2048, 0), (1, (1, 1, 65), 0), ((1, 65536), 32, 0), (1, 128, 0), (1, 32, 1 << 20)],
)
def test_launches_that_no_device_accepts(
    grid: int | tuple[int, ...], block: int | tuple[int, ...], shared: int
) -> None:
    text = 'extern "C" __global__ void __launch_bounds__(64) small(int* out) { out[0] = 1; }'
    with pytest.raises(ProblemsFound) as stopped:
        Bench(compile_module(text)).run("small", grid, block, np.zeros(1, "i4"), shared=shared)
    assert isinstance(stopped.value.problems[0], LaunchRefused)

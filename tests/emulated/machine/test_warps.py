"""Exchanges within a warp against the same exchange written over arrays of 32."""

import numpy as np
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.problems import PartialWarp, WrongInstructionUse
from tests.support.machine import run_source

LANES = np.arange(32)


@pytest.mark.parametrize("width", [2, 8, 16, 32])
def test_shuffles_within_segments(width: int) -> None:
    text = f"""extern "C" __global__ void shuffle(int* out, const int* in, int by) {{
        int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
        out[i] = __shfl_up_sync(~0u, v, by, {width});
        out[256 + i] = __shfl_down_sync(~0u, v, by, {width});
        out[512 + i] = __shfl_xor_sync(~0u, v, by, {width});
        out[768 + i] = __shfl_sync(~0u, v, threadIdx.x * by + 1, {width});
    }}"""
    values = np.random.default_rng(2).integers(0, 1000, 256).astype("i4")
    for by in (0, 1, 3, 5, 17):
        out = np.zeros((4, 256), "i4")
        run_source(text, "shuffle", 4, 64, out, values, by)
        warps = values.reshape(-1, 32)
        place, start = LANES % width, LANES // width * width
        up = np.where(place - by >= 0, LANES - by, LANES)
        down = np.where(place + by < width, LANES + by, LANES)
        flip = np.where((LANES ^ by) < start + width, LANES ^ by, LANES)
        chosen = start + (LANES * by + 1) % width
        for row, source in zip(out, (up, down, flip, chosen), strict=True):
            np.testing.assert_array_equal(row.reshape(-1, 32), warps[:, source % 32])


def test_a_shuffle_tells_what_is_in_range() -> None:
    text = """extern "C" __global__ void range(unsigned* out, const unsigned* in) {
        unsigned d;
        asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 4, 0x1f, -1; selp.u32 %0, %0, 77, p; }"
                     : "=r"(d) : "r"(in[threadIdx.x]));
        out[threadIdx.x] = d;
    }"""
    out = np.zeros(32, "u4")
    run_source(text, "range", 1, 32, out, np.arange(32, dtype="u4"))
    np.testing.assert_array_equal(out, [t + 4 if t < 28 else 77 for t in range(32)])


@pytest.mark.parametrize("threads", [32, 64, 40])
def test_a_scan_and_a_sum_over_lanes(threads: int) -> None:
    text = """extern "C" __global__ void scan(int* out, int* sums, const int* in) {
        int lane = threadIdx.x % 32, v = in[threadIdx.x], first = v;
        unsigned mask = __activemask();
        for (int k = 1; k < 32; k *= 2) {
            int w = __shfl_up_sync(mask, v, k);
            if (lane >= k) v += w;
        }
        out[threadIdx.x] = v;
        sums[threadIdx.x] = __reduce_add_sync(mask, first);
    }"""
    values = np.random.default_rng(3).integers(0, 1000, threads).astype("i4")
    out, sums = np.zeros(threads, "i4"), np.zeros(threads, "i4")
    run_source(text, "scan", 1, threads, out, sums, values)
    for start in range(0, threads, 32):
        part = values[start : start + 32]
        np.testing.assert_array_equal(out[start : start + 32], np.cumsum(part))
        np.testing.assert_array_equal(sums[start : start + 32], part.sum())


def test_shuffles_in_both_arms_of_a_branch() -> None:
    text = """extern "C" __global__ void arms(int* out) {
        int v = threadIdx.x;
        if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(0x0000ffffu, v, 5);
        else v = __shfl_xor_sync(0xffff0000u, v, 1) + 100;
        out[threadIdx.x] = v;
    }"""
    out = np.zeros(64, "i4")
    run_source(text, "arms", 1, 64, out)
    np.testing.assert_array_equal(out, [t ^ 5 if t % 32 < 16 else (t ^ 1) + 100 for t in range(64)])


def test_lanes_of_one_mask_wait_for_each_other() -> None:
    """A lane that is ahead waits at the exchange for lanes that a branch delays."""
    text = """extern "C" __global__ void late(int* out, const int* in) {
        int v = in[threadIdx.x];
        if (threadIdx.x % 2) goto there;
        for (int k = 0; k < v && k < 32; ++k) v += in[k] % 2;
    there:
        out[threadIdx.x] = __shfl_xor_sync(~0u, v, 1);
    }"""
    values = np.arange(32, dtype="i4")
    out = np.zeros(32, "i4")
    run_source(text, "late", 1, 32, out, values)

    expected = []
    for t in range(32):
        v = t
        if t % 2 == 0:
            k = 0
            while k < v and k < 32:
                v += int(values[k]) % 2
                k += 1
        expected.append(v)
    np.testing.assert_array_equal(out, [expected[t ^ 1] for t in range(32)])


def test_votes_and_matches() -> None:
    text = """extern "C" __global__ void vote(unsigned* out, const int* in) {
        int t = threadIdx.x, v = in[t], same;
        out[t] = __ballot_sync(~0u, v > 2);
        out[64 + t] = __all_sync(~0u, v > 2) + 2 * __any_sync(~0u, v > 2) + 4 * __all_sync(~0u, v >= 0);
        out[128 + t] = __match_any_sync(~0u, v);
        out[192 + t] = __match_all_sync(~0u, v / 100, &same) + same;
        out[256 + t] = __reduce_max_sync(~0u, (unsigned)v) + __reduce_min_sync(~0u, (unsigned)v);
        out[320 + t] = __reduce_xor_sync(~0u, (unsigned)v);
    }"""
    values = np.random.default_rng(4).integers(0, 6, 64).astype("i4")
    out = np.zeros((6, 64), "u4")
    run_source(text, "vote", 1, 64, out, values)
    for warp in range(2):
        v = values[32 * warp : 32 * warp + 32]
        ballot, answers, same, everyone, extremes, mixed = out[:, 32 * warp : 32 * warp + 32]
        assert (ballot == sum(1 << lane for lane in range(32) if v[lane] > 2)).all()
        assert (answers == int((v > 2).all()) + 2 * int((v > 2).any()) + 4).all()
        for lane in range(32):
            assert same[lane] == sum(1 << other for other in range(32) if v[other] == v[lane])
        assert (everyone == 0).all()  # the mask of all lanes, and 1 for the predicate, wrap to 0
        assert (extremes == v.max() + v.min()).all()
        assert (mixed == np.bitwise_xor.reduce(v)).all()


def test_a_lane_outside_its_own_mask() -> None:
    text = """extern "C" __global__ void alien(int* out) {
        out[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 3);
    }"""
    with pytest.raises(ProblemsFound) as stopped:
        run_source(text, "alien", 1, 32, np.zeros(32, "i4"))
    (problem,) = stopped.value.problems
    assert isinstance(problem, WrongInstructionUse)
    assert problem.thread == (16, 0, 0)


def test_a_matrix_product_of_half_a_warp() -> None:
    text = """extern "C" __global__ void part(float* out) {
        if (threadIdx.x < 16) {
            float d0, d1, d2, d3;
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%5,%5,%5,%5};"
                         : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(0), "f"(0.0f));
            out[threadIdx.x] = d0 + d1 + d2 + d3;
        }
    }"""
    with pytest.raises(ProblemsFound) as stopped:
        run_source(text, "part", 1, 32, np.zeros(32, "f4"))
    assert isinstance(stopped.value.problems[0], PartialWarp)

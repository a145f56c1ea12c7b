"""mma, ldmatrix and cp.async: fragments loaded by their documented layout, products against float64."""

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.emulator.sanitizer import Sanitizer
from tests.support.machine import Bench, compile_module, run_source

DTYPES = {"f16": np.dtype("f2"), "bf16": np.dtype(ml_dtypes.bfloat16)}

# One warp; each lane takes its elements from row-major matrices by the tables of the PTX ISA.
PRODUCT = """typedef unsigned short Half;
extern "C" __global__ void product(float* d, const Half* a, const Half* b, const float* c) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    a += blockIdx.x * 16 * K; b += blockIdx.x * K * 8; c += blockIdx.x * 128; d += blockIdx.x * 128;
    unsigned ra[K / 4], rb[K / 8];
    for (int i = 0; i < K / 4; ++i) {
        int row = g + i % 2 * 8, column = 2 * t + i / 2 * 8;
        ra[i] = a[row * K + column] | (unsigned)a[row * K + column + 1] << 16;
    }
    for (int i = 0; i < K / 8; ++i) rb[i] = b[(2 * t + 8 * i) * 8 + g] | (unsigned)b[(2 * t + 8 * i + 1) * 8 + g] << 16;
    float r[4];
    for (int i = 0; i < 4; ++i) r[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    MMA
    for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = r[i];
}"""
MMA = {
    16: 'asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.KIND.KIND.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, '
    '{%0,%1,%2,%3};" : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]),'
    ' "r"(rb[0]), "r"(rb[1]));',
    8: 'asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.KIND.KIND.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" '
    ': "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));',
}


def bound(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """One rounding to f32 of the exact sum, and 17 of f64 before it."""
    sizes = np.abs(a) @ np.abs(b) + np.abs(c)
    return np.abs(a @ b + c) * 2.0**-24 + sizes * 17 * 2.0**-53 + 2.0**-149


@pytest.mark.parametrize("depth", [16, 8])
@pytest.mark.parametrize("kind", DTYPES)
def test_products_of_fragments(kind: str, depth: int) -> None:
    generator = np.random.default_rng(depth)
    a = generator.standard_normal((5, 16, depth)).astype(DTYPES[kind])
    b = generator.standard_normal((5, depth, 8)).astype(DTYPES[kind])
    c = generator.standard_normal((5, 16, 8)).astype("f4")
    d = np.zeros_like(c)
    text = (
        PRODUCT.replace("MMA", MMA[depth].replace("KIND", kind))
        .replace("K / ", f"{depth} / ")
        .replace("* K", f"* {depth}")
    )
    text = text.replace("16 * K", f"16 * {depth}").replace("blockIdx.x * K", f"blockIdx.x * {depth}")
    run_source(text, "product", 5, 32, d, a.view("u2"), b.view("u2"), c)
    wide = [each.astype("f8") for each in (a, b, c)]
    assert (np.abs(d - (wide[0] @ wide[1] + wide[2])) <= bound(*wide)).all()


def test_half_sums_are_rounded_to_half() -> None:
    text = """extern "C" __global__ void half(unsigned* d, const unsigned* a, const unsigned* b, const unsigned* c) {
        unsigned i = threadIdx.x, r0 = c[2 * i], r1 = c[2 * i + 1];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
            : "+r"(r0), "+r"(r1) : "r"(a[4 * i]), "r"(a[4 * i + 1]), "r"(a[4 * i + 2]), "r"(a[4 * i + 3]),
              "r"(b[2 * i]), "r"(b[2 * i + 1]));
        d[2 * i] = r0; d[2 * i + 1] = r1;
    }"""
    generator = np.random.default_rng(9)
    a, b, c = (generator.standard_normal(shape).astype("f2") for shape in ((16, 16), (16, 8), (16, 8)))
    # Lane 4g + t: a[r] = A[g + 8 (r % 2), 2t + 8 (r // 2)], b[r] = B[2t + 8r, g], c[r] = C[g + 8r, 2t].
    lanes = [(g, t) for g in range(8) for t in range(4)]
    ra = [[a[g + 8 * (r % 2), 2 * t + 8 * (r // 2) + i] for r in range(4) for i in (0, 1)] for g, t in lanes]
    rb = [[b[2 * t + 8 * r + i, g] for r in range(2) for i in (0, 1)] for g, t in lanes]
    rc = [[c[g + 8 * r, 2 * t + i] for r in range(2) for i in (0, 1)] for g, t in lanes]
    d = np.zeros((32, 4), "f2")
    run_source(text, "half", 1, 32, d, *(np.array(each, "f2") for each in (ra, rb, rc)))
    exact = a.astype("f8") @ b.astype("f8") + c.astype("f8")
    expected = np.array([[exact[g + 8 * r, 2 * t + i] for r in range(2) for i in (0, 1)] for g, t in lanes])
    np.testing.assert_array_equal(d, expected.astype("f2"))


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_are_loaded_and_stored(count: int, transposed: bool) -> None:
    names = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"=r"(r[{i}])' for i in range(count))
    inputs = ", ".join(f'"r"(r[{i}])' for i in range(count))
    shifted = ", ".join(f"%{i + 1}" for i in range(count))
    trans = ".trans" if transposed else ""
    text = f"""extern "C" __global__ void matrices(unsigned* out, unsigned short* back, const unsigned short* in) {{
        __shared__ alignas(16) unsigned short tile[{count} * 8 * 24], copy[{count} * 64];
        for (int i = threadIdx.x; i < {count} * 64; i += 32) tile[i / 8 * 24 + i % 8] = in[i];
        __syncthreads();
        unsigned r[4] = {{0, 0, 0, 0}};
        unsigned from = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % ({count} * 8) * 24);
        asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%{count}];"
                     : {outputs} : "r"(from) : "memory");
        for (int i = 0; i < {count}; ++i) out[i * 32 + threadIdx.x] = r[i];
        unsigned to = (unsigned)__cvta_generic_to_shared(copy + threadIdx.x % ({count} * 8) * 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%0], {{{shifted}}};"
                     :: "r"(to), {inputs} : "memory");
        __syncthreads();
        for (int i = threadIdx.x; i < {count} * 64; i += 32) back[i] = copy[i];
    }}"""
    values = np.arange(count * 64, dtype="u2").reshape(count, 8, 8)
    out, back = np.zeros((count, 8, 4, 2), "u2"), np.zeros_like(values)
    sanitizer = Sanitizer()
    Bench(compile_module(text, "compute_90"), sanitizer=sanitizer).run("matrices", 1, 32, out, back, values)
    assert not sanitizer.problems
    np.testing.assert_array_equal(back, values)
    for matrix, group, pair, element in np.ndindex(count, 8, 4, 2):
        row, column = group, 2 * pair + element
        assert out[matrix, group, pair, element] == (
            values[matrix, column, row] if transposed else values[matrix, row, column]
        )


PIPELINE = """
#include <cuda_fp16.h>
// c[M, N] = a[M, K] b[K, N]; 64 by 32 tiles, four warps of 16 rows, steps of 16 in two buffers.
extern "C" __global__ void __launch_bounds__(128)
    product(float* c, const __half* a, const __half* b, int M, int N, int K) {
    __shared__ alignas(16) __half left[2][64][24], right[2][16][40];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row0 = blockIdx.y * 64, column0 = blockIdx.x * 32;
    float sums[4][4] = {};
    auto fetch = [&](int step) {
        int buffer = step % 2, k0 = step * 16;
        { int row = threadIdx.x / 2, chunk = threadIdx.x % 2 * 8, rest = (K - k0 - chunk) * 2;
          bool in = row0 + row < M && rest > 0;
          unsigned to = (unsigned)__cvta_generic_to_shared(&left[buffer][row][chunk]);
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to),
                       "l"(in ? a + (row0 + row) * K + k0 + chunk : a), "r"(in ? min(rest, 16) : 0) : "memory"); }
        if (threadIdx.x < 64) {
          int row = threadIdx.x / 4, chunk = threadIdx.x % 4 * 8, rest = (N - column0 - chunk) * 2;
          bool in = k0 + row < K && rest > 0;
          unsigned to = (unsigned)__cvta_generic_to_shared(&right[buffer][row][chunk]);
          asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(to),
                       "l"(in ? b + (k0 + row) * N + column0 + chunk : b), "r"(in ? min(rest, 16) : 0) : "memory"); }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    int steps = (K + 15) / 16;
    fetch(0);
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) fetch(step + 1);
        else asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        unsigned ra[4], rb[4];
        unsigned from = (unsigned)__cvta_generic_to_shared(&left[step % 2][warp * 16 + lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(from) : "memory");
        for (int part = 0; part < 2; ++part) {
            unsigned other = (unsigned)__cvta_generic_to_shared(&right[step % 2][lane % 16][part * 16 + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]) : "r"(other) : "memory");
            for (int half = 0; half < 2; ++half) {
                float* r = sums[part * 2 + half];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                             "{%0,%1,%2,%3};" : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
                             : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]),
                               "r"(rb[2 * half]), "r"(rb[2 * half + 1]));
            }
        }
        __syncthreads();
    }
    for (int tile = 0; tile < 4; ++tile)
        for (int i = 0; i < 4; ++i) {
            int row = row0 + warp * 16 + lane / 4 + i / 2 * 8, column = column0 + tile * 8 + lane % 4 * 2 + i % 2;
            if (row < M && column < N) c[row * N + column] = sums[tile][i];
        }
}"""


@pytest.mark.parametrize(("rows", "columns", "depth"), [(64, 32, 16), (1, 8, 8), (65, 40, 56), (100, 72, 88)])
def test_a_pipelined_product(rows: int, columns: int, depth: int) -> None:
    generator = np.random.default_rng(rows)
    a = generator.standard_normal((rows, depth)).astype("f2")
    b = generator.standard_normal((depth, columns)).astype("f2")
    c = np.zeros((rows, columns), "f4")
    sanitizer = Sanitizer()
    run_source(PIPELINE, "product", (-(-columns // 32), -(-rows // 64)), 128, c, a, b, rows, columns, depth,
               sanitizer=sanitizer)  # fmt: skip
    assert not sanitizer.problems, sanitizer.problems[0].render_title()
    x, y = a.astype("f8"), b.astype("f8")
    # One rounding to f32 for each step of 16 along the inner dimension.
    limit = (np.abs(x) @ np.abs(y)) * -(-depth // 16) * 2.0**-23
    assert (np.abs(c - x @ y) <= limit).all()

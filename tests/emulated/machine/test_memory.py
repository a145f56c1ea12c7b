"""Memory: allocations, spaces, vectors, generic addresses, atomic operations, local arrays, constants."""

import numpy as np
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine import DeviceMemory, launch
from cgraph.emulator.problems import OutOfBounds
from cgraph.emulator.sanitizer import Sanitizer
from tests.support.machine import Bench, compile_module, run_source


def test_allocations_are_aligned_apart_and_never_given_out_twice() -> None:
    memory = DeviceMemory()
    addresses = [memory.allocate(size, f"plane {size}") for size in (1, 255, 256, 257, 100000)]
    assert all(address % 256 == 0 and address for address in addresses)
    for size, first, second in zip((1, 255, 256, 257), addresses, addresses[1:], strict=False):
        assert second - (first + size) >= 256
    memory.free(addresses[2])
    assert memory.find(addresses[2]) is None
    assert memory.allocate(256) not in addresses
    for address in (addresses[2], addresses[0] + 1, 0):
        with pytest.raises(KeyError):
            memory.free(address)


def test_find_and_label() -> None:
    memory = DeviceMemory()
    address = memory.allocate(10, "x")
    found = memory.find(address + 9)
    assert found is not None
    assert (found.label, found.address, found.size_bytes) == ("x", address, 10)
    assert memory.find(address + 10) is None
    assert memory.find(address - 1) is None
    memory.label(address, "y")
    assert [allocation.label for allocation in memory] == ["y"]


def test_bytes_know_whether_something_wrote_them() -> None:
    memory = DeviceMemory()
    a, b = memory.allocate(64), memory.allocate(64)
    memory.write(a + 8, b"12345678")
    memory.fill(a + 32, b"\1\2\3\4", 3)
    memory.copy(b, a, 64)
    for address in (a, b):
        written = memory.initialised(address, 64)
        np.testing.assert_array_equal(np.nonzero(written)[0], [*range(8, 16), *range(32, 44)])
    assert memory.read(b + 8, 8) == b"12345678"
    assert memory.read(b + 32, 12) == b"\1\2\3\4" * 3
    assert memory.read(a, 4) == b"\xff" * 4  # fresh bytes are a NaN in every type


@pytest.mark.parametrize(("offset", "size"), [(60, 5), (-1, 1), (0, 65), (64, 1), (0, -1)])
def test_the_host_cannot_reach_outside(offset: int, size: int) -> None:
    memory = DeviceMemory()
    address = memory.allocate(64)
    memory.allocate(64)
    with pytest.raises(KeyError):
        memory.read(address + offset, size)


def test_overlapping_copies() -> None:
    memory = DeviceMemory()
    address = memory.allocate(16)
    memory.write(address, bytes(range(16)))
    memory.copy(address + 4, address, 8)
    assert memory.read(address, 16) == bytes([0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15])


def test_a_transpose_through_shared_tiles() -> None:
    text = """extern "C" __global__ void transpose(float* out, const float* in, int rows, int columns) {
        __shared__ float tile[32][33];
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
        for (int k = 0; k < 32; k += 8)
            if (x < columns && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
        __syncthreads();
        x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
        for (int k = 0; k < 32; k += 8)
            if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
    }"""
    for rows, columns in ((1, 1), (32, 32), (33, 31), (70, 45)):
        values = np.random.default_rng(0).standard_normal((rows, columns)).astype("f4")
        out = np.zeros((columns, rows), "f4")
        sanitizer = Sanitizer()
        run_source(text, "transpose", (-(-columns // 32), -(-rows // 32)), (32, 8), out, values, rows, columns,
                   sanitizer=sanitizer)  # fmt: skip
        np.testing.assert_array_equal(out, values.T)
        assert not sanitizer.problems


def test_vectors_of_every_width() -> None:
    text = """extern "C" __global__ void vectors(float4* a, const float4* b, double2* c, const double2* d, uchar4* e,
                                                 const uchar4* f, short2* g, const short2* h) {
        int i = blockIdx.x * 32 + threadIdx.x;
        float4 v = b[i]; a[i] = make_float4(v.w, v.z, v.y, v.x);
        double2 w = d[i]; c[i] = make_double2(w.y, w.x);
        uchar4 x = f[i]; e[i] = make_uchar4(x.w, x.x, x.y, x.z);
        short2 y = h[i]; g[i] = make_short2(y.y, y.x - 1);
    }"""
    generator = np.random.default_rng(1)
    b = generator.standard_normal((64, 4)).astype("f4")
    d = generator.standard_normal((64, 2))
    f = generator.integers(0, 256, (64, 4)).astype("u1")
    h = generator.integers(-30000, 30000, (64, 2)).astype("i2")
    outs = [np.zeros_like(each) for each in (b, d, f, h)]
    run_source(text, "vectors", 2, 32, outs[0], b, outs[1], d, outs[2], f, outs[3], h)
    np.testing.assert_array_equal(outs[0], b[:, ::-1])
    np.testing.assert_array_equal(outs[1], d[:, ::-1])
    np.testing.assert_array_equal(outs[2], f[:, [3, 0, 1, 2]])
    np.testing.assert_array_equal(outs[3], np.stack([h[:, 1], h[:, 0] - 1], 1))


def test_narrow_values_are_extended_as_their_type_says() -> None:
    text = """extern "C" __global__ void widen(int* out, const signed char* a, const unsigned char* b, const short* c) {
        int i = threadIdx.x;
        out[i] = a[i]; out[32 + i] = b[i]; out[64 + i] = c[i];
        ((signed char*)(out + 96))[i] = (signed char)(c[i] + 1);
    }"""
    values = np.arange(-16, 16)
    out = np.zeros(104, "i4")
    run_source(text, "widen", 1, 32, out, values.astype("i1"), values.astype("u1"), (values * 1000).astype("i2"))
    np.testing.assert_array_equal(out[:32], values)
    np.testing.assert_array_equal(out[32:64], values % 256)
    np.testing.assert_array_equal(out[64:96], values * 1000)
    np.testing.assert_array_equal(out[96:].view("i1"), (values * 1000 + 1).astype("i1"))


def test_generic_pointers_to_every_space_at_once() -> None:
    text = """extern "C" __global__ void mixed(int* out, int* in) {
        __shared__ int shared[32];
        int local[4] = {(int)threadIdx.x, 7, 8, 9};
        shared[threadIdx.x] = 100 + threadIdx.x;
        int* p = threadIdx.x % 3 == 0 ? in + threadIdx.x : threadIdx.x % 3 == 1 ? shared + threadIdx.x : local;
        asm volatile("" : "+l"(p));
        *p += 1000;
        out[threadIdx.x] = *p;
        out[32 + threadIdx.x] = local[0];
    }"""
    source = np.arange(32, dtype="i4") * 10
    out = np.zeros(64, "i4")
    run_source(text, "mixed", 1, 32, out, source)
    expected = [1000 + 10 * t if t % 3 == 0 else 1100 + t if t % 3 == 1 else 1000 + t for t in range(32)]
    np.testing.assert_array_equal(out[:32], expected)
    np.testing.assert_array_equal(out[32:], [1000 + t if t % 3 == 2 else t for t in range(32)])


def test_local_arrays_with_indices_known_only_at_run_time() -> None:
    text = """extern "C" __global__ void sort(int* out, const int* in, int n) {
        int a[24];
        for (int i = 0; i < n; ++i) a[i] = in[threadIdx.x * n + i];
        for (int i = 1; i < n; ++i) {
            int v = a[i], j = i;
            while (j > 0 && a[j - 1] > v) { a[j] = a[j - 1]; --j; }
            a[j] = v;
        }
        for (int i = 0; i < n; ++i) out[threadIdx.x * n + i] = a[i];
    }"""
    values = np.random.default_rng(2).integers(-99, 99, (40, 21)).astype("i4")
    out = np.zeros((40, 21), "i4")
    run_source(text, "sort", 1, 40, out, values, 21)
    np.testing.assert_array_equal(out, np.sort(values, axis=1))


def test_a_local_index_out_of_bounds() -> None:
    text = """extern "C" __global__ void far(int* out, int n) {
        int a[8];
        for (int i = 0; i < 8; ++i) a[i] = i * n;
        a[n + threadIdx.x] = 5;
        out[threadIdx.x] = a[n & 7];
    }"""
    run_source(text, "far", 1, 4, np.zeros(4, "i4"), 2)
    with pytest.raises(ProblemsFound) as stopped:
        run_source(text, "far", 1, 4, np.zeros(4, "i4"), 6)
    (problem,) = stopped.value.problems
    assert isinstance(problem, OutOfBounds)
    assert (problem.space, problem.thread, problem.offset) == ("local", (2, 0, 0), 32)


def test_constants_globals_and_structures() -> None:
    text = """
    struct Mix { char a; double b; short c[3]; float* d; };
    __constant__ int table[5] = {2, 3, 5, 7, 11};
    __device__ float start = 1.5f;
    __device__ int counter;
    __device__ int* pointer = &counter;
    extern "C" __global__ void use(double* out, Mix m, unsigned char flag, int which) {
        int t = threadIdx.x;
        out[t] = m.a + m.b + m.c[t % 3] + table[(t + which) % 5] + start + flag + m.d[0];
        if (t == 0) *pointer = 42;
    }"""
    module = compile_module(text)
    bench = Bench(module)
    parameters = module.functions["use"].parameters
    assert [(each.offset, each.size_bytes) for each in parameters] == [(0, 8), (8, 32), (40, 1), (44, 4)]
    where = bench.memory.allocate(4)
    bench.memory.write(where, np.float32(100).tobytes())
    out = bench.memory.allocate(8 * 32)
    structure = np.zeros(1, np.dtype({"names": ["a", "b", "c", "d"], "formats": ["i1", "f8", "(3,)i2", "u8"],
                                      "offsets": [0, 8, 16, 24], "itemsize": 32}))  # fmt: skip
    structure["a"], structure["b"], structure["c"], structure["d"] = -3, 0.25, [10, 20, 30], where
    arguments = out.to_bytes(8, "little") + structure.tobytes() + b"\x07\0\0\0" + (4).to_bytes(4, "little")
    launch(module.functions["use"], grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0, arguments=arguments,
           memory=bench.memory, symbols=bench.symbols)  # fmt: skip
    found = np.frombuffer(bench.memory.read(out, 256), "f8")
    table = [2, 3, 5, 7, 11]
    np.testing.assert_array_equal(found, [-3 + 0.25 + 10 * (t % 3 + 1) + table[(t + 4) % 5] + 1.5 + 7 + 100
                                          for t in range(32)])  # fmt: skip
    assert int.from_bytes(bench.memory.read(bench.symbols["counter"], 4), "little") == 42


def test_atomic_operations_give_old_values_in_lane_order() -> None:
    text = """extern "C" __global__ void atoms(int* m, int* old, const int* in) {
        int t = blockIdx.x * 64 + threadIdx.x, v = in[t];
        old[t] = atomicAdd(m, v);
        atomicMax(m + 1, v); atomicMin(m + 2, v); atomicOr(m + 3, v); atomicAnd(m + 4, v | 1); atomicXor(m + 5, v);
        old[128 + t] = atomicInc((unsigned*)m + 6, 10);
        old[256 + t] = atomicCAS(m + 7, t, t + 1);
        old[384 + t] = atomicExch(m + 8 + t % 4, v);
        atomicAdd((unsigned long long*)m + 6, (unsigned long long)v);
        atomicSub(m + 14, v);
    }"""
    values = np.random.default_rng(3).integers(0, 1000, 128).astype("i4")
    m, old = np.zeros(16, "i4"), np.zeros((4, 128), "i4")
    m[2], m[4] = 9999, -1
    run_source(text, "atoms", 2, 64, m, old, values)
    np.testing.assert_array_equal(old[0], np.cumsum(values) - values)
    assert m[:6].tolist() == [values.sum(), values.max(), values.min(), np.bitwise_or.reduce(values),
                              np.bitwise_and.reduce(values | 1), np.bitwise_xor.reduce(values)]  # fmt: skip
    np.testing.assert_array_equal(old[1], np.arange(128) % 11)
    assert m[6] == 128 % 11
    np.testing.assert_array_equal(old[2], np.arange(128))
    assert m[7] == 128
    np.testing.assert_array_equal(old[3], np.concatenate([np.zeros(4), values[:-4]]))
    assert m[12:14].view("i8")[0] == values.sum()
    assert m[14] == -values.sum()


def test_atomic_sums_of_floats_have_one_order() -> None:
    text = """#include <cuda_fp16.h>
    extern "C" __global__ void sums(float* s, __half2* h, double* d, const float* in) {
        float v = in[threadIdx.x];
        atomicAdd(s, v);
        s[1 + threadIdx.x] = atomicAdd(s + 65, v);
        atomicAdd(h, __floats2half2_rn(v, 1.0f));
        atomicAdd(d + threadIdx.x % 2, (double)v);
    }"""
    values = np.random.default_rng(4).standard_normal(64).astype("f4")
    s, h, d = np.zeros(66, "f4"), np.zeros(2, "f2"), np.zeros(2)
    run_source(text, "sums", 1, 64, s, h, d, values)
    total, half = np.float32(0), np.float16(0)
    for place, value in enumerate(values):
        assert s[1 + place] == total
        total = np.float32(total + value)
        half = np.float16(np.float32(half) + np.float32(np.float16(value)))
    assert s[0] == s[65] == total
    assert (h[0], h[1]) == (half, 64)
    np.testing.assert_allclose(d, [values[::2].astype("f8").sum(), values[1::2].astype("f8").sum()], rtol=1e-14)


def test_shared_atomic_histogram_of_blocks() -> None:
    text = """extern "C" __global__ void histogram(unsigned* out, const unsigned char* in, int n) {
        __shared__ unsigned bins[16];
        if (threadIdx.x < 16) bins[threadIdx.x] = 0;
        __syncthreads();
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) atomicAdd(&bins[in[i] % 16], 1u);
        __syncthreads();
        if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }"""
    values = np.random.default_rng(5).integers(0, 256, 1000).astype("u1")
    out = np.zeros(16, "u4")
    sanitizer = Sanitizer()
    run_source(text, "histogram", 8, 128, out, values, 1000, sanitizer=sanitizer)
    np.testing.assert_array_equal(out, np.bincount(values % 16, minlength=16))
    assert not sanitizer.problems

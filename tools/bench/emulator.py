"""How fast the emulated device is: instructions that threads execute a second, for kernels of different kinds.

    PYTHONPATH=. python tools/bench/emulator.py [--repeat 5] [--threads 128 8192 131072]

Each kernel runs without and with the sanitizer; the table gives the fastest of the repeats. `read` is the time to read
the PTX, an instruction.
"""

import argparse
from time import perf_counter

import numpy as np
from attrs import frozen

from cgraph.backends.cuda.nvrtc import run_nvrtc
from cgraph.emulator.machine import DeviceMemory, launch
from cgraph.emulator.ptx import Function, read_module
from cgraph.emulator.sanitizer import Sanitizer

BLOCK = 128
TEXT = r"""
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
// 64 steps of f32 arithmetic on registers.
extern "C" __global__ void polynomial(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
#pragma unroll
    for (int k = 0; k < 64; ++k) y = y * x + 0.5f;
    out[i] = y;
}
// 256 steps of integer arithmetic on registers.
extern "C" __global__ void mix(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = __float_as_uint(a[i]);
#pragma unroll
    for (int k = 0; k < 64; ++k) { x ^= x << 13; x ^= x >> 17; }
    out[i] = x;
}
// Lanes leave a loop one after another.
extern "C" __global__ void parting(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float y = 0.0f;
    for (int k = 0; k < threadIdx.x % 32; ++k) y += b[(i + k) % n];
    if (i < n) out[i] = y;
}
// A sum over each block through shared memory and shuffles.
extern "C" __global__ void sum(float* out, const float* a, const float* b, int n) {
    __shared__ float part[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float y = i < n ? a[i] : 0.0f;
    for (int k = 16; k; k /= 2) y += __shfl_xor_sync(~0u, y, k);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = y;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
// 16 products of 16 by 8 by 16 a warp.
extern "C" __global__ void product(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = __float_as_uint(a[i % n]) & 0x3bff3bff, y = __float_as_uint(b[i % n]) & 0x3bff3bff;
    float r[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 16; ++k)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, "
                     "{%0,%1,%2,%3};" : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(x), "r"(y));
    if (i < n) out[i] = r[0] + r[1] + r[2] + r[3];
}
"""


@frozen
class Rate:
    """Instructions that threads executed, in millions a second, and the launch's time."""

    millions_a_second: float
    elapsed_ms: float


def measure(function: Function, threads: int, repeat: int, sanitizer: Sanitizer | None) -> Rate:
    """The fastest of several launches over so many threads."""
    memory = DeviceMemory()
    values = np.random.default_rng(0).standard_normal(threads).astype(np.float32)
    addresses = [memory.allocate(values.nbytes) for _ in range(3)]
    for address in addresses:
        memory.write(address, values.tobytes())
    arguments = b"".join(address.to_bytes(8, "little") for address in addresses) + threads.to_bytes(4, "little")
    best = Rate(0.0, 0.0)
    for _ in range(repeat):
        statistics = launch(
            function,
            grid=(-(-threads // BLOCK), 1, 1),
            block=(BLOCK, 1, 1),
            shared_bytes=0,
            arguments=arguments,
            memory=memory,
            sanitizer=sanitizer,
        )
        rate = statistics.thread_instructions / statistics.elapsed_ms / 1e3
        if rate > best.millions_a_second:
            best = Rate(rate, statistics.elapsed_ms)
    return best


def main() -> None:
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--repeat", type=int, default=5)
    arguments.add_argument("--threads", type=int, nargs="+", default=[128, 8192, 131072])
    options = arguments.parse_args()
    ptx = run_nvrtc(TEXT, "bench.cu", ("--gpu-architecture=compute_80", "--std=c++17", "-lineinfo")).ptx
    start = perf_counter()
    module = read_module(ptx)
    instructions = sum(len(function.instructions) for function in module.functions.values())
    print(f"read: {1e6 * (perf_counter() - start) / instructions:.1f} µs an instruction")
    print(f"{'kernel':12}{'threads':>10}{'M instr/s':>12}{'ms':>10}{'sanitized':>12}{'ms':>10}")
    for name, function in module.functions.items():
        for threads in options.threads:
            plain = measure(function, threads, options.repeat, None)
            watched = measure(function, threads, options.repeat, Sanitizer())
            print(
                f"{name:12}{threads:>10}{plain.millions_a_second:>12.1f}{plain.elapsed_ms:>10.2f}"
                f"{watched.millions_a_second:>12.1f}{watched.elapsed_ms:>10.2f}"
            )


if __name__ == "__main__":
    main()

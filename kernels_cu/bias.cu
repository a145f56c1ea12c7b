// Biases, one number for each column of a matrix[rows, n] (f32), and their gradients in two launches without atomics:
// sums over blocks of rows, then over the blocks.
#include "elementwise.cuh"

// out[rows, n] = in[rows, n] + bias[n], all f32; out may be in, because an element is read and written by one thread.
//
// Launch, tails and alignment over the rows * n elements: see elementwise.cuh.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAddBias(float* out, const float* in, const float* __restrict__ bias, int rows, int n) {
    const long long count = static_cast<long long>(rows) * n;
    // Four elements of a row have four neighbouring biases only where rows are made of fours.
    const bool aligned = n % kThreadElements == 0 && is_aligned(out, 16) && is_aligned(in, 16) && is_aligned(bias, 16);
    for_elements(count, aligned, [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        values = load<kCount>(in + first);
        const Floats<kCount> offset = load<kCount>(bias + first % n);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values.at[i] += offset.at[i];
        }
        store(out + first, values);
    });
}

#ifdef CG_SUM_ROWS
// parts[blocks, n] = the sums of in[rows, n] over each block of CG_SUM_ROWS rows, the first row first; the last block
// may have fewer. All f32.
//
// Launch: blocks of 256 threads; x over 256 columns, one for each thread, y over the blocks of rows.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgColumnParts(float* __restrict__ parts, const float* __restrict__ in, int rows, int n) {
    const long long column = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    const long long first = static_cast<long long>(blockIdx.y) * CG_SUM_ROWS;
    if (column >= n) {
        return;
    }
    const int count = static_cast<int>(min(static_cast<long long>(CG_SUM_ROWS), rows - first));
    const float* from = in + first * n + column;
    float sum = 0.0f;
#pragma unroll 8
    for (int row = 0; row < count; ++row) {
        sum += from[static_cast<size_t>(row) * n];
    }
    parts[static_cast<size_t>(blockIdx.y) * n + column] = sum;
}
#endif

// out[n] = the sums of parts[blocks, n] over the blocks, all f32. The order is fixed: each of the block's eight warps
// sums every eighth part, from the first on, and the eight sums are added in the warps' order.
//
// Launch: a block of 256 threads for every 32 columns.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgColumnSum(float* __restrict__ out, const float* __restrict__ parts, int blocks, int n) {
    constexpr int kWarps = kThreads / kWarpLanes;
    __shared__ float sums[kWarps][kWarpLanes];
    const int lane = threadIdx.x % kWarpLanes;
    const int warp = threadIdx.x / kWarpLanes;
    const long long column = static_cast<long long>(blockIdx.x) * kWarpLanes + lane;
    float sum = 0.0f;
    if (column < n) {
        for (int part = warp; part < blocks; part += kWarps) {
            sum += parts[static_cast<size_t>(part) * n + column];
        }
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < n) {
#pragma unroll
        for (int other = 1; other < kWarps; ++other) {
            sum += sums[other][lane];
        }
        out[column] = sum;
    }
}

// The root-mean-square norm of rows (Zhang and Sennrich, 2019): a kernel that lies beside its program.
//
// common.cuh is one of cgraph's own headers. It knows what `half` is in a build, and has sums over blocks.
#include "common.cuh"

// out[rows, width] (half) = in * scale / sqrt(mean of in² + offset), the mean over a row of in[rows, width] (f32);
// scale[width] (f32). Any rows, width from 1 on.
//
// Launch: a block of ROW_THREADS threads, a multiple of 32, for each row.
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
    rmsNorm(Half* __restrict__ out, const float* __restrict__ in, const float* __restrict__ scale, int rows, int width,
            float offset) {
    __shared__ float scratch[ROW_THREADS / kWarpLanes];
    const float* row = in + static_cast<size_t>(blockIdx.x) * width;
    Half* result = out + static_cast<size_t>(blockIdx.x) * width;
    float squares = 0.0f;
    for (int channel = threadIdx.x; channel < width; channel += ROW_THREADS) {
        squares += row[channel] * row[channel];
    }
    const float factor = 1.0f / sqrtf(block_sum<ROW_THREADS>(squares, scratch) / width + offset);
    for (int channel = threadIdx.x; channel < width; channel += ROW_THREADS) {
        result[channel] = to_half(row[channel] * factor * scale[channel]);
    }
}

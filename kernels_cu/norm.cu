// The layer norm over rows[rows, width] in f32, and its gradient in two launches without atomics.
//
// Any rows and width from 1 on. Rows are read four channels at a time where width and all planes allow it.
#include "common.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpLanes;

template <int kCount>
CG_DEVICE void normalise_row(Half* out, float* statistics, const float* in, const float* gain, const float* shift,
                             int width, float epsilon) {
    __shared__ float scratch[kWarps];
    // The row is read three times; after the first it comes from the cache.
    float sum = 0.0f;
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        const Floats<kCount> x = load<kCount>(in + channel);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            sum += x.at[i];
        }
    }
    const float mean = block_sum<kThreads>(sum, scratch) / width;
    float squares = 0.0f;
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        const Floats<kCount> x = load<kCount>(in + channel);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            squares += (x.at[i] - mean) * (x.at[i] - mean);
        }
    }
    const float variance = block_sum<kThreads>(squares, scratch) / width;
    const float reciprocal = 1.0f / sqrtf(variance + epsilon);
    if (threadIdx.x == 0) {
        statistics[0] = mean;
        statistics[1] = reciprocal;
    }
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        const Floats<kCount> x = load<kCount>(in + channel);
        const Floats<kCount> scale = load<kCount>(gain + channel);
        const Floats<kCount> offset = load<kCount>(shift + channel);
        Floats<kCount> result;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            result.at[i] = (x.at[i] - mean) * reciprocal * scale.at[i] + offset.at[i];
        }
        store(out + channel, result);
    }
}

// outHalf[rows, width] (half) = (in - mean) * reciprocal * gain + shift, statistics[rows, 2] (f32) = mean and
// reciprocal = 1 / sqrt(variance + epsilon) of each row of in[rows, width] (f32); gain[width], shift[width] (f32).
//
// The variance is the mean of squared differences from the mean. Launch: a block of 256 threads for each row.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgLayerNorm(Half* __restrict__ outHalf, float* __restrict__ statistics, const float* __restrict__ in,
                const float* __restrict__ gain, const float* __restrict__ shift, int rows, int width, float epsilon) {
    const size_t row = blockIdx.x;
    if (row >= rows) {
        return;
    }
    const float* from = in + row * width;
    Half* to = outHalf + row * width;
    if (width % 4 == 0 && is_aligned(in, 16) && is_aligned(gain, 16) && is_aligned(shift, 16) && is_aligned(outHalf, 8)) {
        normalise_row<4>(to, statistics + 2 * row, from, gain, shift, width, epsilon);
    } else {
        normalise_row<1>(to, statistics + 2 * row, from, gain, shift, width, epsilon);
    }
}

#ifdef CG_NORM_BLOCK_ROWS
// What the gradient of a row needs of the row as a whole; g = dy * gain, n the normalised input.
struct RowFacts {
    float mean;
    float reciprocal;
    float gradient_mean;  // of g
    float product_mean;   // of g * n
};

template <int kCount>
CG_DEVICE void differentiate_rows(float* inputGradient, float* gainParts, float* shiftParts, const float* in,
                                  const float* dy, const float* gain, const float* statistics, int count, int width) {
    __shared__ RowFacts facts[CG_NORM_BLOCK_ROWS];
    for (int row = threadIdx.x / kWarpLanes; row < count; row += kWarps) {
        const float mean = statistics[2 * row];
        const float reciprocal = statistics[2 * row + 1];
        float gradients = 0.0f;
        float products = 0.0f;
        for (int channel = threadIdx.x % kWarpLanes * kCount; channel < width; channel += kWarpLanes * kCount) {
            const Floats<kCount> x = load<kCount>(in + static_cast<size_t>(row) * width + channel);
            const Floats<kCount> upstream = load<kCount>(dy + static_cast<size_t>(row) * width + channel);
            const Floats<kCount> scale = load<kCount>(gain + channel);
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
                const float gradient = upstream.at[i] * scale.at[i];
                gradients += gradient;
                products += gradient * ((x.at[i] - mean) * reciprocal);
            }
        }
        gradients = warp_sum(gradients);
        products = warp_sum(products);
        if (threadIdx.x % kWarpLanes == 0) {
            facts[row] = {mean, reciprocal, gradients / width, products / width};
        }
    }
    __syncthreads();
    // A thread walks down its channels, so the sums over the rows stay in registers. This second reading of in and dy
    // comes from the cache.
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        const Floats<kCount> scale = load<kCount>(gain + channel);
        Floats<kCount> gain_sum = {};
        Floats<kCount> shift_sum = {};
#pragma unroll 4
        for (int row = 0; row < count; ++row) {
            const RowFacts fact = facts[row];
            const Floats<kCount> x = load<kCount>(in + static_cast<size_t>(row) * width + channel);
            const Floats<kCount> upstream = load<kCount>(dy + static_cast<size_t>(row) * width + channel);
            Floats<kCount> result;
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
                const float normal = (x.at[i] - fact.mean) * fact.reciprocal;
                gain_sum.at[i] += upstream.at[i] * normal;
                shift_sum.at[i] += upstream.at[i];
                const float rest = fact.gradient_mean + normal * fact.product_mean;
                result.at[i] = (upstream.at[i] * scale.at[i] - rest) * fact.reciprocal;
            }
            store(inputGradient + static_cast<size_t>(row) * width + channel, result);
        }
        store(gainParts + channel, gain_sum);
        store(shiftParts + channel, shift_sum);
    }
}

// inputGradient[rows, width] = reciprocal * (g - mean(g) - n * mean(g * n)) with g = dy * gain and n the normalised
// in; gainParts[block, width] and shiftParts[block, width] = the sums of dy * n and of dy over the block's rows. All
// f32; statistics[rows, 2] as cgLayerNorm leaves them.
//
// Launch: a block of 256 threads for every CG_NORM_BLOCK_ROWS rows; the last may have fewer.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgLayerNormBackwardRows(float* __restrict__ inputGradient, float* __restrict__ gainParts,
                            float* __restrict__ shiftParts, const float* __restrict__ in, const float* __restrict__ dy,
                            const float* __restrict__ gain, const float* __restrict__ statistics, int rows, int width) {
    const size_t first = static_cast<size_t>(blockIdx.x) * CG_NORM_BLOCK_ROWS;
    if (first >= rows) {
        return;
    }
    const int count = min(CG_NORM_BLOCK_ROWS, static_cast<int>(rows - first));
    const size_t part = static_cast<size_t>(blockIdx.x) * width;
    const size_t start = first * width;
    const bool aligned = width % 4 == 0 && is_aligned(inputGradient, 16) && is_aligned(gainParts, 16) &&
                         is_aligned(shiftParts, 16) && is_aligned(in, 16) && is_aligned(dy, 16) && is_aligned(gain, 16);
    if (aligned) {
        differentiate_rows<4>(inputGradient + start, gainParts + part, shiftParts + part, in + start, dy + start, gain,
                              statistics + 2 * first, count, width);
    } else {
        differentiate_rows<1>(inputGradient + start, gainParts + part, shiftParts + part, in + start, dy + start, gain,
                              statistics + 2 * first, count, width);
    }
}
#endif

// gainGradient[width] and shiftGradient[width] = the sums of gainParts[parts, width] and shiftParts[parts, width] over
// the parts, all f32. The order is fixed: each of the block's eight warps sums every eighth part, from the first on,
// and the eight sums are added in the warps' order.
//
// Launch: a block of 256 threads for every 32 channels.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgLayerNormBackwardSum(float* __restrict__ gainGradient, float* __restrict__ shiftGradient,
                           const float* __restrict__ gainParts, const float* __restrict__ shiftParts, int parts,
                           int width) {
    __shared__ float gain_sums[kWarps][kWarpLanes];
    __shared__ float shift_sums[kWarps][kWarpLanes];
    const int lane = threadIdx.x % kWarpLanes;
    const int warp = threadIdx.x / kWarpLanes;
    const long long channel = static_cast<long long>(blockIdx.x) * kWarpLanes + lane;
    float gain_sum = 0.0f;
    float shift_sum = 0.0f;
    if (channel < width) {
        for (int part = warp; part < parts; part += kWarps) {
            gain_sum += gainParts[static_cast<size_t>(part) * width + channel];
            shift_sum += shiftParts[static_cast<size_t>(part) * width + channel];
        }
    }
    gain_sums[warp][lane] = gain_sum;
    shift_sums[warp][lane] = shift_sum;
    __syncthreads();
    if (warp < 2 && channel < width) {
        const float(*sums)[kWarpLanes] = warp == 0 ? gain_sums : shift_sums;
        float sum = 0.0f;
#pragma unroll
        for (int other = 0; other < kWarps; ++other) {
            sum += sums[other][lane];
        }
        (warp == 0 ? gainGradient : shiftGradient)[channel] = sum;
    }
}

// Cross entropy over rows of logits[rows, vocab] (f32) whose bias[vocab] is not yet added, and its gradient in the
// logits' place. A row counts if its target is a token, 0 <= target < vocab, and its mask, where there is one, is not
// 0.
//
// Any rows and vocab from 1 on, any alignment: a thread reads single elements, kThreads apart and a few at once, so
// that odd vocabularies are as fast as even ones.
#include "common.cuh"
#include "loss_scale.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpLanes;
// Elements that a thread has under way at once.
constexpr int kBatch = 4;

CG_DEVICE bool counts(const int* targets, const int* mask, size_t row, int vocab) {
    const int target = targets[row];
    return target >= 0 && target < vocab && (mask == nullptr || mask[row] != 0);
}

CG_DEVICE float minus_infinity() {
    return __int_as_float(0xff800000);
}

// What is taken off before an exponential: the largest number, but 0 where nothing is larger than minus infinity,
// because infinity minus infinity is NaN.
CG_DEVICE float exponent_base(float largest) {
    return largest == minus_infinity() ? 0.0f : largest;
}

// The largest number of a block, the same in every thread; NaN is passed over. `scratch` as for block_sum.
CG_DEVICE float block_maximum(float value, float* scratch) {
#pragma unroll
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    __syncthreads();
    if (threadIdx.x % kWarpLanes == 0) {
        scratch[threadIdx.x / kWarpLanes] = value;
    }
    __syncthreads();
    float largest = scratch[0];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) {
        largest = fmaxf(largest, scratch[warp]);
    }
    return largest;
}

// The softmax of a row is exp(logit + bias - base) / sum.
struct Softmax {
    float base;
    float sum;
};

// Reads a row once: a thread brings its sum to its new largest number whenever that grows. NaN in the row makes the sum
// NaN.
CG_DEVICE Softmax softmax_of(const float* row, const float* bias, int vocab) {
    __shared__ float scratch[kWarps];
    float largest = minus_infinity();
    float sum = 0.0f;
    for (long long first = threadIdx.x; first < vocab; first += kBatch * kThreads) {
        float values[kBatch];
        float grown = largest;
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const long long column = first + i * kThreads;
            values[i] = column < vocab ? row[column] + bias[column] : minus_infinity();
            grown = fmaxf(grown, values[i]);
        }
        const float base = exponent_base(grown);
        sum *= expf(largest - base);
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            sum += expf(values[i] - base);
        }
        largest = grown;
    }
    const float base = exponent_base(block_maximum(largest, scratch));
    return {base, block_sum<kThreads>(sum * expf(largest - base), scratch)};
}

// A counting row's loss: the logarithm of the sum of exponentials less the target's logit.
CG_DEVICE float row_loss(Softmax softmax, float target) {
    return logf(softmax.sum) - (target - softmax.base);
}

// count[1] (i32) = how many of the rows count; targets[rows] and mask[rows] are i32, mask may be null.
//
// Launch: one block of 256 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgSupervisedCount(int* __restrict__ count, const int* __restrict__ targets, const int* __restrict__ mask, int rows,
                      int vocab) {
    __shared__ int scratch[kWarps];
    int found = 0;
    for (long long row = threadIdx.x; row < rows; row += kThreads) {
        found += counts(targets, mask, row, vocab) ? 1 : 0;
    }
    found = block_sum<kThreads>(found, scratch);
    if (threadIdx.x == 0) {
        *count = found;
    }
}

// losses[rows] (f32) = the losses of logits + bias; then logits[rows, vocab] (f32) becomes its gradient times scale,
// scale * (softmax - 1 at the target) / count. Both are 0 in rows that do not count, whatever their logits are.
// targets[rows], mask[rows], which may be null, and count[1] are i32, bias[vocab] and scale[1] f32; scale 0 counts as 1.
//
// Launch: a block of 256 threads for each row, which is read twice, the second time from the cache.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgCrossEntropy(float* __restrict__ logits, const int* __restrict__ targets, const int* __restrict__ mask,
                   float* __restrict__ losses, const float* __restrict__ bias, const int* __restrict__ count, int rows,
                   int vocab, const float* __restrict__ scale) {
    const size_t row = blockIdx.x;
    if (row >= rows) {
        return;
    }
    float* own = logits + row * vocab;
    if (!counts(targets, mask, row, vocab)) {
        for (long long column = threadIdx.x; column < vocab; column += kThreads) {
            own[column] = 0.0f;
        }
        if (threadIdx.x == 0) {
            losses[row] = 0.0f;
        }
        return;
    }
    const int target = targets[row];
    const float target_logit = own[target] + bias[target];
    // Its barriers also keep the target's logit from being overwritten before all have read it.
    const Softmax softmax = softmax_of(own, bias, vocab);
    if (threadIdx.x == 0) {
        losses[row] = row_loss(softmax, target_logit);
    }
    const float weight = loss_scale(scale) / static_cast<float>(max(*count, 1));
    const float factor = weight / softmax.sum;
    for (long long first = threadIdx.x; first < vocab; first += kBatch * kThreads) {
        float values[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const long long column = first + i * kThreads;
            values[i] = column < vocab ? own[column] + bias[column] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const long long column = first + i * kThreads;
            if (column < vocab) {
                const float gradient = expf(values[i] - softmax.base) * factor;
                own[column] = column == target ? gradient - weight : gradient;
            }
        }
    }
}

// losses[rows] (f32) = the losses of logits[rows, vocab] + bias[vocab] (f32), 0 in rows that do not count;
// targets[rows] and mask[rows], which may be null, are i32.
//
// Launch: a block of 256 threads for each row.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgCrossEntropyLosses(const float* __restrict__ logits, const int* __restrict__ targets,
                         const int* __restrict__ mask, float* __restrict__ losses, const float* __restrict__ bias,
                         int rows, int vocab) {
    const size_t row = blockIdx.x;
    if (row >= rows) {
        return;
    }
    if (!counts(targets, mask, row, vocab)) {
        if (threadIdx.x == 0) {
            losses[row] = 0.0f;
        }
        return;
    }
    const float* own = logits + row * vocab;
    const Softmax softmax = softmax_of(own, bias, vocab);
    if (threadIdx.x == 0) {
        const int target = targets[row];
        losses[row] = row_loss(softmax, own[target] + bias[target]);
    }
}

// loss[1] (f32) = the sum of losses[rows] (f32) / count[1] (i32), 0 where the count is 0. The order is fixed: each
// thread sums every 256th loss, the sums are added pairwise within warps and the warps' in their order.
//
// Launch: one block of 256 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgLossMean(float* __restrict__ loss, const float* __restrict__ losses, const int* __restrict__ count, int rows) {
    __shared__ float scratch[kWarps];
    float sum = 0.0f;
    for (long long row = threadIdx.x; row < rows; row += kThreads) {
        sum += losses[row];
    }
    sum = block_sum<kThreads>(sum, scratch);
    if (threadIdx.x == 0) {
        *loss = *count > 0 ? sum / static_cast<float>(*count) : 0.0f;
    }
}

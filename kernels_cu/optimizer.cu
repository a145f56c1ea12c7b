// A training step behind the gradients: their norm, what the step decides from it, and the update of every weight.
//
// control[8] (f32) is what the host asks for: the learning rate, beta1, beta2, epsilon, the weight decay, the largest
// norm (0: any), the number of updates after which the loss scale doubles (0: it never changes), the largest loss scale.
// update[5] (f32) is what a step decides, once for all weights: the factor of a gradient, whether it is applied (1 or 0),
// what the decay leaves of a weight, the step size, and the square root of the second moment's bias correction.
// Launch of the updates, tails and alignment: see elementwise.cuh.
#include "elementwise.cuh"
#include "loss_scale.cuh"

constexpr int kWarps = kThreads / kWarpLanes;

enum Control { kLearningRate, kBeta1, kBeta2, kEpsilon, kDecay, kLargestNorm, kGrowthUpdates, kLargestScale };
enum Update { kFactor, kApplied, kKept, kStepSize, kRootCorrection };
enum Progress { kUpdates, kSkipped, kSinceChange, kLastSkipped };

CG_DEVICE double square(float value) {
    return static_cast<double>(value) * value;
}

// parts[blocks] (f64) = the sums of the squares of in[n] (f32): block b has the elements from b * span on, where span is
// ceil(n / blocks), filled up to a multiple of 4. Squares of f32 are exact in f64, and their sum does not overflow.
//
// Launch: `blocks` blocks of 256 threads, at least one. Any n and alignment.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgSquareParts(double* __restrict__ parts, const float* __restrict__ in, int n, int blocks) {
    __shared__ double scratch[kWarps];
    const long long span = ((static_cast<long long>(n) + blocks - 1) / blocks + 3) / 4 * 4;
    const long long start = blockIdx.x * span;
    const long long stop = min(start + span, static_cast<long long>(n));
    const long long whole = is_aligned(in, 16) ? stop / 4 * 4 : start;
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
#pragma unroll 4
    for (long long first = start + 4 * threadIdx.x; first < whole; first += 4 * kThreads) {
        const Floats<4> values = load<4>(in + first);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            sums[i] += square(values.at[i]);
        }
    }
    for (long long element = max(start, whole) + threadIdx.x; element < stop; element += kThreads) {
        sums[0] += square(in[element]);
    }
    const double sum = block_sum<kThreads>((sums[0] + sums[1]) + (sums[2] + sums[3]), scratch);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
}

// base^exponent by repeated squaring; exponent >= 0.
CG_DEVICE double power(double base, int exponent) {
    double result = 1.0;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) {
            result *= base;
        }
        base *= base;
    }
    return result;
}

CG_DEVICE int next_count(int count) {
    return count < 0x7fffffff ? count + 1 : count;
}

// The scale behind `since` updates without overflow at this scale.
CG_DEVICE float grown_scale(float scale, int since, const float* control) {
    const float wanted = control[kGrowthUpdates];
    const bool grows = wanted > 0.0f && static_cast<float>(since) >= wanted && 2.0f * scale <= control[kLargestScale];
    return grows ? 2.0f * scale : scale;
}

// What a step does with its gradients, from parts[count] (f64), the sums of squares of the gradients of all
// microbatches together, scaled by scale[1] (f32). norm[1] (f32) is the norm of the mean gradient, not scaled; loss[1]
// (f32) the mean of losses[microbatches] (f32). A norm that is not finite means that some gradient is not: then nothing
// is applied, and the scale halves, down to 1. progress[4] (i32): updates done, updates skipped, updates since the scale
// changed or one was skipped, and whether this one is skipped. The order of all sums is fixed.
//
// Launch: one block of 256 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgStepControl(float* __restrict__ update, float* __restrict__ norm, float* __restrict__ loss,
                  int* __restrict__ progress, float* __restrict__ scale, const float* __restrict__ control,
                  const double* __restrict__ parts, const float* __restrict__ losses, int count, int microbatches) {
    __shared__ double scratch[kWarps];
    double squares = 0.0;
    for (long long part = threadIdx.x; part < count; part += kThreads) {
        squares += parts[part];
    }
    squares = block_sum<kThreads>(squares, scratch);
    double sum = 0.0;
    for (long long batch = threadIdx.x; batch < microbatches; batch += kThreads) {
        sum += losses[batch];
    }
    sum = block_sum<kThreads>(sum, scratch);
    if (threadIdx.x != 0) {
        return;
    }
    *loss = static_cast<float>(sum / microbatches);
    const float scaled_by = loss_scale(scale);
    const double mean = 1.0 / (static_cast<double>(scaled_by) * microbatches);
    const float found = static_cast<float>(sqrt(squares) * mean);
    *norm = found;
    const bool applied = isfinite(found);
    const bool adapts = control[kGrowthUpdates] > 0.0f;
    if (applied) {
        const int since = next_count(progress[kSinceChange]);
        const float grown = grown_scale(scaled_by, since, control);
        progress[kUpdates] = next_count(progress[kUpdates]);
        progress[kSinceChange] = grown == scaled_by ? since : 0;
        *scale = grown;
    } else {
        progress[kSkipped] = next_count(progress[kSkipped]);
        progress[kSinceChange] = 0;
        *scale = adapts && scaled_by > 1.0f ? fmaxf(0.5f * scaled_by, 1.0f) : scaled_by;
    }
    progress[kLastSkipped] = applied ? 0 : 1;
    const double largest = control[kLargestNorm];
    const double clip = largest > 0.0 ? fmin(1.0, largest / (found + 1e-6)) : 1.0;
    const double rate = control[kLearningRate];
    const int updates = progress[kUpdates];
    update[kFactor] = applied ? static_cast<float>(clip * mean) : 0.0f;
    update[kApplied] = applied ? 1.0f : 0.0f;
    update[kKept] = static_cast<float>(1.0 - rate * control[kDecay]);
    update[kStepSize] = static_cast<float>(rate / (1.0 - power(control[kBeta1], updates)));
    update[kRootCorrection] = static_cast<float>(sqrt(1.0 - power(control[kBeta2], updates)));
}

// AdamW: weight[n], moment1[n] and moment2[n] (f32) from gradient[n] (f32). With decays = 0 the weight does not decay.
// Nothing is written where the update is not applied.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAdamW(float* __restrict__ weight, float* __restrict__ moment1, float* __restrict__ moment2,
            const float* __restrict__ gradient, const float* __restrict__ control, const float* __restrict__ update, int n,
            int decays) {
    if (update[kApplied] == 0.0f) {
        return;
    }
    const float factor = update[kFactor];
    const float kept = decays == 0 ? 1.0f : update[kKept];
    const float step_size = update[kStepSize];
    const float root_correction = update[kRootCorrection];
    const float beta2 = control[kBeta2];
    const float rest1 = 1.0f - control[kBeta1];
    const float rest2 = 1.0f - beta2;
    const float epsilon = control[kEpsilon];
    const bool aligned =
        is_aligned(weight, 16) && is_aligned(moment1, 16) && is_aligned(moment2, 16) && is_aligned(gradient, 16);
    for_elements(n, aligned, [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        const Floats<kCount> slope = load<kCount>(gradient + first);
        Floats<kCount> mean = load<kCount>(moment1 + first);
        Floats<kCount> square_mean = load<kCount>(moment2 + first);
        values = load<kCount>(weight + first);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const float given = factor * slope.at[i];
            mean.at[i] += rest1 * (given - mean.at[i]);
            square_mean.at[i] = beta2 * square_mean.at[i] + rest2 * given * given;
            const float divisor = sqrtf(square_mean.at[i]) / root_correction + epsilon;
            values.at[i] = kept * values.at[i] - step_size * (mean.at[i] / divisor);
        }
        store(moment1 + first, mean);
        store(moment2 + first, square_mean);
        store(weight + first, values);
    });
}

// Plain descent: weight[n] (f32) -= learning rate * gradient[n] (f32). Nothing is written where the update is not
// applied.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgDescent(float* __restrict__ weight, const float* __restrict__ gradient, const float* __restrict__ control,
              const float* __restrict__ update, int n) {
    if (update[kApplied] == 0.0f) {
        return;
    }
    const float factor = update[kFactor];
    const float rate = control[kLearningRate];
    for_elements(n, is_aligned(weight, 16) && is_aligned(gradient, 16), [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        const Floats<kCount> slope = load<kCount>(gradient + first);
        values = load<kCount>(weight + first);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values.at[i] -= rate * (factor * slope.at[i]);
        }
        store(weight + first, values);
    });
}

// The GELU behind a bias, and the gradients of its input and of the bias. erf chooses the form: 0 tanh, 1 erf; see
// gelu.cuh.
#include "elementwise.cuh"
#include "gelu.cuh"

template <typename Activation>
CG_DEVICE void activate(Half* outHalf, const float* in, const float* bias, int rows, int n, Activation gelu) {
    const long long count = static_cast<long long>(rows) * n;
    // Four elements of a row have four neighbouring biases only where rows are made of fours.
    const bool aligned =
        n % kThreadElements == 0 && is_aligned(outHalf, 8) && is_aligned(in, 16) && is_aligned(bias, 16);
    for_elements(count, aligned, [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        values = load<kCount>(in + first);
        const Floats<kCount> offset = load<kCount>(bias + first % n);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values.at[i] = gelu(values.at[i] + offset.at[i]);
        }
        store(outHalf + first, values);
    });
}

// outHalf[rows, n] (half) = gelu(in[rows, n] + bias[n]); in and bias are f32.
//
// Launch, tails and alignment over the rows * n elements: see elementwise.cuh.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgBiasGelu(Half* __restrict__ outHalf, const float* __restrict__ in, const float* __restrict__ bias, int rows,
               int n, int erf) {
    if (erf) {
        activate(outHalf, in, bias, rows, n, [](float x) { return erf_gelu(x); });
    } else {
        activate(outHalf, in, bias, rows, n, [](float x) { return tanh_gelu(x); });
    }
}

#ifdef CG_SUM_ROWS
// One column, `count` rows down; the planes begin at its first element.
template <typename Slope>
CG_DEVICE float differentiate(Half* inGradientHalf, const float* dy, const float* in, float offset, int count, int n,
                              Slope slope) {
    float sum = 0.0f;
#pragma unroll 4
    for (int row = 0; row < count; ++row) {
        const size_t at = static_cast<size_t>(row) * n;
        const float gradient = dy[at] * slope(in[at] + offset);
        sum += gradient;
        inGradientHalf[at] = to_half(gradient);
    }
    return sum;
}

// inGradientHalf[rows, n] (half) = dy[rows, n] * gelu'(in[rows, n] + bias[n]); biasParts[blocks, n] (f32) = the sums of
// the same, before it is rounded, over each block of CG_SUM_ROWS rows, the first row first. The inputs are f32.
//
// Launch: blocks of 256 threads; x over 256 columns, one for each thread, y over the blocks of rows, of which the last
// may have fewer.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgBiasGeluBackward(Half* __restrict__ inGradientHalf, float* __restrict__ biasParts, const float* __restrict__ dy,
                       const float* __restrict__ in, const float* __restrict__ bias, int rows, int n, int erf) {
    const long long column = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    const long long first = static_cast<long long>(blockIdx.y) * CG_SUM_ROWS;
    if (column >= n) {
        return;
    }
    const int count = static_cast<int>(min(static_cast<long long>(CG_SUM_ROWS), rows - first));
    const long long at = first * n + column;
    const float offset = bias[column];
    const float sum = erf ? differentiate(inGradientHalf + at, dy + at, in + at, offset, count, n,
                                          [](float x) { return erf_gelu_slope(x); })
                          : differentiate(inGradientHalf + at, dy + at, in + at, offset, count, n,
                                          [](float x) { return tanh_gelu_slope(x); });
    biasParts[static_cast<size_t>(blockIdx.y) * n + column] = sum;
}
#endif

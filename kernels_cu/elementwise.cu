// Element-wise sums, products and casts over n elements. Launch, tails and alignment: see elementwise.cuh.
#include "elementwise.cuh"

// out[i] = operation(a[i], b[i]); out may be a or b, because an element is read and written by one thread.
template <typename Operation>
CG_DEVICE void binary(float* out, const float* a, const float* b, int n, Operation operation) {
    const bool aligned = is_aligned(out, 16) && is_aligned(a, 16) && is_aligned(b, 16);
    for_elements(n, aligned, [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        const Floats<kCount> left = load<kCount>(a + first);
        const Floats<kCount> right = load<kCount>(b + first);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values.at[i] = operation(left.at[i], right.at[i]);
        }
        store(out + first, values);
    });
}

// out[n] = a[n] + b[n], all f32; out may be a or b.
extern "C" __global__ void __launch_bounds__(kThreads) cgAdd(float* out, const float* a, const float* b, int n) {
    binary(out, a, b, n, [](float left, float right) { return left + right; });
}

// out[n] = a[n] * b[n], all f32; out may be a or b.
extern "C" __global__ void __launch_bounds__(kThreads) cgMultiply(float* out, const float* a, const float* b, int n) {
    binary(out, a, b, n, [](float left, float right) { return left * right; });
}

// out[n] (half) = in[n] (f32), rounded to nearest even, beyond half's range to infinity.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgCastDown(Half* __restrict__ out, const float* __restrict__ in, int n) {
    for_elements(n, is_aligned(out, 8) && is_aligned(in, 16), [&](long long first, auto values) {
        constexpr int kCount = sizeof(values.at) / sizeof(float);
        store(out + first, load<kCount>(in + first));
    });
}

// The gated GELU in its tanh form, and its gradient, over n elements. Launch, tails and alignment: see elementwise.cuh;
// the formulas: see gelu.cuh.
#include "elementwise.cuh"
#include "gelu.cuh"

// gelu[n] (f32) = gelu(gate[n]); gatedHalf[n] (half) = gelu(gate[n]) * up[n]; up and gate are f32.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgGatedGelu(float* __restrict__ gelu, Half* __restrict__ gatedHalf, const float* __restrict__ up,
                const float* __restrict__ gate, int n) {
    const bool aligned = is_aligned(gelu, 16) && is_aligned(gatedHalf, 8) && is_aligned(up, 16) && is_aligned(gate, 16);
    for_elements(n, aligned, [&](long long first, auto activated) {
        constexpr int kCount = sizeof(activated.at) / sizeof(float);
        const Floats<kCount> x = load<kCount>(gate + first);
        const Floats<kCount> factor = load<kCount>(up + first);
        Floats<kCount> gated;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            activated.at[i] = tanh_gelu(x.at[i]);
            gated.at[i] = activated.at[i] * factor.at[i];
        }
        store(gelu + first, activated);
        store(gatedHalf + first, gated);
    });
}

// upGradientHalf[n] (half) = dGated[n] * gelu[n]; gateGradientHalf[n] (half) = dGated[n] * up[n] * gelu'(gate[n]); the
// inputs are f32.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgGatedGeluBackward(Half* __restrict__ upGradientHalf, Half* __restrict__ gateGradientHalf,
                        const float* __restrict__ dGated, const float* __restrict__ gelu, const float* __restrict__ up,
                        const float* __restrict__ gate, int n) {
    const bool aligned = is_aligned(upGradientHalf, 8) && is_aligned(gateGradientHalf, 8) && is_aligned(dGated, 16) &&
                         is_aligned(gelu, 16) && is_aligned(up, 16) && is_aligned(gate, 16);
    for_elements(n, aligned, [&](long long first, auto upGradient) {
        constexpr int kCount = sizeof(upGradient.at) / sizeof(float);
        const Floats<kCount> upstream = load<kCount>(dGated + first);
        const Floats<kCount> activated = load<kCount>(gelu + first);
        const Floats<kCount> factor = load<kCount>(up + first);
        const Floats<kCount> input = load<kCount>(gate + first);
        Floats<kCount> gateGradient;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            upGradient.at[i] = upstream.at[i] * activated.at[i];
            gateGradient.at[i] = upstream.at[i] * (factor.at[i] * tanh_gelu_slope(input.at[i]));
        }
        store(upGradientHalf + first, upGradient);
        store(gateGradientHalf + first, gateGradient);
    });
}

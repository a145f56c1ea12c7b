// The gated GELU and its gradient over n elements. Launch, tails and alignment: see elementwise.cuh.
//
// gelu(x) = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), is written as x s with s = 1 / (1 + 2^-p) and
// p = x (kLinear + kCubic x^2) = 2 u log2(e): the same function, with one exponential and no difference of nearly equal
// numbers. Where 2^-p overflows, s is 0, the right limit; nothing becomes NaN for a finite x.
#include "elementwise.cuh"

constexpr float kLinear = 2.302208198f;   // 2 sqrt(2/pi) log2(e)
constexpr float kCubic = 0.1029432396f;   // 0.044715 kLinear
constexpr float kLinearE = 1.595769122f;  // 2 sqrt(2/pi): kLinear ln 2, for the derivative
constexpr float kCubicE = 0.2140644489f;  // 3 * 0.044715 kLinearE
// Beyond this s is 0 or 1 in f32, and the derivative does not change any more.
constexpr float kSaturated = 32.0f;

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
            const float power = x.at[i] * (-kLinear - kCubic * (x.at[i] * x.at[i]));
            activated.at[i] = x.at[i] / (1.0f + exp2f(power));
            gated.at[i] = activated.at[i] * factor.at[i];
        }
        store(gelu + first, activated);
        store(gatedHalf + first, gated);
    });
}

// upGradientHalf[n] (half) = dGated[n] * gelu[n]; gateGradientHalf[n] (half) = dGated[n] * up[n] * gelu'(gate[n]) with
// gelu'(x) = s (1 + x (1 - s) (kLinearE + kCubicE x^2)); the inputs are f32.
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
            const float x = fminf(fmaxf(input.at[i], -kSaturated), kSaturated);
            const float square = x * x;
            const float sigmoid = 1.0f / (1.0f + exp2f(x * (-kLinear - kCubic * square)));
            const float slope = sigmoid * (1.0f + x * (1.0f - sigmoid) * (kLinearE + kCubicE * square));
            upGradient.at[i] = upstream.at[i] * activated.at[i];
            gateGradient.at[i] = upstream.at[i] * (factor.at[i] * slope);
        }
        store(upGradientHalf + first, upGradient);
        store(gateGradientHalf + first, gateGradient);
    });
}

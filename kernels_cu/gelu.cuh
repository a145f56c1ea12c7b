// Both forms of the GELU and their derivatives, in f32.
//
// tanh: gelu(x) = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), is written as x s with s = 1 / (1 + 2^-p) and
// p = x (kLinear + kCubic x^2) = 2 u log2(e): the same function, with one exponential and no difference of nearly equal
// numbers. Where 2^-p overflows, s is 0, the right limit; nothing becomes NaN for a finite x.
//
// erf: gelu(x) = x Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2 the normal distribution.
#pragma once

#include "common.cuh"

constexpr float kLinear = 2.302208198f;   // 2 sqrt(2/pi) log2(e)
constexpr float kCubic = 0.1029432396f;   // 0.044715 kLinear
constexpr float kLinearE = 1.595769122f;  // 2 sqrt(2/pi): kLinear ln 2, for the derivative
constexpr float kCubicE = 0.2140644489f;  // 3 * 0.044715 kLinearE
// Beyond this s is 0 or 1 in f32, and the derivative does not change any more.
constexpr float kSaturated = 32.0f;

constexpr float kHalfLog2E = 0.7213475204f;   // log2(e) / 2
constexpr float kDensityAt0 = 0.3989422804f;  // 1 / sqrt(2 pi)

CG_DEVICE float tanh_gelu(float x) {
    return x / (1.0f + exp2f(x * (-kLinear - kCubic * (x * x))));
}

// s (1 + x (1 - s) (kLinearE + kCubicE x^2)).
CG_DEVICE float tanh_gelu_slope(float input) {
    // Comparisons, unlike fminf, keep NaN.
    const float below = input > kSaturated ? kSaturated : input;
    const float x = below < -kSaturated ? -kSaturated : below;
    const float square = x * x;
    const float sigmoid = 1.0f / (1.0f + exp2f(x * (-kLinear - kCubic * square)));
    return sigmoid * (1.0f + x * (1.0f - sigmoid) * (kLinearE + kCubicE * square));
}

CG_DEVICE float erf_gelu(float x) {
    return x * normcdff(x);
}

// Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi).
CG_DEVICE float erf_gelu_slope(float x) {
    return normcdff(x) + x * (kDensityAt0 * exp2f(-kHalfLog2E * x * x));
}

// What all kernels share: the half type that a build chooses, vector accesses and sums over warps and blocks.
//
// The compiler defines CG_HALF: 1 for f16, 2 for bf16. Half planes are widened when they are read, rounded to nearest
// even once when they are written, and everything in between is f32. Nothing here needs a header of CUDA's.
#pragma once

#if !defined(CG_HALF) || (CG_HALF != 1 && CG_HALF != 2)
#error "CG_HALF must be 1 (f16) or 2 (bf16)"
#endif

#define CG_DEVICE static __device__ __forceinline__

constexpr int kWarpLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// One element of a half plane.
struct Half {
    unsigned short bits;
};

CG_DEVICE float to_float(Half value) {
#if CG_HALF == 1
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
#else
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
#endif
}

CG_DEVICE Half to_half(float value) {
    Half narrow;
#if CG_HALF == 1
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#else
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#endif
    return narrow;
}

// Two halves in one register, the first in the lower 16 bits, as memory and the tensor cores have them.
CG_DEVICE unsigned pack_halves(float first, float second) {
    unsigned packed;
#if CG_HALF == 1
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
#endif
    return packed;
}

CG_DEVICE bool is_aligned(const void* pointer, unsigned bytes) {
    return reinterpret_cast<unsigned long long>(pointer) % bytes == 0;
}

// kCount floats, 1 or 4, that lie side by side; four of them are read and written in one access of 16 bytes (8 for
// halves), so the address must be aligned to that.
template <int kCount>
struct Floats {
    float at[kCount];
};

template <int kCount>
CG_DEVICE Floats<kCount> load(const float* from) {
    if constexpr (kCount == 4) {
        const float4 four = *reinterpret_cast<const float4*>(from);
        return {four.x, four.y, four.z, four.w};
    } else {
        return {*from};
    }
}

template <int kCount>
CG_DEVICE void store(float* to, Floats<kCount> values) {
    if constexpr (kCount == 4) {
        *reinterpret_cast<float4*>(to) = make_float4(values.at[0], values.at[1], values.at[2], values.at[3]);
    } else {
        *to = values.at[0];
    }
}

template <int kCount>
CG_DEVICE void store(Half* to, Floats<kCount> values) {
    if constexpr (kCount == 4) {
        *reinterpret_cast<uint2*>(to) =
            make_uint2(pack_halves(values.at[0], values.at[1]), pack_halves(values.at[2], values.at[3]));
    } else {
        *to = to_half(values.at[0]);
    }
}

// The sum over a warp, the same in every lane. The order of additions is fixed.
template <typename Value>
CG_DEVICE Value warp_sum(Value value) {
#pragma unroll
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kAllLanes, value, distance);
    }
    return value;
}

// The sum over a block of kThreads, the same in every thread. `scratch` holds a value for each warp; it may be used
// again at once. All threads must call it.
template <int kThreads, typename Value>
CG_DEVICE Value block_sum(Value value, Value* scratch) {
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % kWarpLanes == 0) {
        scratch[threadIdx.x / kWarpLanes] = value;
    }
    __syncthreads();
    Value sum = 0;
#pragma unroll
    for (int warp = 0; warp < kThreads / kWarpLanes; ++warp) {
        sum += scratch[warp];
    }
    return sum;
}

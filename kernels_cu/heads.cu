// Layouts of any number of heads: tokens [seq, heads, headWidth], heads [heads, seq, headWidth], transposed heads
// [heads, headWidth, seq]. Any sizes from 1 on, any alignment.
#include "common.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpLanes;
// Tokens of a block, and channels that pass through shared memory at once.
constexpr int kSide = 32;

// out[heads, seq, headWidth] (half) = in[seq, heads, headWidth] (f32), and outT[heads, headWidth, seq] (half) the same,
// transposed per head; each where it is not null.
//
// Launch: blocks of 256 threads; x over tiles of 32 tokens, y the head. Reads and writes are runs of 32 elements.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgHeadsFromTokens(Half* __restrict__ out, Half* __restrict__ outT, const float* __restrict__ in, int seq, int heads,
                      int headWidth) {
    // Two halves of padding put the elements of a column into different banks.
    __shared__ Half tile[kSide][kSide + 2];
    const int lane = threadIdx.x % kWarpLanes;
    const int warp = threadIdx.x / kWarpLanes;
    const size_t head = blockIdx.y;
    const long long first = static_cast<long long>(blockIdx.x) * kSide;
    for (long long channel = 0; channel < headWidth; channel += kSide) {
#pragma unroll
        for (int y = warp; y < kSide; y += kWarps) {
            const long long token = first + y;
            if (token < seq && channel + lane < headWidth) {
                const Half value = to_half(in[(token * heads + head) * headWidth + channel + lane]);
                tile[y][lane] = value;
                if (out != nullptr) {
                    out[(head * seq + token) * headWidth + channel + lane] = value;
                }
            }
        }
        if (outT != nullptr) {
            __syncthreads();
#pragma unroll
            for (int y = warp; y < kSide; y += kWarps) {
                if (channel + y < headWidth && first + lane < seq) {
                    outT[(head * headWidth + channel + y) * seq + first + lane] = tile[lane][y];
                }
            }
            __syncthreads();
        }
    }
}

template <int kCount>
CG_DEVICE void move_rows(Half* to, const float* from, size_t stride, int count, int headWidth) {
    const size_t items = static_cast<size_t>(count) * headWidth / kCount;
    for (size_t item = threadIdx.x; item < items; item += kThreads) {
        const size_t at = item * kCount;
        store(to + at / headWidth * stride + at % headWidth, load<kCount>(from + at));
    }
}

// outHalf[seq, heads, headWidth] (half) = in[heads, seq, headWidth] (f32).
//
// Launch: blocks of 256 threads; x over tiles of 32 tokens, y the head. Four channels at a time where headWidth and
// both planes allow it.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgTokensFromHeads(Half* __restrict__ outHalf, const float* __restrict__ in, int seq, int heads, int headWidth) {
    const size_t head = blockIdx.y;
    const long long first = static_cast<long long>(blockIdx.x) * kSide;
    if (first >= seq) {
        return;
    }
    const int count = static_cast<int>(min(static_cast<long long>(kSide), seq - first));
    const size_t stride = static_cast<size_t>(heads) * headWidth;
    Half* to = outHalf + first * stride + head * headWidth;
    const float* from = in + (head * seq + first) * headWidth;
    if (headWidth % 4 == 0 && is_aligned(outHalf, 8) && is_aligned(in, 16)) {
        move_rows<4>(to, from, stride, count, headWidth);
    } else {
        move_rows<1>(to, from, stride, count, headWidth);
    }
}

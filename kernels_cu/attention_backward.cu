// The gradient of streaming attention in three launches: row sums, then gradients of keys and values by blocks of keys,
// and gradients of queries by blocks of queries. See attention_gradients.cuh for the last two.
#include "common.cuh"

// rowDot[heads, seq] (f32) = the sums over the channels of mergedHalf[seq, heads, headWidth] (half) times
// contextGradient[heads, seq, headWidth] (half).
//
// Launch: blocks of 128 threads; x over tiles of 4 rows, one for each warp, y the head.
extern "C" __global__ void __launch_bounds__(128)
    cgAttentionRowDot(float* __restrict__ rowDot, const Half* __restrict__ mergedHalf,
                      const Half* __restrict__ contextGradient, int seq, int heads, int headWidth) {
    const int head = blockIdx.y;
    const long long row = static_cast<long long>(blockIdx.x) * 4 + threadIdx.x / kWarpLanes;
    if (row >= seq) {
        return;
    }
    const Half* context = mergedHalf + (row * heads + head) * headWidth;
    const Half* gradient = contextGradient + (static_cast<size_t>(head) * seq + row) * headWidth;
    float sum = 0.0f;
    for (int channel = threadIdx.x % kWarpLanes; channel < headWidth; channel += kWarpLanes) {
        sum += to_float(context[channel]) * to_float(gradient[channel]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % kWarpLanes == 0) {
        rowDot[static_cast<size_t>(head) * seq + row] = sum;
    }
}

#if defined(CG_HEAD_WIDTH) && defined(CG_ATTENTION_BACKWARD_BYTES)
#include "attention_gradients.cuh"

// keysGradient and valuesGradient[heads, seq, headWidth] (f32) from queries, keys, values and contextGradient (half, of
// the same shape), statistics and rowDot[heads, seq] (f32): PT * contextGradient, and dST * queries / sqrt(headWidth).
// queriesT and contextGradientT are not read: transposing costs nothing when fragments are loaded.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: blocks of 128 threads with CG_ATTENTION_BACKWARD_BYTES of
// shared memory; x over tiles of 64 keys, y the head. Queries before the diagonal are skipped.
extern "C" __global__ void __launch_bounds__(kThreads, kKeysBlocks)
    cgAttentionBackwardKeys(float* __restrict__ keysGradient, float* __restrict__ valuesGradient,
                            const Half* __restrict__ queries, const Half* __restrict__ keys,
                            const Half* __restrict__ values, const Half* __restrict__ contextGradient,
                            const Half* __restrict__ queriesT, const Half* __restrict__ contextGradientT,
                            const float* __restrict__ statistics, const float* __restrict__ rowDot, int seq, int heads,
                            int headWidth, int causal) {
    differentiate_keys<false>(keysGradient, valuesGradient, queries, keys, values, contextGradient, statistics, rowDot,
                              seq, headWidth, causal, {});
}

// queriesGradient[heads, seq, headWidth] (f32) = dS * keys / sqrt(headWidth); inputs as for cgAttentionBackwardKeys.
// keysT is not read: transposing costs nothing when fragments are loaded.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: as above, a block owning queries. Keys behind the diagonal
// are skipped; blocks with the most keys come first.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAttentionBackwardQueries(float* __restrict__ queriesGradient, const Half* __restrict__ queries,
                               const Half* __restrict__ keys, const Half* __restrict__ values,
                               const Half* __restrict__ contextGradient, const Half* __restrict__ keysT,
                               const float* __restrict__ statistics, const float* __restrict__ rowDot, int seq,
                               int heads, int headWidth, int causal) {
    differentiate_queries<false>(queriesGradient, queries, keys, values, contextGradient, statistics, rowDot, seq,
                                 headWidth, causal, {});
}
#endif

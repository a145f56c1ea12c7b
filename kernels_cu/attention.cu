// Streaming attention, forward: softmax(queries * keysT / sqrt(headWidth)) * values per head, with the softmax formed
// while the keys pass by. See attention.cuh for sizes and rounding.
#if defined(CG_HEAD_WIDTH) && defined(CG_ATTENTION_ROWS)
#include "attention_forward.cuh"

// mergedHalf[seq, heads, headWidth] (half) = each head's output; statistics[heads, seq] (f32) = the logarithm of each
// row's sum of exponentials of scaled scores. queries, keys[heads, seq, headWidth] and valuesT[heads, headWidth, seq]
// are half. With causal = 1 a query sees the keys up to its own place, with 0 all.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: blocks of 128 threads; x over tiles of CG_ATTENTION_ROWS
// queries, y the head. Tiles of keys beyond the diagonal are skipped; blocks with the most keys come first.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAttention(Half* __restrict__ mergedHalf, float* __restrict__ statistics, const Half* __restrict__ queries,
                const Half* __restrict__ keys, const Half* __restrict__ valuesT, int seq, int heads, int headWidth,
                int causal) {
    attend<false>(mergedHalf, statistics, queries, keys, valuesT, seq, heads, headWidth, causal, {});
}
#endif

// Streaming attention, forward, over padded sequences: as attention.cu, but keys of tokens that are not there are seen
// by no query.
#if defined(CG_HEAD_WIDTH) && defined(CG_ATTENTION_ROWS)
#include "attention_forward.cuh"

// mergedHalf[seq, batch * heads, headWidth] (half) = each head's output; statistics[batch * heads, seq] (f32) = the
// logarithm of each row's sum of exponentials of scaled scores. queries, keys[batch * heads, seq, headWidth] and
// valuesT[batch * heads, headWidth, seq] are half; the heads of sequence b begin at b * heads. Keys where
// present[seq, batch] (i32) is 0 are not seen; with causal = 1 a query sees the others up to its own place, with 0 all.
// A query that sees no key has the output 0 and statistics 0.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: blocks of 128 threads; x over tiles of CG_ATTENTION_ROWS
// queries, y the head of all sequences.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAttentionPadded(Half* __restrict__ mergedHalf, float* __restrict__ statistics, const Half* __restrict__ queries,
                      const Half* __restrict__ keys, const Half* __restrict__ valuesT, const int* __restrict__ present,
                      int seq, int batch, int heads, int headWidth, int causal) {
    attend<true>(mergedHalf, statistics, queries, keys, valuesT, seq, batch * heads, headWidth, causal,
                 presence_of(present, batch, heads));
}
#endif

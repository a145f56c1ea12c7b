// The gradient of streaming attention over padded sequences: as attention_backward.cu, whose cgAttentionRowDot serves
// here too, but keys of tokens that are not there are seen by no query. Their own gradients are 0, and so are all
// gradients of a query that sees no key. See attention_gradients.cuh.
#if defined(CG_HEAD_WIDTH) && defined(CG_ATTENTION_BACKWARD_BYTES)
#include "attention_gradients.cuh"

// keysGradient and valuesGradient[batch * heads, seq, headWidth] (f32) from queries, keys, values and contextGradient
// (half, of the same shape), statistics and rowDot[batch * heads, seq] (f32); the heads of sequence b begin at b *
// heads. Keys where present[seq, batch] (i32) is 0 are not seen. queriesT and contextGradientT are not read:
// transposing costs nothing when fragments are loaded.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: blocks of 128 threads with CG_ATTENTION_BACKWARD_BYTES of
// shared memory; x over tiles of 64 keys, y the head of all sequences. Queries before the diagonal are skipped.
extern "C" __global__ void __launch_bounds__(kThreads, kKeysBlocks)
    cgAttentionPaddedBackwardKeys(float* __restrict__ keysGradient, float* __restrict__ valuesGradient,
                                  const Half* __restrict__ queries, const Half* __restrict__ keys,
                                  const Half* __restrict__ values, const Half* __restrict__ contextGradient,
                                  const Half* __restrict__ queriesT, const Half* __restrict__ contextGradientT,
                                  const float* __restrict__ statistics, const float* __restrict__ rowDot,
                                  const int* __restrict__ present, int seq, int batch, int heads, int headWidth,
                                  int causal) {
    differentiate_keys<true>(keysGradient, valuesGradient, queries, keys, values, contextGradient, statistics, rowDot,
                             seq, headWidth, causal, presence_of(present, batch, heads));
}

// queriesGradient[batch * heads, seq, headWidth] (f32) = dS * keys / sqrt(headWidth); inputs as for
// cgAttentionPaddedBackwardKeys. keysT is not read: transposing costs nothing when fragments are loaded.
//
// Any seq from 1 on, headWidth up to CG_HEAD_WIDTH. Launch: as above, a block owning queries. Keys behind the diagonal
// are skipped; blocks with the most keys come first.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgAttentionPaddedBackwardQueries(float* __restrict__ queriesGradient, const Half* __restrict__ queries,
                                     const Half* __restrict__ keys, const Half* __restrict__ values,
                                     const Half* __restrict__ contextGradient, const Half* __restrict__ keysT,
                                     const float* __restrict__ statistics, const float* __restrict__ rowDot,
                                     const int* __restrict__ present, int seq, int batch, int heads, int headWidth,
                                     int causal) {
    differentiate_queries<true>(queriesGradient, queries, keys, values, contextGradient, statistics, rowDot, seq,
                                headWidth, causal, presence_of(present, batch, heads));
}
#endif

// RoPE in the halves layout: channel c of the first half of a head turns with channel c of the second half, at position
// p by the angle p * base^(-2c / headWidth). CG_HEAD_WIDTH is even.
#include "common.cuh"

#ifdef CG_HEAD_WIDTH
constexpr int kPairs = CG_HEAD_WIDTH / 2;

// sin and cos of `turns` whole turns, for |turns| <= 1/8: Taylor's series, whose first missing terms are below 2^-53.
CG_DEVICE void small_angle(double turns, double* sine, double* cosine) {
    const double angle = turns * 6.283185307179586;
    const double square = angle * angle;
    double odd = 1.0;
    double even = 1.0;
#pragma unroll
    for (int i = 8; i > 0; --i) {
        odd = 1.0 - square * odd / ((2 * i) * (2 * i + 1));
        even = 1.0 - square * even / ((2 * i - 1) * (2 * i));
    }
    *sine = angle * odd;
    *cosine = even;
}

// cosine[rows, headWidth / 2] and sine[rows, headWidth / 2] (f32) of each position's angles.
//
// Angles are counted in turns and computed in f64, so that whole turns drop out exactly and the result is rounded once
// for any position. Launch: a block of 64 threads for each position.
extern "C" __global__ void __launch_bounds__(64)
    cgRopeTable(float* __restrict__ cosine, float* __restrict__ sine, int rows, float base) {
    const int position = blockIdx.x;
    if (position >= rows) {
        return;
    }
    for (int pair = threadIdx.x; pair < kPairs; pair += 64) {
        const double frequency = exp2(-2.0 * pair / CG_HEAD_WIDTH * log2(static_cast<double>(base)));
        const double turns = position * frequency * 0.15915494309189535;
        const double quarters = rint(4.0 * turns);
        double s;
        double c;
        small_angle(turns - 0.25 * quarters, &s, &c);
        const int quarter = static_cast<int>(static_cast<long long>(quarters) & 3);
        const double turned_sine = quarter % 2 == 0 ? s : c;
        const double turned_cosine = quarter % 2 == 0 ? c : s;
        const size_t at = static_cast<size_t>(position) * kPairs + pair;
        sine[at] = static_cast<float>(quarter >= 2 ? -turned_sine : turned_sine);
        cosine[at] = static_cast<float>(quarter == 1 || quarter == 2 ? -turned_cosine : turned_cosine);
    }
}

#ifdef CG_HEADS
constexpr int kThreads = 256;
constexpr int kWidth = CG_HEADS * CG_HEAD_WIDTH;

// One tile of 32 tokens of one head. Token t of the sequence is row t * batch + sequence of qkv, and `head` counts the
// heads of a sequence; those of all sequences lie one behind the other in queries, keys and valuesT.
CG_DEVICE void turn_tile(Half* __restrict__ queries, Half* __restrict__ keys, Half* __restrict__ valuesT,
                         const float* __restrict__ qkv, const float* __restrict__ cosine,
                         const float* __restrict__ sine, int rows, size_t batch, size_t sequence, size_t head) {
    constexpr int kTokens = 32;
    // Two halves of padding put the elements of a column into different banks.
    __shared__ Half values[kTokens][CG_HEAD_WIDTH + 2];
    const size_t out_head = sequence * CG_HEADS + head;
    const long long first = static_cast<long long>(blockIdx.x) * kTokens;
    const int count = static_cast<int>(min(static_cast<long long>(kTokens), rows - first));
    for (int item = threadIdx.x; item < count * kPairs; item += kThreads) {
        const size_t token = first + item / kPairs;
        const int pair = item % kPairs;
        const float c = cosine[token * kPairs + pair];
        const float s = sine[token * kPairs + pair];
        const float* from = qkv + (token * batch + sequence) * 3 * kWidth + head * CG_HEAD_WIDTH + pair;
        const size_t to = (out_head * rows + token) * CG_HEAD_WIDTH + pair;
        const float query = from[0];
        const float query_partner = from[kPairs];
        queries[to] = to_half(query * c - query_partner * s);
        queries[to + kPairs] = to_half(query_partner * c + query * s);
        const float key = from[kWidth];
        const float key_partner = from[kWidth + kPairs];
        keys[to] = to_half(key * c - key_partner * s);
        keys[to + kPairs] = to_half(key_partner * c + key * s);
        values[item / kPairs][pair] = to_half(from[2 * kWidth]);
        values[item / kPairs][pair + kPairs] = to_half(from[2 * kWidth + kPairs]);
    }
    __syncthreads();
    for (int item = threadIdx.x; item < kTokens * CG_HEAD_WIDTH; item += kThreads) {
        const int token = item % kTokens;
        const size_t channel = item / kTokens;
        if (token < count) {
            valuesT[(out_head * CG_HEAD_WIDTH + channel) * rows + first + token] = values[token][channel];
        }
    }
}

// The gradients of one token: row token * batch + sequence of qkvGradientHalf, from the heads of that sequence.
CG_DEVICE void turn_back(Half* __restrict__ qkvGradientHalf, const float* __restrict__ queriesGradient,
                         const float* __restrict__ keysGradient, const float* __restrict__ cosine,
                         const float* __restrict__ sine, const float* __restrict__ valuesGradient, size_t seq,
                         size_t batch, size_t sequence, size_t token) {
    for (int item = threadIdx.x; item < CG_HEADS * kPairs; item += kThreads) {
        const size_t head = item / kPairs;
        const int pair = item % kPairs;
        const float c = cosine[token * kPairs + pair];
        const float s = sine[token * kPairs + pair];
        const size_t from = ((sequence * CG_HEADS + head) * seq + token) * CG_HEAD_WIDTH + pair;
        Half* to = qkvGradientHalf + (token * batch + sequence) * 3 * kWidth + head * CG_HEAD_WIDTH + pair;
        const float query = queriesGradient[from];
        const float query_partner = queriesGradient[from + kPairs];
        to[0] = to_half(query * c + query_partner * s);
        to[kPairs] = to_half(query_partner * c - query * s);
        const float key = keysGradient[from];
        const float key_partner = keysGradient[from + kPairs];
        to[kWidth] = to_half(key * c + key_partner * s);
        to[kWidth + kPairs] = to_half(key_partner * c - key * s);
        to[2 * kWidth] = to_half(valuesGradient[from]);
        to[2 * kWidth + kPairs] = to_half(valuesGradient[from + kPairs]);
    }
}

// queries[heads, rows, headWidth] and keys (half) = the turned parts 0 and 1 of qkv[rows, 3, heads * headWidth] (f32);
// valuesT[heads, headWidth, rows] (half) = part 2, transposed per head. cosine and sine as cgRopeTable leaves them.
//
// Launch: blocks of 256 threads; x over tiles of 32 tokens, y the head. A tile of values passes through shared memory,
// so that both its reads and its writes are runs of at least 32 elements.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgRope(Half* __restrict__ queries, Half* __restrict__ keys, Half* __restrict__ valuesT,
           const float* __restrict__ qkv, const float* __restrict__ cosine, const float* __restrict__ sine, int rows) {
    turn_tile(queries, keys, valuesT, qkv, cosine, sine, rows, 1, 0, blockIdx.y);
}

// The same for a batch of sequences: qkv[seq, batch, 3, heads * headWidth], each position's angle in all sequences;
// queries[batch * heads, seq, headWidth], keys and valuesT, sequence b has the heads from b * heads on.
//
// Launch: blocks of 256 threads; x over tiles of 32 positions, y over the heads of all sequences.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgBatchRope(Half* __restrict__ queries, Half* __restrict__ keys, Half* __restrict__ valuesT,
                const float* __restrict__ qkv, const float* __restrict__ cosine, const float* __restrict__ sine,
                int seq, int batch) {
    turn_tile(queries, keys, valuesT, qkv, cosine, sine, seq, batch, blockIdx.y / CG_HEADS, blockIdx.y % CG_HEADS);
}

// qkvGradientHalf[seq, 3, heads * headWidth] (half) = the gradients of queries and keys, turned back, and that of
// values, each [heads, seq, headWidth] (f32).
//
// Launch: a block of 256 threads for each token, so the grid's x is seq.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgInverseRope(Half* __restrict__ qkvGradientHalf, const float* __restrict__ queriesGradient,
                  const float* __restrict__ keysGradient, const float* __restrict__ cosine,
                  const float* __restrict__ sine, const float* __restrict__ valuesGradient) {
    turn_back(qkvGradientHalf, queriesGradient, keysGradient, cosine, sine, valuesGradient, gridDim.x, 1, 0,
              blockIdx.x);
}

// The same for a batch of sequences: qkvGradientHalf[seq, batch, 3, heads * headWidth] from gradients
// [batch * heads, seq, headWidth].
//
// Launch: a block of 256 threads for each of the seq * batch tokens.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgBatchInverseRope(Half* __restrict__ qkvGradientHalf, const float* __restrict__ queriesGradient,
                       const float* __restrict__ keysGradient, const float* __restrict__ cosine,
                       const float* __restrict__ sine, const float* __restrict__ valuesGradient, int seq, int batch) {
    turn_back(qkvGradientHalf, queriesGradient, keysGradient, cosine, sine, valuesGradient, seq, batch,
              blockIdx.x % batch, blockIdx.x / batch);
}
#endif
#endif

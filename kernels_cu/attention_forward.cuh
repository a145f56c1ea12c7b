// The forward pass of streaming attention over full and over padded sequences. See attention.cuh for sizes and
// rounding.
//
// CG_ATTENTION_ROWS, 64 or 128, is how many queries a block owns.
#pragma once

#include "attention.cuh"

constexpr int kRows = CG_ATTENTION_ROWS;
constexpr int kRowFragments = kRows / (kWarps * 16);
// With two fragments of rows of wide heads, fewer keys at a time keep all sums in registers.
constexpr int kKeys = kRowFragments == 2 ? 32 : 64;
constexpr int kKeyFragments = kKeys / 8;
constexpr int kKeyWords = kKeys / kWarpLanes;
static_assert(kRows == 64 || kRows == 128, "a block owns 64 or 128 queries");

// The softmax of two rows (group and group + 8) of a warp's fragment so far, each row spread over four lanes.
struct Softmax {
    float largest[2];  // score, not scaled
    float sum[2];      // of this lane's columns
};

// Hides the scores of keys that a query may not see: later ones, those that do not exist and, with kPadded, those whose
// bit in `present` is 0, where this lane's first column is the lowest bit of each word.
template <bool kPadded>
CG_DEVICE void mask_scores(Sums (&scores)[kKeyFragments], int query, int key, int seq, bool causal,
                           const unsigned (&present)[kKeyWords]) {
    const int lane = threadIdx.x % kWarpLanes;
#pragma unroll
    for (int x = 0; x < kKeyFragments; ++x) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = query + i / 2 * 8 + lane / 4;
            const int column = key + x * 8 + lane % 4 * 2 + i % 2;
            bool hidden = causal && column > row;
            if constexpr (kPadded) {
                hidden |= !has_bit(present[x / 4], x % 4 * 8 + i % 2);
            } else {
                hidden |= column >= seq;
            }
            if (hidden) {
                scores[x].at[i] = -infinity();
            }
        }
    }
}

// Turns scores into powers 2^(scale * (score - largest)), and brings the sums of earlier keys to the new largest score.
CG_DEVICE void exponentiate(Sums (&scores)[kKeyFragments], Softmax& softmax, Sums (&context)[kChannelFragments],
                            float scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float largest = softmax.largest[half];
#pragma unroll
        for (int x = 0; x < kKeyFragments; ++x) {
            largest = fmaxf(largest, fmaxf(scores[x].at[2 * half], scores[x].at[2 * half + 1]));
        }
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 2));
        // A row that has seen no key yet must not compute infinity minus infinity.
        const float base = largest == -infinity() ? 0.0f : largest * scale;
        const float correction = exp2_approximately(softmax.largest[half] * scale - base);
        softmax.largest[half] = largest;
        float sum = softmax.sum[half] * correction;
#pragma unroll
        for (int x = 0; x < kKeyFragments; ++x) {
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
                scores[x].at[i] = exp2_approximately(scores[x].at[i] * scale - base);
                sum += scores[x].at[i];
            }
        }
        softmax.sum[half] = sum;
#pragma unroll
        for (int x = 0; x < kChannelFragments; ++x) {
            context[x].at[2 * half] *= correction;
            context[x].at[2 * half + 1] *= correction;
        }
    }
}

// A block's queries: what cgAttention and cgAttentionPadded say. With kPadded, only keys that are there are seen.
template <bool kPadded>
CG_DEVICE void attend(Half* mergedHalf, float* statistics, const Half* queries, const Half* keys, const Half* valuesT,
                      int seq, int heads, int headWidth, int causal, Presence presence) {
    using QueryTile = Tile<kRows, kWidth>;
    using KeyTile = Tile<kKeys, kWidth>;
    using ValueTile = Tile<kWidth, kKeys>;
    __shared__ __align__(128) unsigned char memory[QueryTile::kBytes + KeyTile::kBytes + ValueTile::kBytes];
    const QueryTile query_tile{shared_address(memory)};
    const KeyTile key_tile{query_tile.address + QueryTile::kBytes};
    const ValueTile value_tile{key_tile.address + KeyTile::kBytes};

    const int head = blockIdx.y;
    const int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
    const int seen = causal ? min(seq, first_query + kRows) : seq;
    const int steps = (seen + kKeys - 1) / kKeys;
    const int warp_row = threadIdx.x / kWarpLanes * kRowFragments * 16;
    const float scale = kLog2E * rsqrtf(static_cast<float>(headWidth));
    const Matrix key_rows = head_rows(keys, head, seq, headWidth);
    const Matrix value_rows =
        matrix_of(valuesT + static_cast<size_t>(head) * headWidth * seq, headWidth, seq, seq);

    fill<kThreads>(query_tile, head_rows(queries, head, seq, headWidth), first_query, 0);
    fill<kThreads>(key_tile, key_rows, 0, 0);
    commit_copies();
    fill<kThreads>(value_tile, value_rows, 0, 0);
    commit_copies();

    Sums context[kRowFragments][kChannelFragments] = {};
    Softmax softmax[kRowFragments];
#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
        softmax[y] = {{-infinity(), -infinity()}, {0.0f, 0.0f}};
    }
    // Keys of the next step are copied while this step's powers and values are worked on, and values while the next
    // step's scores are; so one tile for each is enough.
    for (int step = 0; step < steps; ++step) {
        const int key = step * kKeys;
        Sums scores[kRowFragments][kKeyFragments];
        wait_copies<1>();
        __syncthreads();
        // Read early, so that it has come when the scores are masked; a lane looks at one key of each word.
        bool there[kKeyWords] = {};
        if constexpr (kPadded) {
#pragma unroll
            for (int word = 0; word < kKeyWords; ++word) {
                there[word] = presence.has(key + word * kWarpLanes + threadIdx.x % kWarpLanes, seq);
            }
        }
        multiply_rows(scores, query_tile, warp_row, key_tile);
        __syncthreads();
        if (step + 1 < steps) {
            fill<kThreads>(key_tile, key_rows, key + kKeys, 0);
        }
        commit_copies();
        unsigned present[kKeyWords];
#pragma unroll
        for (int word = 0; word < kKeyWords; ++word) {
            present[word] = __ballot_sync(kAllLanes, there[word]) >> threadIdx.x % 4 * 2;
        }
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
            const int query = first_query + warp_row + y * 16;
            if (kPadded || key + kKeys > seq || (causal && key + kKeys > query + 1)) {
                mask_scores<kPadded>(scores[y], query, key, seq, causal, present);
            }
            exponentiate(scores[y], softmax[y], context[y], scale);
        }
        wait_copies<1>();
        __syncthreads();
        multiply_weights<true>(context, scores, value_tile);
        __syncthreads();
        if (step + 1 < steps) {
            fill<kThreads>(value_tile, value_rows, 0, key + kKeys);
        }
        commit_copies();
    }

    const int lane = threadIdx.x % kWarpLanes;
#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
        const int query = first_query + warp_row + y * 16;
        float factors[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum = softmax[y].sum[half];
            sum += __shfl_xor_sync(kAllLanes, sum, 1);
            sum += __shfl_xor_sync(kAllLanes, sum, 2);
            factors[half] = sum > 0.0f ? 1.0f / sum : 0.0f;
            const int row = query + half * 8 + lane / 4;
            if (lane % 4 == 0 && row < seq) {
                // Only where keys may be absent can a query see none.
                const bool blind = kPadded && sum == 0.0f;
                statistics[static_cast<size_t>(head) * seq + row] =
                    blind ? 0.0f : kLn2 * (softmax[y].largest[half] * scale + log2f(sum));
            }
        }
        store_rows(mergedHalf + static_cast<size_t>(head) * headWidth, static_cast<size_t>(heads) * headWidth, query,
                   seq, headWidth, context[y], factors[0], factors[1]);
    }
}

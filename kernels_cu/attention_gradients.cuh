// The gradient of streaming attention over full and over padded sequences: gradients of keys and values by blocks of
// keys, and gradients of queries by blocks of queries. See attention.cuh for sizes and rounding.
//
// The probabilities are formed again from the statistics, P = exp(scaled score - statistics), and with them
// dS = P * (contextGradient * valuesT - rowDot). Each row of a result is summed by one warp from the first step to the
// last, so nothing depends on the order of blocks. With padding, a query that sees no key has statistics 0, and each of
// its probabilities is 0 because its key is hidden.
//
// CG_ATTENTION_BACKWARD_BYTES is the declared shared memory of a block.
#pragma once

#include "attention.cuh"

// Rows that a block owns, and rows that pass by in one step.
constexpr int kRows = 64;
constexpr int kStepRows = 32;
constexpr int kStepFragments = kStepRows / 8;
constexpr int kRowFragments = kRows / (kWarps * 16);

// Blocks of the keys' kernels that one multiprocessor shall hold: 65,536 registers leave a thread of three blocks 168,
// which heads of more than 80 channels exceed, and of two blocks 255.
constexpr int kKeysBlocks = kWidth > 80 ? 2 : 3;

using OwnTile = Tile<kRows, kWidth>;
using StepTile = Tile<kStepRows, kWidth>;
constexpr int kOwnBytes = 2 * OwnTile::kBytes;
constexpr int kStepBytes = 2 * StepTile::kBytes;
static_assert(kOwnBytes + 2 * kStepBytes <= CG_ATTENTION_BACKWARD_BYTES, "the tiles fit the declared shared memory");

// Two planes' rows that the block owns, and of two others the rows of this step and of the next.
struct Tiles {
    unsigned memory;

    __device__ __forceinline__ OwnTile own(int which) const {
        return {memory + which * OwnTile::kBytes};
    }
    __device__ __forceinline__ StepTile step(int number, int which) const {
        return {memory + kOwnBytes + number % 2 * kStepBytes + which * StepTile::kBytes};
    }
};

CG_DEVICE Tiles shared_tiles() {
    extern __shared__ __align__(128) unsigned char memory[];
    return {shared_address(memory)};
}

// A block's keys: what cgAttentionBackwardKeys and cgAttentionPaddedBackwardKeys say.
template <bool kPadded>
CG_DEVICE void differentiate_keys(float* keysGradient, float* valuesGradient, const Half* queries, const Half* keys,
                                  const Half* values, const Half* contextGradient, const float* statistics,
                                  const float* rowDot, int seq, int headWidth, int causal, Presence presence) {
    // Statistics (in base 2) and row sums of the queries of this step and of the next.
    __shared__ float row_facts[2][2][kStepRows];
    const Tiles tiles = shared_tiles();
    const int head = blockIdx.y;
    const int first_key = static_cast<int>(blockIdx.x) * kRows;
    const int first_step = causal ? first_key / kStepRows : 0;
    const int steps = (seq + kStepRows - 1) / kStepRows;
    const int lane = threadIdx.x % kWarpLanes;
    const int warp_row = threadIdx.x / kWarpLanes * kRowFragments * 16;
    const float factor = rsqrtf(static_cast<float>(headWidth));
    const size_t head_row = static_cast<size_t>(head) * seq;
    const Matrix query_rows = head_rows(queries, head, seq, headWidth);
    const Matrix gradient_rows = head_rows(contextGradient, head, seq, headWidth);

    const auto fill_step = [&](int step) {
        if (step < steps) {
            fill<kThreads>(tiles.step(step, 0), query_rows, step * kStepRows, 0);
            fill<kThreads>(tiles.step(step, 1), gradient_rows, step * kStepRows, 0);
            if (threadIdx.x < kStepRows) {
                const int query = step * kStepRows + static_cast<int>(threadIdx.x);
                // Queries that do not exist have no probabilities.
                row_facts[step % 2][0][threadIdx.x] = query < seq ? kLog2E * statistics[head_row + query] : infinity();
                row_facts[step % 2][1][threadIdx.x] = query < seq ? rowDot[head_row + query] : 0.0f;
            }
        }
        commit_copies();
    };

    // Whether this thread's keys, in fragment y those of rows group and group + 8, are hidden from all queries.
    bool absent[kRowFragments][2] = {};
    if constexpr (kPadded) {
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int key = first_key + warp_row + y * 16 + half * 8 + lane / 4;
                absent[y][half] = !presence.has(key, seq);
            }
        }
    }
    fill<kThreads>(tiles.own(0), head_rows(keys, head, seq, headWidth), first_key, 0);
    fill<kThreads>(tiles.own(1), head_rows(values, head, seq, headWidth), first_key, 0);
    fill_step(first_step);
    Sums key_sums[kRowFragments][kChannelFragments] = {};
    Sums value_sums[kRowFragments][kChannelFragments] = {};
    for (int step = first_step; step < steps; ++step) {
        wait_copies<0>();
        // All see this step's tiles, and all have read those that are filled next.
        __syncthreads();
        fill_step(step + 1);
        const float(&facts)[2][kStepRows] = row_facts[step % 2];
        const bool crosses = causal && step * kStepRows < first_key + kRows;

        Sums weights[kRowFragments][kStepFragments];
        multiply_rows(weights, tiles.own(0), warp_row, tiles.step(step, 0));
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
            for (int x = 0; x < kStepFragments; ++x) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int column = x * 8 + lane % 4 * 2 + i % 2;
                    const float power = weights[y][x].at[i] * (factor * kLog2E) - facts[0][column];
                    const int key = first_key + warp_row + y * 16 + i / 2 * 8 + lane / 4;
                    bool hidden = crosses && key > step * kStepRows + column;
                    if constexpr (kPadded) {
                        hidden |= absent[y][i / 2];
                    }
                    weights[y][x].at[i] = hidden ? 0.0f : exp2_approximately(power);
                }
            }
        }
        multiply_weights<false>(value_sums, weights, tiles.step(step, 1));

        Sums gradients[kRowFragments][kStepFragments];
        multiply_rows(gradients, tiles.own(1), warp_row, tiles.step(step, 1));
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
            for (int x = 0; x < kStepFragments; ++x) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int column = x * 8 + lane % 4 * 2 + i % 2;
                    gradients[y][x].at[i] = weights[y][x].at[i] * (gradients[y][x].at[i] - facts[1][column]);
                }
            }
        }
        multiply_weights<false>(key_sums, gradients, tiles.step(step, 0));
    }

#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
        const int row = first_key + warp_row + y * 16;
        store_rows(keysGradient + head_row * headWidth, headWidth, row, seq, headWidth, key_sums[y], factor, factor);
        store_rows(valuesGradient + head_row * headWidth, headWidth, row, seq, headWidth, value_sums[y], 1.0f, 1.0f);
    }
}

// A block's queries: what cgAttentionBackwardQueries and cgAttentionPaddedBackwardQueries say.
template <bool kPadded>
CG_DEVICE void differentiate_queries(float* queriesGradient, const Half* queries, const Half* keys, const Half* values,
                                     const Half* contextGradient, const float* statistics, const float* rowDot,
                                     int seq, int headWidth, int causal, Presence presence) {
    // Bits of the keys that are there, of this step and of the next. In registers they would be the few too many.
    __shared__ unsigned present_words[2];
    static_assert(kStepRows == kWarpLanes, "a warp finds the keys of a step");
    const Tiles tiles = shared_tiles();
    const int head = blockIdx.y;
    const int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
    const int seen = causal ? min(seq, first_query + kRows) : seq;
    const int steps = (seen + kStepRows - 1) / kStepRows;
    const int lane = threadIdx.x % kWarpLanes;
    const int warp_row = threadIdx.x / kWarpLanes * kRowFragments * 16;
    const float factor = rsqrtf(static_cast<float>(headWidth));
    const size_t head_row = static_cast<size_t>(head) * seq;
    const Matrix key_rows = head_rows(keys, head, seq, headWidth);
    const Matrix value_rows = head_rows(values, head, seq, headWidth);

    const auto fill_step = [&](int step) {
        if (step < steps) {
            fill<kThreads>(tiles.step(step, 0), key_rows, step * kStepRows, 0);
            fill<kThreads>(tiles.step(step, 1), value_rows, step * kStepRows, 0);
            if (kPadded && threadIdx.x < kWarpLanes) {
                const bool there = presence.has(step * kStepRows + static_cast<int>(threadIdx.x), seq);
                const unsigned bits = __ballot_sync(kAllLanes, there);
                if (threadIdx.x == 0) {
                    present_words[step % 2] = bits;
                }
            }
        }
        commit_copies();
    };

    fill<kThreads>(tiles.own(0), head_rows(queries, head, seq, headWidth), first_query, 0);
    fill<kThreads>(tiles.own(1), head_rows(contextGradient, head, seq, headWidth), first_query, 0);
    fill_step(0);
    float logarithms[kRowFragments][2];  // statistics in base 2
    float dots[kRowFragments][2];
#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int query = first_query + warp_row + y * 16 + half * 8 + lane / 4;
            logarithms[y][half] = query < seq ? kLog2E * statistics[head_row + query] : infinity();
            dots[y][half] = query < seq ? rowDot[head_row + query] : 0.0f;
        }
    }
    Sums query_sums[kRowFragments][kChannelFragments] = {};
    for (int step = 0; step < steps; ++step) {
        wait_copies<0>();
        // All see this step's tiles, and all have read those that are filled next.
        __syncthreads();
        fill_step(step + 1);
        const int key = step * kStepRows;
        // The lane's first column is the lowest bit, so that all columns are fixed bits.
        const unsigned present = kPadded ? present_words[step % 2] >> lane % 4 * 2 : kAllLanes;
        const bool crosses = kPadded || key + kStepRows > seq || (causal && key + kStepRows > first_query + 1);

        Sums weights[kRowFragments][kStepFragments];
        Sums gradients[kRowFragments][kStepFragments];
        multiply_rows(weights, tiles.own(0), warp_row, tiles.step(step, 0));
        multiply_rows(gradients, tiles.own(1), warp_row, tiles.step(step, 1));
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
            for (int x = 0; x < kStepFragments; ++x) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int column = key + x * 8 + lane % 4 * 2 + i % 2;
                    const int query = first_query + warp_row + y * 16 + i / 2 * 8 + lane / 4;
                    const bool missing = kPadded ? !has_bit(present, x * 8 + i % 2) : column >= seq;
                    const bool hidden = crosses && (missing || (causal && column > query));
                    const float power = weights[y][x].at[i] * (factor * kLog2E) - logarithms[y][i / 2];
                    const float weight = hidden ? 0.0f : exp2_approximately(power);
                    gradients[y][x].at[i] = weight * (gradients[y][x].at[i] - dots[y][i / 2]);
                }
            }
        }
        multiply_weights<false>(query_sums, gradients, tiles.step(step, 0));
    }

#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
        store_rows(queriesGradient + head_row * headWidth, headWidth, first_query + warp_row + y * 16, seq, headWidth,
                   query_sums[y], factor, factor);
    }
}

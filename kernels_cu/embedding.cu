// The embedding of a token, alone or with that of its position, and the gradients of both tables without atomics:
// whoever owns a row of a table adds up all that belongs to it, in the order of the tokens. All planes are f32, ids i32.
#include "common.cuh"

template <int kThreads>
CG_DEVICE void fill_with_nan(float* out, int width) {
    for (int channel = threadIdx.x; channel < width; channel += kThreads) {
        out[channel] = __int_as_float(0x7fffffff);
    }
}

template <int kThreads, int kCount>
CG_DEVICE void add_rows(float* out, const float* token, const float* position, int width) {
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        const Floats<kCount> offset = load<kCount>(position + channel);
        Floats<kCount> sum = load<kCount>(token + channel);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            sum.at[i] += offset.at[i];
        }
        store(out + channel, sum);
    }
}

// out[seq, batch, width] = tokens[ids[seq, batch], width] + positions[position, width], tokens[vocab, width] and
// positions[longest, width], seq <= longest; NaN where the id is no row of tokens.
//
// Launch: a block of 256 threads for each of the seq * batch tokens. Rows are read four channels at a time where width
// and all planes allow it.
extern "C" __global__ void __launch_bounds__(256)
    cgEmbedding(float* __restrict__ out, const int* __restrict__ ids, const float* __restrict__ tokens,
                const float* __restrict__ positions, int seq, int batch, int width, int vocab, int longest) {
    const size_t row = blockIdx.x;
    if (row >= static_cast<size_t>(seq) * batch) {
        return;
    }
    const int id = ids[row];
    float* to = out + row * width;
    if (id < 0 || id >= vocab) {
        fill_with_nan<256>(to, width);
        return;
    }
    const float* token = tokens + static_cast<size_t>(id) * width;
    const float* position = positions + row / batch * width;
    if (width % 4 == 0 && is_aligned(out, 16) && is_aligned(tokens, 16) && is_aligned(positions, 16)) {
        add_rows<256, 4>(to, token, position, width);
    } else {
        add_rows<256, 1>(to, token, position, width);
    }
}

template <int kThreads, int kCount>
CG_DEVICE void copy_rows(float* out, const float* token, int width) {
    for (int channel = threadIdx.x * kCount; channel < width; channel += kThreads * kCount) {
        store(out + channel, load<kCount>(token + channel));
    }
}

// out[rows, width] = tokens[ids[rows], width], tokens[vocab, width]; NaN where the id is no row of tokens.
//
// Launch: a block of 256 threads for each of the rows. Rows are read four channels at a time where width and both
// planes allow it.
extern "C" __global__ void __launch_bounds__(256)
    cgTokenEmbedding(float* __restrict__ out, const int* __restrict__ ids, const float* __restrict__ tokens, int rows,
                     int width, int vocab) {
    const size_t row = blockIdx.x;
    if (row >= static_cast<size_t>(rows)) {
        return;
    }
    const int id = ids[row];
    float* to = out + row * width;
    if (id < 0 || id >= vocab) {
        fill_with_nan<256>(to, width);
        return;
    }
    const float* token = tokens + static_cast<size_t>(id) * width;
    if (width % 4 == 0 && is_aligned(out, 16) && is_aligned(tokens, 16)) {
        copy_rows<256, 4>(to, token, width);
    } else {
        copy_rows<256, 1>(to, token, width);
    }
}

#ifdef CG_EMBEDDING_ROWS
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpLanes;
constexpr int kOwnRows = CG_EMBEDDING_ROWS;
// Ids that a block looks at in one step: a word of bits for each lane of a warp.
constexpr int kStepIds = kWarpLanes * kWarpLanes;
constexpr int kThreadIds = kStepIds / kThreads;

// The rows of the table that a block owns: kAdding adds to what is there and leaves blocks without a token as they are.
// Every block walks all ids and gathers the places of its own in their order; its sums stay in shared memory, a column
// for each thread.
template <bool kAdding>
CG_DEVICE void gather_tokens(float* __restrict__ tokensGradient, const int* __restrict__ ids,
                             const float* __restrict__ dy, int rows, int width, int vocab) {
    __shared__ float sums[kOwnRows][kThreads];
    // Bits of the ids that belong to the block, of this step and of the next; then the step's places and rows, packed.
    __shared__ unsigned words[2][kWarpLanes];
    __shared__ int found[kStepIds];
    const int lane = threadIdx.x % kWarpLanes;
    const int warp = threadIdx.x / kWarpLanes;
    const long long first = static_cast<long long>(blockIdx.x) * kOwnRows;
    const long long channel = static_cast<long long>(blockIdx.y) * kThreads + threadIdx.x;
    const unsigned own = static_cast<unsigned>(min(static_cast<long long>(kOwnRows), vocab - first));
#pragma unroll
    for (int row = 0; row < kOwnRows; ++row) {
        sums[row][threadIdx.x] = 0.0f;
    }
    bool any = false;  // the same in every thread: what is found is found by the block
    int buffer = 0;
    for (long long start = 0; start < rows; start += kStepIds, buffer ^= 1) {
        unsigned within[kThreadIds];  // the id's row of the block, or more than it has
#pragma unroll
        for (int i = 0; i < kThreadIds; ++i) {
            const int word = i * kWarps + warp;
            const long long row = start + word * kWarpLanes + lane;
            within[i] = row < rows ? static_cast<unsigned>(ids[row]) - static_cast<unsigned>(first) : own;
            const unsigned bits = __ballot_sync(kAllLanes, within[i] < own);
            if (lane == 0) {
                words[buffer][word] = bits;
            }
        }
        __syncthreads();
        // Each lane learns how many are found up to its word.
        int before = __popc(words[buffer][lane]);
#pragma unroll
        for (int distance = 1; distance < kWarpLanes; distance *= 2) {
            const int earlier = __shfl_up_sync(kAllLanes, before, distance);
            before += lane >= distance ? earlier : 0;
        }
        const int count = __shfl_sync(kAllLanes, before, kWarpLanes - 1);
        if (count == 0) {
            continue;
        }
        any = true;
        before -= __popc(words[buffer][lane]);
#pragma unroll
        for (int i = 0; i < kThreadIds; ++i) {
            const int word = i * kWarps + warp;
            const int place = __shfl_sync(kAllLanes, before, word);
            if (within[i] < own) {
                const unsigned lower = words[buffer][word] & ((1u << lane) - 1);
                found[place + __popc(lower)] = static_cast<int>(within[i]) * kStepIds + word * kWarpLanes + lane;
            }
        }
        __syncthreads();
        if (channel < width) {
            const float* from = dy + start * width + channel;
#pragma unroll 4
            for (int i = 0; i < count; ++i) {
                const int place = found[i];
                sums[place / kStepIds][threadIdx.x] += from[static_cast<size_t>(place % kStepIds) * width];
            }
        }
    }
    if (channel >= width || (kAdding && !any)) {
        return;
    }
    for (unsigned row = 0; row < own; ++row) {
        float* to = tokensGradient + (first + row) * width + channel;
        *to = kAdding ? *to + sums[row][threadIdx.x] : sums[row][threadIdx.x];
    }
}

// tokensGradient[vocab, width] = for each token the sum of dy[rows, width] over the rows with its id in ids[rows], the
// first row first; 0 for a token that does not occur. Ids outside the table add to nothing.
//
// Launch: blocks of 128 threads; x over tiles of CG_EMBEDDING_ROWS rows of the table, y over tiles of 128 channels, one
// for each thread.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgEmbeddingTokens(float* __restrict__ tokensGradient, const int* __restrict__ ids, const float* __restrict__ dy,
                      int rows, int width, int vocab) {
    gather_tokens<false>(tokensGradient, ids, dy, rows, width, vocab);
}

// tokensGradient[vocab, width] += the same sums, each formed before it is added: the gradient of a table that has
// another use. Launch: as cgEmbeddingTokens.
extern "C" __global__ void __launch_bounds__(kThreads)
    cgEmbeddingTokensAdding(float* __restrict__ tokensGradient, const int* __restrict__ ids,
                            const float* __restrict__ dy, int rows, int width, int vocab) {
    gather_tokens<true>(tokensGradient, ids, dy, rows, width, vocab);
}
#endif

// positionsGradient[longest, width] = the sums of dy[seq, batch, width] over the batch, the first sequence first; 0
// for positions from seq on.
//
// Launch: blocks of 128 threads; x the position, y over tiles of 128 channels, one for each thread.
extern "C" __global__ void __launch_bounds__(128)
    cgEmbeddingPositions(float* __restrict__ positionsGradient, const float* __restrict__ dy, int seq, int batch,
                         int width, int longest) {
    const size_t position = blockIdx.x;
    const long long channel = static_cast<long long>(blockIdx.y) * 128 + threadIdx.x;
    if (channel >= width || position >= longest) {
        return;
    }
    float sum = 0.0f;
    if (position < seq) {
        const float* from = dy + position * batch * width + channel;
#pragma unroll 4
        for (int sequence = 0; sequence < batch; ++sequence) {
            sum += from[static_cast<size_t>(sequence) * width];
        }
    }
    positionsGradient[position * width + channel] = sum;
}

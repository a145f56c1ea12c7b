// What the attention kernels share: sizes, base-2 softmax, and how a block's rows are stored.
//
// CG_HEAD_WIDTH, 1 to 128, is the widest head; narrower heads are filled up with zero channels. A block has four warps
// and owns 64 or 128 rows (queries or keys), of which each warp owns one or two fragments of 16.
//
// Probabilities and their gradients are rounded to half where they are operands of a product, as every operand of
// tensor cores is; all sums, exponentials and statistics are f32. Source of the scheme: Dao, "FlashAttention-2" (2023).
#pragma once

#include "tile.cuh"

static_assert(CG_HEAD_WIDTH >= 1 && CG_HEAD_WIDTH <= 128, "attention kernels hold heads of at most 128 channels");

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpLanes;
// Channels of a head in tiles, filled up to whole fragments.
constexpr int kWidth = (CG_HEAD_WIDTH + 15) / 16 * 16;
constexpr int kChannelFragments = kWidth / 8;

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

CG_DEVICE float infinity() {
    return __int_as_float(0x7f800000);
}

// 2^x to within 2^-22; numbers below the normal range become 0.
CG_DEVICE float exp2_approximately(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// The rows of one head in a plane [heads, seq, headWidth].
CG_DEVICE Matrix head_rows(const Half* plane, int head, int seq, int headWidth) {
    return matrix_of(plane + static_cast<size_t>(head) * seq * headWidth, seq, headWidth, headWidth);
}

// Which tokens of a block's sequence are there: those that are not 0. They lie `stride` elements apart.
struct Presence {
    const int* tokens;
    size_t stride;

    // Tokens from seq on are not there.
    __device__ __forceinline__ bool has(int token, int seq) const {
        return token < seq && tokens[token * stride] != 0;
    }
};

// The presence of the sequence that the block's head, blockIdx.y, belongs to, in a plane[seq, batch].
CG_DEVICE Presence presence_of(const int* present, int batch, int heads) {
    return {present + blockIdx.y / heads, static_cast<size_t>(batch)};
}

CG_DEVICE bool has_bit(unsigned bits, int place) {
    return (bits >> place & 1) != 0;
}

// sums[rows, columns] = a warp's rows of `left`, from `row` on, times all rows of `right`, transposed.
template <int kRowFragments, int kColumnFragments, int kLeftRows, int kRightRows>
CG_DEVICE void multiply_rows(Sums (&sums)[kRowFragments][kColumnFragments], Tile<kLeftRows, kWidth> left, int row,
                             Tile<kRightRows, kWidth> right) {
    static_assert(kRightRows == kColumnFragments * 8, "the sums have a column for each row of right");
#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
        for (int x = 0; x < kColumnFragments; ++x) {
            sums[y][x] = {};
        }
    }
    // Not more at once: their addresses would take the registers of a wide head's sums.
#pragma unroll 4
    for (int channel = 0; channel < kWidth; channel += 16) {
        LeftFragment lefts[kRowFragments];
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
            lefts[y] = read_left<false>(left, row + y * 16, channel);
        }
#pragma unroll
        for (int x = 0; x < kColumnFragments; x += 2) {
            const uint4 rights = read_right<false>(right, x * 8, channel);
#pragma unroll
            for (int y = 0; y < kRowFragments; ++y) {
                multiply_add(sums[y][x], lefts[y], rights.x, rights.y);
                multiply_add(sums[y][x + 1], lefts[y], rights.z, rights.w);
            }
        }
    }
}

// sums[rows, channels] += weights[rows, inner], rounded to half, times a tile[inner, channels], or, kTransposed, a
// tile[channels, inner].
template <bool kTransposed, int kRowFragments, int kInnerFragments, typename RightTile>
CG_DEVICE void multiply_weights(Sums (&sums)[kRowFragments][kChannelFragments],
                                const Sums (&weights)[kRowFragments][kInnerFragments], RightTile right) {
#pragma unroll
    for (int inner = 0; inner < kInnerFragments; inner += 2) {
        LeftFragment lefts[kRowFragments];
#pragma unroll
        for (int y = 0; y < kRowFragments; ++y) {
            lefts[y] = as_left(weights[y][inner], weights[y][inner + 1]);
        }
#pragma unroll
        for (int x = 0; x < kChannelFragments; x += 2) {
            const uint4 rights = read_right<!kTransposed>(right, x * 8, inner * 8);
#pragma unroll
            for (int y = 0; y < kRowFragments; ++y) {
                multiply_add(sums[y][x], lefts[y], rights.x, rights.y);
                multiply_add(sums[y][x + 1], lefts[y], rights.z, rights.w);
            }
        }
    }
}

// Stores two neighbouring channels of a row, as far as the head has them.
CG_DEVICE void store_pair(float* row, int channel, int headWidth, float first, float second) {
    if (headWidth % 2 == 0 && is_aligned(row, 8)) {
        if (channel < headWidth) {
            *reinterpret_cast<float2*>(row + channel) = make_float2(first, second);
        }
        return;
    }
    if (channel < headWidth) {
        row[channel] = first;
    }
    if (channel + 1 < headWidth) {
        row[channel + 1] = second;
    }
}

CG_DEVICE void store_pair(Half* row, int channel, int headWidth, float first, float second) {
    if (headWidth % 2 == 0 && is_aligned(row, 4)) {
        if (channel < headWidth) {
            *reinterpret_cast<unsigned*>(row + channel) = pack_halves(first, second);
        }
        return;
    }
    if (channel < headWidth) {
        row[channel] = to_half(first);
    }
    if (channel + 1 < headWidth) {
        row[channel + 1] = to_half(second);
    }
}

// A warp's 16 rows of sums times a factor, rows from `row` on, to a plane[seq, headWidth] whose rows lie `stride`
// apart.
template <typename Element>
CG_DEVICE void store_rows(Element* plane, size_t stride, int row, int seq, int headWidth,
                          const Sums (&sums)[kChannelFragments], float upper_factor, float lower_factor) {
    const int lane = threadIdx.x % kWarpLanes;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int at = row + half * 8 + lane / 4;
        const float factor = half == 0 ? upper_factor : lower_factor;
        if (at < seq) {
#pragma unroll
            for (int x = 0; x < kChannelFragments; ++x) {
                store_pair(plane + at * stride, x * 8 + lane % 4 * 2, headWidth, sums[x].at[2 * half] * factor,
                           sums[x].at[2 * half + 1] * factor);
            }
        }
    }
}

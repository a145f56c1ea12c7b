// Tiles of halves in shared memory: filled from planes of any size and alignment, read as fragments of tensor cores.
#pragma once

#include "tensor.cuh"

// Elements of 16 bytes, the unit of copies and of swizzling.
constexpr int kChunkElements = 8;

// kRows rows of kColumns halves. Where a row's chunks are a power of two from 4 on, they are swizzled: chunk c of row r
// lies at c ^ f(r). Else rows lie an odd number of chunks apart. Either way, the eight rows that ldmatrix reads at once
// lie in different banks.
template <int kRows, int kColumns>
struct Tile {
    static_assert(kColumns % 16 == 0, "a row is made of whole fragments");
    static constexpr int kChunks = kColumns / kChunkElements;
    static constexpr bool kSwizzled = kChunks >= 4 && (kChunks & (kChunks - 1)) == 0;
    static constexpr int kPitchBytes = (kSwizzled ? kChunks : kChunks + 1) * 16;
    static constexpr int kBytes = kRows * kPitchBytes;

    unsigned address;  // in shared memory, aligned to 16 bytes

    static __device__ __forceinline__ unsigned offset(int row, int chunk) {
        if constexpr (kSwizzled) {
            // With four chunks two rows fill the banks once, so every other row shifts.
            chunk ^= kChunks == 4 ? row / 2 % 4 : row % 8;
        }
        return row * kPitchBytes + chunk * 16;
    }
};

CG_DEVICE unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// A matrix in a plane: rows lie `stride` elements apart.
struct Matrix {
    const Half* start;
    size_t stride;
    int rows;
    int columns;
    bool aligned;  // each row's start is aligned to 16 bytes
};

CG_DEVICE Matrix matrix_of(const Half* start, int rows, int columns, size_t stride) {
    return {start, stride, rows, columns, stride % kChunkElements == 0 && is_aligned(start, 16)};
}

// Where a chunk of a tile comes from: `valid` elements from `source` on, zeros behind them.
struct ChunkSource {
    const Half* source;
    int valid;
};

CG_DEVICE ChunkSource chunk_source(const Matrix& from, int row, int column) {
    const int valid = row < from.rows ? max(0, min(kChunkElements, from.columns - column)) : 0;
    return {valid > 0 ? from.start + row * from.stride + column : from.start, valid};
}

// Fills a tile with the matrix from (row, column) on, zeros beyond its ends. Aligned rows are copied asynchronously: the
// caller commits and waits. Others are copied element by element now; the caller's barrier serves both.
template <int kThreads, int kRows, int kColumns>
CG_DEVICE void fill(Tile<kRows, kColumns> tile, const Matrix& from, int row, int column) {
    constexpr int kChunks = Tile<kRows, kColumns>::kChunks;
    constexpr int kItems = kRows * kChunks;
    if (from.aligned) {
#pragma unroll
        for (int first = 0; first < kItems; first += kThreads) {
            const int item = first + static_cast<int>(threadIdx.x);
            if (kItems % kThreads == 0 || item < kItems) {
                const int y = item / kChunks;
                const int chunk = item % kChunks;
                const ChunkSource at = chunk_source(from, row + y, column + chunk * kChunkElements);
                copy_async(tile.address + tile.offset(y, chunk), at.source, at.valid * static_cast<int>(sizeof(Half)));
            }
        }
    } else {
#pragma unroll 1
        for (int item = threadIdx.x; item < kItems; item += kThreads) {
            const int y = item / kChunks;
            const int chunk = item % kChunks;
            const ChunkSource at = chunk_source(from, row + y, column + chunk * kChunkElements);
            unsigned pairs[kChunkElements / 2] = {};
#pragma unroll
            for (int i = 0; i < kChunkElements; ++i) {
                if (i < at.valid) {
                    pairs[i / 2] |= static_cast<unsigned>(at.source[i].bits) << (i % 2 * 16);
                }
            }
            store_shared(tile.address + tile.offset(y, chunk), make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]));
        }
    }
}

// 16 rows from `row` on by 16 columns from `column` on as four 8 by 8 matrices in the order of a left operand: upper
// left, lower left, upper right, lower right. Transposed, each matrix is; the order stays.
template <bool kTransposed, int kRows, int kColumns>
CG_DEVICE uint4 read_down(Tile<kRows, kColumns> tile, int row, int column) {
    const int lane = threadIdx.x % kWarpLanes;
    return load_matrices<kTransposed>(tile.address + tile.offset(row + lane % 16, column / kChunkElements + lane / 16));
}

// The same in the order upper left, upper right, lower left, lower right.
template <bool kTransposed, int kRows, int kColumns>
CG_DEVICE uint4 read_across(Tile<kRows, kColumns> tile, int row, int column) {
    const int lane = threadIdx.x % kWarpLanes;
    const int y = row + lane % 8 + lane / 16 * 8;
    return load_matrices<kTransposed>(tile.address + tile.offset(y, column / kChunkElements + lane / 8 % 2));
}

// A left operand of 16 rows by 16 channels from a tile[rows][channels], or, kTransposed, from a tile[channels][rows].
template <bool kTransposed, int kRows, int kColumns>
CG_DEVICE LeftFragment read_left(Tile<kRows, kColumns> tile, int row, int channel) {
    const uint4 four = kTransposed ? read_across<true>(tile, channel, row) : read_down<false>(tile, row, channel);
    return {{four.x, four.y, four.z, four.w}};
}

// Two right operands of 16 channels by 8 columns each, side by side, from a tile[columns][channels], or, kTransposed,
// from a tile[channels][columns]: x and y are the first operand's registers, z and w the second's.
template <bool kTransposed, int kRows, int kColumns>
CG_DEVICE uint4 read_right(Tile<kRows, kColumns> tile, int column, int channel) {
    return kTransposed ? read_down<true>(tile, channel, column) : read_across<false>(tile, column, channel);
}

// Layouts of heads: tokens [seq, heads * headWidth], heads [heads, seq, headWidth], transposed [heads, headWidth, seq].
#include "common.cuh"

#if defined(CG_HEADS) && defined(CG_HEAD_WIDTH)
// out[heads, seq, headWidth] (half) = in[seq, heads * headWidth] (f32), and outT[heads, headWidth, seq] (half) the same,
// transposed per head, where it is not null.
//
// Launch: a block of 256 threads for each token, so the grid's x is seq. Writes to outT lie seq elements apart; whoever
// wants it fast transposes out with cgHeadTranspose.
extern "C" __global__ void __launch_bounds__(256)
    cgTokenToHead(Half* __restrict__ out, Half* __restrict__ outT, const float* __restrict__ in) {
    constexpr int kWidth = CG_HEADS * CG_HEAD_WIDTH;
    const size_t seq = gridDim.x;
    const size_t token = blockIdx.x;
    for (int channel = threadIdx.x; channel < kWidth; channel += 256) {
        const Half value = to_half(in[token * kWidth + channel]);
        const size_t head = channel / CG_HEAD_WIDTH;
        const size_t within = channel % CG_HEAD_WIDTH;
        out[(head * seq + token) * CG_HEAD_WIDTH + within] = value;
        if (outT != nullptr) {
            outT[(head * CG_HEAD_WIDTH + within) * seq + token] = value;
        }
    }
}
#endif

// out[heads, columns, rows] = in[heads, rows, columns] transposed per head, half, any sizes from 1 on.
//
// Launch: blocks of 32 by 8 threads, one for each tile of 32 by 32: x over the columns, y over the rows, z the head.
extern "C" __global__ void __launch_bounds__(256)
    cgHeadTranspose(Half* __restrict__ out, const Half* __restrict__ in, int rows, int columns, int heads) {
    constexpr int kSide = 32;
    constexpr int kStep = 8;
    // Two halves of padding put the elements of a column into different banks.
    __shared__ Half tile[kSide][kSide + 2];
    const size_t matrix = static_cast<size_t>(blockIdx.z) * rows * columns;
    const int row = blockIdx.y * kSide;
    const int column = blockIdx.x * kSide;
    for (int y = threadIdx.y; y < kSide; y += kStep) {
        if (row + y < rows && column + threadIdx.x < columns) {
            tile[y][threadIdx.x] = in[matrix + static_cast<size_t>(row + y) * columns + column + threadIdx.x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kSide; y += kStep) {
        if (column + y < columns && row + threadIdx.x < rows) {
            out[matrix + static_cast<size_t>(column + y) * rows + row + threadIdx.x] = tile[threadIdx.x][y];
        }
    }
}

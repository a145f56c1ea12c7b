// Matrix products: halves in, sums and outputs in f32, on tensor cores.
//
// Any m, n and k from 1 on, any alignment: planes whose rows are aligned to 16 bytes are copied 16 bytes at a time, others
// element by element; beyond the ends of a plane tiles hold zeros, and nothing is stored there.
//
// Launch: blocks of 128 threads; `tile`, 64 or 128, is the side of a block's tile of out. x over the tiles of n, y over
// those of m. Small tiles fill a device with small products; large ones read every operand half as often. Where even
// those are too few, cgProductWeightParts shares k among blocks too, z over its parts, and cgProductWeightSum adds the
// parts up.
//
// A block's four warps own a quarter of the tile each and walk along k in steps; copies run two steps ahead. Every sum
// runs over k from its beginning to its end, or so in each part, so equal inputs give equal bits. Source of the scheme:
// CUTLASS, "Efficient GEMM in CUDA" (multistage pipelines, swizzled shared memory, rasterisation in groups).
#include "tile.cuh"

constexpr int kThreads = 128;
constexpr int kStages = 3;
// Bytes of one stage: both operands' tiles, 64 by 64 or 128 by 32 halves each.
constexpr int kStageBytes = 16384;
// Tiles are walked in groups of this many rows of tiles, so that blocks which run at once share their operands' rows.
constexpr int kGroupRows = 8;

struct Product {
    float* out;
    const float* addend;  // may be out; null for none
    int m;
    int n;
    int k;
};

// The tile of out that this block owns, in tiles.
CG_DEVICE int2 block_tile() {
    const unsigned number = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned group_tiles = kGroupRows * gridDim.x;
    const unsigned first = number / group_tiles * kGroupRows;
    const unsigned rows = min(gridDim.y - first, static_cast<unsigned>(kGroupRows));
    const unsigned within = number % group_tiles;
    return make_int2(within / rows, first + within % rows);
}

// One tile of out = left * right, where left is [m, k], or [k, m] if kLeftTransposed, and right is [n, k], or [k, n] if
// kRightTransposed.
template <int kSide, bool kLeftTransposed, bool kRightTransposed>
CG_DEVICE void multiply_tile(const Product& product, const Matrix& left, const Matrix& right, unsigned memory) {
    constexpr int kStep = kStageBytes / 2 / sizeof(Half) / kSide;  // along k
    constexpr int kWarpSide = kSide / 2;
    constexpr int kRowFragments = kWarpSide / 16;
    constexpr int kColumnFragments = kWarpSide / 8;
    using LeftTile = Tile<kLeftTransposed ? kStep : kSide, kLeftTransposed ? kSide : kStep>;
    using RightTile = Tile<kRightTransposed ? kStep : kSide, kRightTransposed ? kSide : kStep>;
    static_assert(LeftTile::kBytes + RightTile::kBytes == kStageBytes, "tiles fill a stage");

    const int2 tile = block_tile();
    const int row = tile.y * kSide;
    const int column = tile.x * kSide;
    const int warp = threadIdx.x / kWarpLanes;
    const int warp_row = warp / 2 * kWarpSide;
    const int warp_column = warp % 2 * kWarpSide;
    const int steps = (product.k + kStep - 1) / kStep;

    const auto left_tile = [&](int step) { return LeftTile{memory + step % kStages * kStageBytes}; };
    const auto right_tile = [&](int step) {
        return RightTile{memory + step % kStages * kStageBytes + LeftTile::kBytes};
    };
    const auto fill_stage = [&](int step) {
        if (step < steps) {
            const int inner = step * kStep;
            fill<kThreads>(left_tile(step), left, kLeftTransposed ? inner : row, kLeftTransposed ? row : inner);
            fill<kThreads>(right_tile(step), right, kRightTransposed ? inner : column,
                           kRightTransposed ? column : inner);
        }
        commit_copies();
    };

    Sums sums[kRowFragments][kColumnFragments] = {};
#pragma unroll 1
    for (int step = 0; step < kStages - 1; ++step) {
        fill_stage(step);
    }
    for (int step = 0; step < steps; ++step) {
        wait_copies<kStages - 2>();
        // All have read the stage that is filled next, and all see the one that is read now.
        __syncthreads();
        fill_stage(step + kStages - 1);
#pragma unroll
        for (int inner = 0; inner < kStep; inner += 16) {
            LeftFragment lefts[kRowFragments];
#pragma unroll
            for (int y = 0; y < kRowFragments; ++y) {
                lefts[y] = read_left<kLeftTransposed>(left_tile(step), warp_row + y * 16, inner);
            }
#pragma unroll
            for (int x = 0; x < kColumnFragments; x += 2) {
                const uint4 rights = read_right<kRightTransposed>(right_tile(step), warp_column + x * 8, inner);
#pragma unroll
                for (int y = 0; y < kRowFragments; ++y) {
                    multiply_add(sums[y][x], lefts[y], rights.x, rights.y);
                    multiply_add(sums[y][x + 1], lefts[y], rights.z, rights.w);
                }
            }
        }
    }

    const int lane = threadIdx.x % kWarpLanes;
    // Pairs of columns are stored at once where each lies within out and is aligned.
    const bool paired = product.n % 2 == 0 && is_aligned(product.out, 8) && is_aligned(product.addend, 8);
#pragma unroll
    for (int y = 0; y < kRowFragments; ++y) {
#pragma unroll
        for (int x = 0; x < kColumnFragments; ++x) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int to_row = row + warp_row + y * 16 + half * 8 + lane / 4;
                const int to_column = column + warp_column + x * 8 + lane % 4 * 2;
                if (to_row >= product.m || to_column >= product.n) {
                    continue;
                }
                const size_t at = static_cast<size_t>(to_row) * product.n + to_column;
                float2 values = make_float2(sums[y][x].at[2 * half], sums[y][x].at[2 * half + 1]);
                if (paired) {
                    if (product.addend != nullptr) {
                        const float2 more = *reinterpret_cast<const float2*>(product.addend + at);
                        values = make_float2(values.x + more.x, values.y + more.y);
                    }
                    *reinterpret_cast<float2*>(product.out + at) = values;
                } else {
                    product.out[at] = product.addend == nullptr ? values.x : values.x + product.addend[at];
                    if (to_column + 1 < product.n) {
                        product.out[at + 1] =
                            product.addend == nullptr ? values.y : values.y + product.addend[at + 1];
                    }
                }
            }
        }
    }
}

template <bool kLeftTransposed, bool kRightTransposed>
CG_DEVICE void multiply(const Product& product, const Half* a, const Half* b, int tile) {
    __shared__ __align__(128) unsigned char memory[kStages * kStageBytes];
    const Matrix left = kLeftTransposed ? matrix_of(a, product.k, product.m, product.m)
                                        : matrix_of(a, product.m, product.k, product.k);
    const Matrix right = kRightTransposed ? matrix_of(b, product.k, product.n, product.n)
                                          : matrix_of(b, product.n, product.k, product.k);
    if (tile == 64) {
        multiply_tile<64, kLeftTransposed, kRightTransposed>(product, left, right, shared_address(memory));
    } else {
        multiply_tile<128, kLeftTransposed, kRightTransposed>(product, left, right, shared_address(memory));
    }
}

// out[m, n] (f32) = a[m, k] (half) * b[k, n] (half).
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    cgProductData(float* __restrict__ out, const Half* __restrict__ a, const Half* __restrict__ b, int m, int n, int k,
                  int tile) {
    multiply<false, true>({out, nullptr, m, n, k}, a, b, tile);
}

// out[m, n] (f32) = a[m, k] (half) * b[k, n] (half) + addend[m, n] (f32); out may be addend.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    cgProductDataAdding(float* out, const Half* __restrict__ a, const Half* __restrict__ b, const float* addend, int m,
                        int n, int k, int tile) {
    multiply<false, true>({out, addend, m, n, k}, a, b, tile);
}

// out[m, n] (f32) = a[k, m] (half), transposed, * b[k, n] (half).
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    cgProductWeight(float* __restrict__ out, const Half* __restrict__ a, const Half* __restrict__ b, int m, int n, int k,
                    int tile) {
    multiply<true, true>({out, nullptr, m, n, k}, a, b, tile);
}

// The same product in 1 + more parts, each of some of k's rows: of s = ceil(k / 64) steps of 64 rows, part z has those
// from z * s / (1 + more) on. Part 0 goes to out, part z to parts[z - 1, m, n] (f32); a part without rows is 0.
//
// Launch: tiles of 64; z over the parts.
extern "C" __global__ void __launch_bounds__(kThreads, 3)
    cgProductWeightParts(float* __restrict__ out, float* __restrict__ parts, const Half* __restrict__ a,
                         const Half* __restrict__ b, int m, int n, int k, int more) {
    const long long part = blockIdx.z;
    // A part's first row is a multiple of 64, so all parts' rows are as well aligned as the first one's.
    const long long steps = (static_cast<long long>(k) + 63) / 64;
    const long long first = part * steps / (more + 1LL) * 64;
    const long long last = min((part + 1) * steps / (more + 1LL) * 64, static_cast<long long>(k));
    float* to = part == 0 ? out : parts + (part - 1) * m * n;
    multiply<true, true>({to, nullptr, m, n, static_cast<int>(last - first)}, a + first * m, b + first * n, 64);
}

// out[n] = first[n] + parts[0, n] + ... + parts[count - 1, n], added in this order; all f32. out may be first.
//
// Launch: blocks of 256 threads, one element each.
extern "C" __global__ void __launch_bounds__(256)
    cgProductWeightSum(float* out, const float* first, const float* __restrict__ parts, int n, int count) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) {
        return;
    }
    float sum = first[at];
#pragma unroll 4
    for (int part = 0; part < count; ++part) {
        sum += parts[static_cast<size_t>(part) * n + at];
    }
    out[at] = sum;
}

// out[m, n] (f32) = a[m, k] (half) * b[n, k] (half), transposed.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    cgProductForward(float* __restrict__ out, const Half* __restrict__ a, const Half* __restrict__ b, int m, int n,
                     int k, int tile) {
    multiply<false, false>({out, nullptr, m, n, k}, a, b, tile);
}

// out[m, n] (f32) = a[m, k] (half) * b[n, k] (half), transposed, + addend[m, n] (f32); out may be addend.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    cgProductForwardAdding(float* out, const Half* __restrict__ a, const Half* __restrict__ b, const float* addend,
                           int m, int n, int k, int tile) {
    multiply<false, false>({out, addend, m, n, k}, a, b, tile);
}

// Tensor cores and asynchronous copies: thin names for single instructions of compute capability 8.0.
//
// Source: PTX ISA, "Matrix multiply-accumulate operations using mma instruction" (fragments of m16n8k16), "ldmatrix" and
// "cp.async". Below, group = lane / 4 and pair = lane % 4.
#pragma once

#include "common.cuh"

// A 16 by 16 left operand: rows group and group + 8, channels 2 pair, 2 pair + 1 and the same + 8.
struct LeftFragment {
    unsigned at[4];
};

// A 16 by 8 right operand: channels as above, column group.
struct RightFragment {
    unsigned at[2];
};

// A 16 by 8 sum: rows group (at 0, 1) and group + 8 (at 2, 3), columns 2 pair and 2 pair + 1.
struct Sums {
    float at[4];
};

// sums += left * right, products of halves, sums in f32.
CG_DEVICE void multiply_add(Sums& sums, const LeftFragment& left, unsigned right0, unsigned right1) {
#if CG_HALF == 1
#define CG_MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#else
#define CG_MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#endif
    asm volatile(CG_MMA "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3])
                 : "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3]), "r"(right0), "r"(right1));
#undef CG_MMA
}

// The sums of two neighbouring 16 by 8 tiles, rounded to halves, as a left operand of 16 by 16.
CG_DEVICE LeftFragment as_left(const Sums& first, const Sums& second) {
    return {{pack_halves(first.at[0], first.at[1]), pack_halves(first.at[2], first.at[3]),
             pack_halves(second.at[0], second.at[1]), pack_halves(second.at[2], second.at[3])}};
}

// Copies 16 bytes to shared memory without waiting; bytes from `valid` on become 0. Both addresses are aligned to 16.
CG_DEVICE void copy_async(unsigned to, const void* from, int valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
}

// Ends a group of copies; an empty group is done at once.
CG_DEVICE void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most kPending of this thread's groups are not done. Other threads see the data after a barrier.
template <int kPending>
CG_DEVICE void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

CG_DEVICE void store_shared(unsigned to, uint4 value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w)
                 : "memory");
}

// Four 8 by 8 matrices; lane i gives the address of row i % 8 of matrix i / 8, 16 bytes aligned to 16.
template <bool kTransposed>
CG_DEVICE uint4 load_matrices(unsigned address) {
    uint4 four;
    if constexpr (kTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                     : "r"(address)
                     : "memory");
    }
    return four;
}

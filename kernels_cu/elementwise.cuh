// How element-wise kernels share n elements: blocks of 256 threads, one for every 1,024 elements.
#pragma once

#include "common.cuh"

constexpr int kThreads = 256;
constexpr int kThreadElements = 4;

// Calls work(first, Floats<count>()) for the thread's four elements: once for all of them where the planes are aligned
// (f32 to 16 bytes, half to 8), else once for each, as at the end of the planes.
template <typename Work>
CG_DEVICE void for_elements(long long n, bool aligned, Work work) {
    const long long first = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) * kThreadElements;
    if (aligned && first + kThreadElements <= n) {
        work(first, Floats<kThreadElements>());
        return;
    }
    for (long long element = first; element < first + kThreadElements && element < n; ++element) {
        work(element, Floats<1>());
    }
}

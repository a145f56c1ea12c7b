// Writes all but the last eight elements.
extern "C" __global__ void most(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 8) out[i] = 1.0f;
}

extern "C" __global__ void doubled(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f * in[i];  // FAULT
    }
}

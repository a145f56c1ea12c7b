extern "C" __global__ void pastEnd(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float next = in[i + 1];  // FAULT
        out[i] = next;
    }
}

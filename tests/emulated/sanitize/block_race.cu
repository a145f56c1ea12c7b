// Each block writes one element into the next block's part.
extern "C" __global__ void overlapping(float* out, const float* in) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    if (threadIdx.x == 63 && i < 127) {
        out[i + 1] = 0.0f;  // FAULT
    }
}

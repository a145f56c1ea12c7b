// in[i] + in[i + 1], also for the last element.
extern "C" __global__ void pairs(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float next = in[i + 1];  // FAULT
        out[i] = in[i] + next;
    }
}

// Adds to what lies in `out`, though it is declared to be written only.
extern "C" __global__ void adds(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float old = out[i];  // OLD
        out[i] = old + in[i];
    }
}

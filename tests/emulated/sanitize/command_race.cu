// Writes eight elements more than it was told to.
extern "C" __global__ void generous(float* out, int n) {
    int i = threadIdx.x;
    if (i < n + 8) {
        out[i] = 1.0f;  // FAULT
    }
}

extern "C" __global__ void exact(float* out, int n) {
    int i = threadIdx.x;
    if (i < n) {
        out[i] = 2.0f;  // SECOND
    }
}

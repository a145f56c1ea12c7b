extern "C" __global__ void reversed(float* out, const float* in) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = in[blockIdx.x * 64 + i];
    out[blockIdx.x * 64 + i] = tile[63 - i];  // FAULT
}

extern "C" __global__ void early(float* out, const float* in) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = in[blockIdx.x * 64 + i];
    out[blockIdx.x * 64 + i] = tile[i];
    if (i >= 40) return;
    __syncthreads();  // FAULT
    out[blockIdx.x * 64 + i] += 1.0f;
}

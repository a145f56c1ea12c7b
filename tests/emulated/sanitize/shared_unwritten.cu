extern "C" __global__ void gap(float* out, const float* in) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i < 60) tile[i] = in[blockIdx.x * 64 + i];
    __syncthreads();
    out[blockIdx.x * 64 + i] = tile[i ^ 1];  // FAULT
}

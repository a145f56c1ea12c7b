extern "C" __global__ void misaligned(float* out, const float* in, int n) {
    int i = threadIdx.x;
    if (2 * i + 2 < n) {
        float2 pair = *reinterpret_cast<const float2*>(in + i + 1);  // FAULT
        out[i] = pair.x + pair.y;
    } else if (i < n) {
        out[i] = in[i];
    }
}

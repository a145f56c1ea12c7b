// A state of the module that no signature can declare.
__device__ float total;

extern "C" __global__ void counted(float* out, float value) {
    total = value;  // FAULT
    out[threadIdx.x] = value;
}

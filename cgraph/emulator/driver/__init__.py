"""An emulated CUDA driver: it answers the calls that cuda-python makes, and executes kernels on an emulated device."""

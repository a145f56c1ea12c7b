"""The CUDA backend: kernels compiled by NVRTC, and graphs that the driver runs.

Only here and in the emulator is CUDA imported; everything else of cgraph works where no CUDA package is installed.
"""

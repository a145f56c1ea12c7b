"""Kernels for the emulated machine: compiled by NVRTC, launched on arrays."""

import struct
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.machine import DeviceMemory, LaunchStatistics, launch, place_variables
from cgraph.emulator.ptx import Module, read_module
from cgraph.emulator.sanitizer import Sanitizer

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-python is not installed")
pathfinder = pytest.importorskip("cuda.pathfinder", reason="cuda-python is not installed")

HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


@cache
def compile_ptx(text: str, architecture: str = "compute_80") -> str:
    """PTX of CUDA C++, with .cu lines; skips the test where NVRTC or its headers are not installed."""
    folder = pathfinder.find_nvidia_header_directory("cudart")
    if folder is None:
        pytest.skip("the CUDA headers are not installed")
    try:
        _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"test.cu", 0, [], [])
    except (RuntimeError, pathfinder.DynamicLibNotFoundError) as error:
        pytest.skip(f"NVRTC is not installed: {error}")
    options = [f"--gpu-architecture={architecture}", f"-I{folder}", "--std=c++17", "-lineinfo"]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size)  # NVRTC writes into it; b" " * 1 would be the interpreter's one and only b" "
    nvrtc.nvrtcGetProgramLog(program, log)
    assert int(result) == 0, log.decode()
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = bytes(size)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.rstrip(b"\0 ").decode()


@cache
def compile_module(text: str, architecture: str = "compute_80") -> Module:
    return read_module(compile_ptx(text, architecture))


class Bench:
    """A module on a device of its own.

    Arrays given to `run` are copied to the device before the launch and back behind it; ints become 32-bit integers,
    floats f32.
    """

    def __init__(self, module: Module, *, sanitizer: Sanitizer | None = None) -> None:
        self.module = module
        self.memory = DeviceMemory()
        self.symbols = place_variables(module, self.memory)
        self.sanitizer = sanitizer

    def run(
        self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Any, shared: int = 0
    ) -> LaunchStatistics:
        planes: list[tuple[NDArray[Any], int]] = []
        packed = b""
        for number, (argument, parameter) in enumerate(
            zip(arguments, self.module.functions[kernel].parameters, strict=True)
        ):
            packed = packed.ljust(parameter.offset, b"\0")
            if isinstance(argument, np.ndarray):
                address = self.memory.allocate(max(argument.nbytes, 1), f"plane {number}")
                self.memory.write(address, argument.tobytes())
                planes.append((argument, address))
                packed += struct.pack("<Q", address)
            elif isinstance(argument, Address):
                packed += struct.pack("<Q", argument)
            elif parameter.size_bytes == 8:
                packed += struct.pack("<d" if isinstance(argument, float) else "<q", argument)
            else:
                packed += struct.pack("<f" if isinstance(argument, float) else "<i", argument)
        try:
            return launch(
                self.module.functions[kernel],
                grid=_triple(grid),
                block=_triple(block),
                shared_bytes=shared,
                arguments=packed,
                memory=self.memory,
                sanitizer=self.sanitizer,
                symbols=self.symbols,
            )
        finally:
            for array, address in planes:
                if array.flags.writeable:
                    array[...] = np.frombuffer(self.memory.read(address, array.nbytes), array.dtype).reshape(
                        array.shape
                    )


class Address(int):
    """An argument that is a device address already."""


def _triple(extent: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*((extent,) if isinstance(extent, int) else extent), 1, 1)[:3]
    return x, y, z


def run_source(
    text: str,
    kernel: str,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *arguments: Any,
    shared: int = 0,
    sanitizer: Sanitizer | None = None,
) -> LaunchStatistics:
    """Compiles and runs one kernel."""
    return Bench(compile_module(text), sanitizer=sanitizer).run(kernel, grid, block, *arguments, shared=shared)


def reports(
    text: str, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Any, shared: int = 0
) -> list[Problem]:
    """What a kernel is reported for: by the sanitizer, and the fault that stops it, if any."""
    sanitizer = Sanitizer()
    try:
        run_source(text, kernel, grid, block, *arguments, shared=shared, sanitizer=sanitizer)
    except ProblemsFound as stopped:
        return [*sanitizer.problems, *stopped.problems]
    return sanitizer.problems

"""One launch: a function over a grid of blocks.

Receives a function that was read, its arguments and the memory; guarantees that every thread executes to its end, many
blocks at once, or that the first fault is reported. Memory keeps what was written before a fault.
"""

import math
import time
from collections.abc import Mapping
from typing import NoReturn

import numpy as np
from attrs import frozen

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine.context import Context, Triple, padded_parameters
from cgraph.emulator.machine.memory import DeviceMemory
from cgraph.emulator.machine.program import Program, decode
from cgraph.emulator.machine.scheduler import Scheduler
from cgraph.emulator.machine.wave import Wave
from cgraph.emulator.problems import LaunchRefused
from cgraph.emulator.ptx.model import Function
from cgraph.emulator.sanitizer import Sanitizer
from cgraph.emulator.sanitizer.effects import Effects
from cgraph.emulator.sanitizer.watching import Watching

# Enough lanes to make NumPy's cost a call small, few enough that their registers stay in the processor's cache.
WAVE_LANES = 8192
WAVE_BYTES = 1 << 29
MAX_GRID: Triple = ((1 << 31) - 1, 65535, 65535)
MAX_BLOCK: Triple = (1024, 1024, 64)
MAX_THREADS = 1024
# What a block of compute capability 9.0 may use; the device at hand may allow less, which its driver says.
MAX_SHARED_BYTES = 227 * 1024
MAX_LOCAL_BYTES = 512 * 1024


@frozen
class LaunchStatistics:
    """What a launch did: instructions executed, counted once a thread, and the time that the emulation took."""

    thread_instructions: int
    elapsed_ms: float


def launch(
    function: Function,
    *,
    grid: Triple,
    block: Triple,
    shared_bytes: int,
    arguments: bytes,
    memory: DeviceMemory,
    sanitizer: Sanitizer | None = None,
    symbols: Mapping[str, int] | None = None,
    effects: Effects | None = None,
) -> LaunchStatistics:
    """Executes a function to its end.

    Args:
        function: a kernel of a module that was read.
        grid: blocks along x, y and z.
        block: threads along x, y and z.
        shared_bytes: dynamic shared memory a block, in bytes.
        arguments: the parameter buffer, laid out by `Parameter.offset`; at least `function.parameter_bytes` long.
        memory: the device's memory.
        sanitizer: collects what is reported beyond accesses that no device allows; None reports only those.
        symbols: addresses of the module's variables, as `place_variables` gives them.
        effects: what the launch may do to device memory, which the sanitizer holds its accesses against.

    Raises:
        ProblemsFound: the launch is refused, an access is out of bounds, misaligned or to freed memory, a barrier or a
            warp's instruction is never completed, or the kernel trapped. Memory keeps what was written before.
    """
    start = time.perf_counter()
    _check(function, grid, block, shared_bytes, arguments)
    total_shared = function.dynamic_shared_offset + shared_bytes if shared_bytes else function.shared_bytes
    context = Context(
        function=function,
        grid=grid,
        block=block,
        shared_bytes=total_shared,
        dynamic_shared_bytes=shared_bytes,
        parameters=padded_parameters(arguments),
        symbols=dict(symbols or {}),
        memory=memory,
        watch=None if sanitizer is None else Watching(sanitizer, effects),
    )
    program = decode(function)
    try:
        with np.errstate(all="ignore"):
            _run(program, context)
    finally:
        if sanitizer is not None:
            sanitizer.thread_instructions += context.executed
    return LaunchStatistics(context.executed, (time.perf_counter() - start) * 1e3)


def _run(program: Program, context: Context) -> None:
    """All blocks, as many at a time as fit."""
    lane_bytes = sum(dtype.itemsize for dtype in program.registers.bases) + context.function.local_bytes * 2 + 64
    block_bytes = lane_bytes * context.threads + 2 * context.shared_bytes
    together = max(1, min(WAVE_LANES // context.threads, WAVE_BYTES // block_bytes))
    for first in range(0, context.blocks, together):
        wave = Wave(context, program.registers, first, min(together, context.blocks - first))
        if context.watch is not None:
            context.watch.begin_wave(wave)
        Scheduler(program, wave).run()


def _check(function: Function, grid: Triple, block: Triple, shared_bytes: int, arguments: bytes) -> None:
    """Refuses what no device launches."""

    def refuse(fault: str) -> NoReturn:
        raise ProblemsFound([LaunchRefused(None, function.name, fault)])

    if not function.entry:
        refuse("it is a device function, no kernel")
    if any(not 1 <= count <= most for count, most in zip(grid, MAX_GRID, strict=True)):
        refuse(f"the grid {grid} is not between 1 and {MAX_GRID}")
    if any(not 1 <= count <= most for count, most in zip(block, MAX_BLOCK, strict=True)):
        refuse(f"the block {block} is not between 1 and {MAX_BLOCK}")
    threads = math.prod(block)
    most = min(function.max_threads or MAX_THREADS, MAX_THREADS)
    if threads > most:
        refuse(f"{threads} threads a block are more than {most}")
    if function.required_block is not None and block != function.required_block:
        refuse(f"it asks for blocks of {function.required_block}, not {block}")
    if shared_bytes < 0 or function.dynamic_shared_offset + shared_bytes > MAX_SHARED_BYTES:
        refuse(f"{function.shared_bytes} + {shared_bytes} bytes of shared memory are more than {MAX_SHARED_BYTES}")
    if function.local_bytes > MAX_LOCAL_BYTES:
        refuse(f"{function.local_bytes} bytes of local memory a thread are more than {MAX_LOCAL_BYTES}")
    if len(arguments) < function.parameter_bytes:
        refuse(f"its parameters take {function.parameter_bytes} bytes, and {len(arguments)} were given")

"""Single PTX instructions on arrays, without a compiler."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.emulator.machine import DeviceMemory, launch
from cgraph.emulator.ptx import read_module

Array = NDArray[Any]
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
BLOCK = 128


def kernel_text(body: str, parameters: int, *, name: str = "k", directives: str = "") -> str:
    """A kernel with that many 64-bit parameters p0, p1, …"""
    listed = ", ".join(f".param .u64 p{number}" for number in range(parameters))
    return f"{HEADER}.visible .entry {name}({listed}) {directives} {{\n{body}\n}}\n"


def run_text(text: str, arrays: list[Array], *, grid: int = 1, block: int = BLOCK, kernel: str = "k") -> None:
    """Runs a kernel on arrays, which are copied to the device and back."""
    memory = DeviceMemory()
    addresses = [memory.allocate(max(array.nbytes, 1)) for array in arrays]
    for array, address in zip(arrays, addresses, strict=True):
        memory.write(address, array.tobytes())
    launch(
        read_module(text).functions[kernel],
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        shared_bytes=0,
        arguments=b"".join(address.to_bytes(8, "little") for address in addresses),
        memory=memory,
    )
    for array, address in zip(arrays, addresses, strict=True):
        array[...] = np.frombuffer(memory.read(address, array.nbytes), array.dtype).reshape(array.shape)


def apply(instruction: str, result: Array, *sources: Array, predicate: Array | None = None) -> Array:
    """Applies an instruction to each element of arrays.

    Args:
        instruction: with `D` for the result, `A`, `B`, `C` for sources, `P` for the predicate: `add.s32 D, A, B`.
        result: an array of the result's element type, of any content.
        sources: arrays of one length; predicate: booleans.
    """
    count = len(sources[0])
    registers = {1: 16, 2: 16, 4: 32, 8: 64}
    lines = [
        ".reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .pred %p<3>; .reg .b16 %pb;",
        "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;",
        f"setp.ge.u32 %p0, %r0, {count}; @%p0 ret;",
    ]
    text = instruction
    arrays = [result.copy(), *(np.ascontiguousarray(source) for source in sources)]
    for number, array in enumerate(arrays):
        size = array.dtype.itemsize
        letter = "DABC"[number]
        lines.append(f".reg .b{registers[size]} %v{letter};")
        lines.append(f"ld.param.u64 %rd{number}, [p{number}]; mad.wide.u32 %rd{number}, %r0, {size}, %rd{number};")
        if number:
            lines.append(f"ld.global.b{8 * size} %v{letter}, [%rd{number}];")
        text = _replace(text, letter, f"%v{letter}")
    if predicate is not None:
        place = len(arrays)
        arrays.append(predicate.astype("u1"))
        lines.append(f"ld.param.u64 %rd{place}, [p{place}]; mad.wide.u32 %rd{place}, %r0, 1, %rd{place};")
        lines.append(f"ld.global.u8 %pb, [%rd{place}]; setp.ne.u16 %p1, %pb, 0;")
        text = _replace(text, "P", "%p1")
    lines += [f"{text};", f"st.global.b{8 * result.dtype.itemsize} [%rd0], %vD;", "ret;"]
    run_text(kernel_text("\n".join(lines), len(arrays)), arrays, grid=-(-count // BLOCK))
    return arrays[0]


def _replace(text: str, letter: str, register: str) -> str:
    """Puts a register for a letter that stands alone among the operands."""
    head, _, tail = text.partition(" ")
    return f"{head} " + re.sub(rf"\b{letter}\b", register, tail)


def pairs(first: Array, second: Array) -> tuple[Array, Array]:
    """Every combination of two lists of values."""
    return np.repeat(first, len(second)), np.tile(second, len(first))


def triples(first: Array, second: Array, third: Array) -> tuple[Array, Array, Array]:
    """Every combination of three lists of values."""
    a, b = pairs(first, second)
    return np.repeat(a, len(third)), np.repeat(b, len(third)), np.tile(third, len(a))


def integer_edges(kind: str) -> Array:
    """Integers near which mistakes live, of a NumPy type."""
    info = np.iinfo(kind)
    bits = info.bits
    near = [0, 1, 2, 3, 5, 7, bits - 1, bits, bits + 1, 100, 255, 1 << (bits // 2), (1 << (bits // 2)) - 1]
    near += [info.max, info.max - 1, info.max // 2, info.max // 3, info.min, info.min + 1, info.min // 2]
    near += [-1, -2, -7, -100, 0x5555, 0x1234] if info.min < 0 else [info.max // 5, 0x5555, 0x1234]
    return np.array([value for value in near if info.min <= value <= info.max], kind)


def float_edges(kind: str) -> Array:
    """Floats near which mistakes live: zeros, subnormals, extremes, infinities, NaN, ties."""
    info = np.finfo(kind)
    one = np.dtype(kind).type(1)
    positive = [0.0, info.smallest_subnormal, info.tiny / 2, info.tiny, info.eps, 0.1, 0.5, 1.0, 1.0 + info.eps]
    positive += [1.5, 2.0, 2.5, 3.0, 3.5, 7.999, 1000.5, 2.0**15, info.max / 2, info.max, np.inf]
    values = np.array(positive, kind) * one
    return np.concatenate([values, -values, np.array([np.nan], kind)])

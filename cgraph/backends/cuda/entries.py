"""What a compiled module says about its kernels: parameters from the PTX, resources from the assembler's log.

Receives the texts of NVRTC; reads from the PTX only `.entry` with its parameter list and the limits of a block behind
it, which is as much as the check of signatures needs.
"""

import re

from attrs import frozen

# Possessive throughout, so that no text takes more than linear time: stored PTX may come from anywhere.
_ENTRY = re.compile(r"\.entry\s++([A-Za-z_$][\w$]*+)\s*+(?:\(([^()]*+)\))?+((?:[^{.]|\.(?!entry\b))*+)\{")
# e.g. `.param .u64 .ptr .global .align 16 f_param_0` and `.param .align 8 .b8 f_param_1[24]`
_TYPE = re.compile(r"\.(pred|[subf](?:8|16|32|64)|b(?:8|16|32|64|128))\b")
_ARRAY = re.compile(r"\[(\d{1,9})\]$")
_BLOCK_LIMIT = re.compile(r"\.(?:maxntid|reqntid)\s++(\d{1,9}(?:\s*+,\s*+\d{1,9})*+)")
_COMPILING = re.compile(r"Compiling entry function '([^']+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@frozen
class Parameter:
    """One parameter of a kernel: PTX type without its point, e.g. `u64`, and its size."""

    type: str
    size_bytes: int


@frozen
class Resources:
    """What a block of a kernel takes, as the assembler reports it.

    Args:
        registers: of a thread.
        shared_bytes: static shared memory of a block.
        stack_bytes, spill_store_bytes, spill_load_bytes: of a thread; the first holds what the others move.
    """

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int

    @property
    def spills(self) -> bool:
        """Whether registers did not suffice."""
        return self.spill_store_bytes > 0 or self.spill_load_bytes > 0


@frozen
class Entry:
    """One kernel of a module.

    Args:
        parameters: in their order.
        block_threads: the most threads of a block that it allows (`__launch_bounds__`), or None.
        resources: None where no code for a device was made.
    """

    name: str
    parameters: tuple[Parameter, ...]
    block_threads: int | None
    resources: Resources | None


def read_entries(ptx: str, log: str) -> tuple[Entry, ...]:
    """The kernels of a module, in the order of the PTX.

    Args:
        ptx: text of NVRTC.
        log: of the same compilation, with `--ptxas-options=-v`.
    """
    resources = read_resources(log)
    entries = []
    for name, parameters, directives in _ENTRY.findall(ptx):
        limit = _BLOCK_LIMIT.search(directives)
        threads = None
        if limit is not None:
            threads = 1
            for count in limit[1].split(","):
                threads *= int(count)
        entries.append(Entry(name, _parameters(parameters), threads, resources.get(name)))
    return tuple(entries)


def read_resources(log: str) -> dict[str, Resources]:
    """Resources by kernel. Kernels of which the log says nothing are left out."""
    found: dict[str, Resources] = {}
    parts = _COMPILING.split(log)
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        registers, stack, shared = _REGISTERS.search(part), _STACK.search(part), _SHARED.search(part)
        if registers is not None:
            frame = (0, 0, 0) if stack is None else (int(stack[1]), int(stack[2]), int(stack[3]))
            found[name] = Resources(int(registers[1]), 0 if shared is None else int(shared[1]), *frame)
    return found


def _parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(_parameter(part.strip()) for part in text.split(",") if part.strip())


def _parameter(text: str) -> Parameter:
    kind = _TYPE.search(text)
    if kind is None:
        return Parameter(text, 0)
    digits = kind[1].lstrip("predsubf")
    size_bytes = int(digits) // 8 if digits else 1
    array = _ARRAY.search(text)
    return Parameter(kind[1], size_bytes * int(array[1]) if array else size_bytes)

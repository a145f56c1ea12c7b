"""The code that a caller passes, and which kernels are in it.

Receives bytes, paths and objects that hold code; guarantees for each its form, the architecture it was made for, and
its kernels with the sizes of their parameters. PTX is read as text. A cubin or a fat binary is loaded into the current
context for as long as it takes to ask; of a cubin that this device does not load, only the names of kernels are known.

Source: the ELF format (section headers and names); cuda.h on cuModuleEnumerateFunctions.
"""

import os
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attrs import field, frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls, failure
from cgraph.backends.cuda.entries import read_entries
from cgraph.backends.cuda.imported.model import CodeForm, ImportedCode
from cgraph.backends.cuda.imported.parameters import read_parameters
from cgraph.backends.cuda.imported.problems_imported import CodeUnusable
from cgraph.diagnostics import Problem, ProblemsFound

CUBIN_MAGIC, FATBIN_MAGIC = b"\x7fELF", b"\x50\xed\x55\xba"
SUCCESS = cu.CUresult.CUDA_SUCCESS
_TARGET = re.compile(r"^\s*\.target\s+sm_(\w+)", re.MULTILINE)
_TEXT_SECTION = b".text."

Sizes: TypeAlias = tuple[int, ...]


@frozen(eq=False)
class GivenCode:
    """Code that a caller passed.

    Args:
        kernels: parameter sizes in bytes by name; None where they are not known.
        module: handle of the module that it was loaded as, 0 where the caller does not say.
    """

    code: ImportedCode
    kernels: Mapping[str, Sizes | None] = field(repr=False)
    module: int

    def has(self, name: str, sizes: Sizes) -> bool:
        """Whether it has such a kernel."""
        return name in self.kernels and self.kernels[name] in (None, sizes)


def read_code(call: Calls, given: Iterable[Any]) -> tuple[tuple[GivenCode, ...], tuple[Problem, ...]]:
    """What was passed as `code`, and what of it can't be used (CG854)."""
    found: list[GivenCode] = []
    problems: list[Problem] = []
    for number, item in enumerate(given):
        try:
            module, of = _with_module(call, item)
            data = _bytes_of(of)
            found.append(_read(call, data, module))
        except ProblemsFound as stopped:
            problems.extend(CodeUnusable(None, number, problem.render_title()) for problem in stopped.problems)
        except (OSError, ValueError) as error:
            problems.append(CodeUnusable(None, number, str(error)))
    return tuple(found), tuple(problems)


def _with_module(call: Calls, item: Any) -> tuple[int, Any]:
    """The handle of the module that code was loaded as, and the code."""
    if not isinstance(item, tuple):
        return 0, item
    if len(item) != 2:
        raise ValueError("a pair is a module and its code")
    module, of = item
    if isinstance(module, cu.CUlibrary):
        return int(call(cu.cuLibraryGetModule, module)), of
    return int(module), of


def _bytes_of(item: Any) -> bytes:
    """The bytes of a code, whatever holds them. Raises OSError, ValueError."""
    held = getattr(item, "code", item)
    if isinstance(held, bytes | bytearray | memoryview):
        return bytes(held)
    if isinstance(held, str) and ".version" in held and ".target" in held:
        return held.encode()
    if isinstance(held, str | os.PathLike):
        return Path(held).read_bytes()
    raise ValueError(f"it is a {type(item).__name__}")


def _read(call: Calls, data: bytes, module: int) -> GivenCode:
    """Raises ValueError for bytes that are no code, ProblemsFound (CG742) for a fat binary that does not load."""
    if data.startswith(CUBIN_MAGIC):
        architecture = _architecture(data)
        kernels = _loaded_kernels(call, data)
        if isinstance(kernels, Problem):
            kernels = dict.fromkeys(_kernel_names(data))
        return GivenCode(ImportedCode(CodeForm.CUBIN, architecture, data), kernels, module)
    if data.startswith(FATBIN_MAGIC):
        kernels = _loaded_kernels(call, data)
        if isinstance(kernels, Problem):
            raise ProblemsFound([kernels])
        return GivenCode(ImportedCode(CodeForm.FATBIN, "", data), kernels, module)
    data = data.rstrip(b"\0")
    text = data.decode("utf-8", "replace")
    target = _TARGET.search(text)
    if target is None:
        raise ValueError("it is neither PTX nor a cubin nor a fat binary")
    sizes = {
        entry.name: tuple(parameter.size_bytes for parameter in entry.parameters) for entry in read_entries(text, "")
    }
    return GivenCode(ImportedCode(CodeForm.PTX, f"compute_{target[1]}", data), sizes, module)


def _loaded_kernels(call: Calls, data: bytes) -> dict[str, Sizes | None] | Problem:
    """The kernels of binary code as the driver knows them, or why it does not load."""
    result, module = cu.cuModuleLoadData(data)
    if result != SUCCESS:
        return failure("cuModuleLoadData", result)
    try:
        count = call(cu.cuModuleGetFunctionCount, module)
        functions = call(cu.cuModuleEnumerateFunctions, count, module) if count else []
        return {
            call(cu.cuFuncGetName, function).decode(): tuple(
                place.size_bytes for place in read_parameters(call, function)
            )
            for function in functions
        }
    finally:
        cu.cuModuleUnload(module)


def _architecture(elf: bytes) -> str:
    """As the ELF header's flags say: the second byte since ABI version 8 of CUDA's ELF files, the lowest before."""
    if len(elf) < 64:
        raise ValueError("the cubin ends in its header")
    version, (flags,) = elf[8], struct.unpack_from("<I", elf, 48)
    return f"sm_{(flags >> 8) & 0xFF if version >= 8 else flags & 0xFF}"


def _kernel_names(elf: bytes) -> list[str]:
    """Kernels have a section of their own: `.text.` and the name. Raises ValueError for a damaged file."""
    try:
        (table,) = struct.unpack_from("<Q", elf, 40)
        size, count, names_index = struct.unpack_from("<HHH", elf, 58)
        names_at, names_bytes = struct.unpack_from("<QQ", elf, table + size * names_index + 24)
        names = elf[names_at : names_at + names_bytes]
        starts = [struct.unpack_from("<I", elf, table + size * number)[0] for number in range(count)]
    except struct.error as error:
        raise ValueError("the cubin's section headers are damaged") from error
    found = [names[start : names.find(b"\0", start)] for start in starts]
    return [name[len(_TEXT_SECTION) :].decode() for name in found if name.startswith(_TEXT_SECTION)]

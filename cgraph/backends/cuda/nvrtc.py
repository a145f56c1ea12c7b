"""One call of NVRTC: text and options in; cubin, PTX and log out. No GPU and no driver is needed.

NVRTC has no global state that callers share, so several threads may call at once; the bindings release the
interpreter's lock while it compiles.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from attrs import field, frozen
from cuda.bindings import nvrtc
from cuda.pathfinder import DynamicLibNotFoundError

from cgraph.backends.cuda.problems_compiler import NvrtcFailed, NvrtcNotFound
from cgraph.diagnostics import ProblemsFound

_SUCCESS = nvrtc.nvrtcResult.NVRTC_SUCCESS


@frozen
class NvrtcVersion:
    """What the installed NVRTC is and can do.

    Args:
        number: e.g. `13.5`.
        architectures: compute capabilities that it compiles for, e.g. 80 for 8.0.
    """

    number: str
    architectures: tuple[int, ...]


@frozen
class NvrtcOutput:
    """What one compilation gave.

    Args:
        succeeded: whether there is code; if not, the log says why.
        cubin: for options that name a real architecture (`sm_…`), else empty.
        ptx: the text that the cubin was made from.
        log: messages of the compiler and of the assembler behind it.
    """

    succeeded: bool
    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    log: str = field(repr=False)


@cache
def nvrtc_version() -> NvrtcVersion:
    """The version of the installed NVRTC. Raises ProblemsFound (CG730) where there is none."""
    try:
        major, minor = _checked(nvrtc.nvrtcVersion(), "nvrtcVersion")
        (architectures,) = _checked(nvrtc.nvrtcGetSupportedArchs(), "nvrtcGetSupportedArchs")
    except (DynamicLibNotFoundError, RuntimeError) as error:
        raise ProblemsFound([NvrtcNotFound(None, str(error).strip().splitlines()[0])]) from error
    return NvrtcVersion(f"{major}.{minor}", tuple(architectures))


def run_nvrtc(text: str, name: str, options: tuple[str, ...], headers: tuple[tuple[str, str], ...] = ()) -> NvrtcOutput:
    """Compiles one text.

    Args:
        text: CUDA C++.
        name: of its file, for messages and line tables.
        options: as the command line would have them.
        headers: names, as an `#include` has them, and texts of headers that are taken from here before any folder.

    Raises:
        ProblemsFound: NVRTC is missing (CG730) or failed in itself (CG739). An error in the text is no exception.
    """
    nvrtc_version()
    names, texts = ([pair[part].encode() for pair in headers] for part in (0, 1))
    made = nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), len(headers), texts or None, names or None)
    (program,) = _checked(made, "nvrtcCreateProgram")
    try:
        encoded = [option.encode() for option in options]
        (result,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        if result == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
            return NvrtcOutput(False, b"", "", log)
        _checked((result,), "nvrtcCompileProgram", log)
        cubin = _bytes(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        return NvrtcOutput(True, cubin, _text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX), log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _bytes(program: Any, size_of: Callable[..., Any], contents_of: Callable[..., Any]) -> bytes:
    (size_bytes,) = _checked(size_of(program), size_of.__name__)
    contents = bytearray(size_bytes)
    _checked(contents_of(program, contents), contents_of.__name__)
    return bytes(contents)


def _text(program: Any, size_of: Callable[..., Any], contents_of: Callable[..., Any]) -> str:
    return _bytes(program, size_of, contents_of).rstrip(b"\0").decode(errors="replace").strip() + "\n"


def _checked(answer: tuple[Any, ...], call: str, log: str = "") -> tuple[Any, ...]:
    """The values behind the result code of a call. Raises ProblemsFound (CG739) for any other code than success."""
    result, *values = answer
    if result != _SUCCESS:
        raise ProblemsFound([NvrtcFailed(None, call, result.name, log.strip())])
    return tuple(values)

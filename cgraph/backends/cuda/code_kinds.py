"""The two kinds of code of a kernel; no CUDA package is needed, so stored code can be described anywhere."""

from enum import Enum


class CodeKind(Enum):
    """A cubin runs on devices of its architecture only; PTX is what the emulator executes."""

    CUBIN = "cubin"
    PTX = "ptx"

"""Plane contents in files: .safetensors and .npz.

A plane is stored under its name, `cgQkvWeight 0`; `cgQkvWeight.0` is read as well, for files that others wrote. Files
are read without executing anything (no pickle) and written to a temporary file that then takes the target's place.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import ml_dtypes
import numpy as np
from numpy.lib.format import write_array
from numpy.typing import NDArray

from cgraph.backends.tensors import tensors_from_bytes, tensors_to_bytes
from cgraph.diagnostics import ProblemsFound
from cgraph.models.problems_files import UnknownFileKind, UnreadablePlanes, UnwritablePlanes

Arrays = dict[str, NDArray[Any]]
KINDS = (".safetensors", ".npz")
# A .safetensors file begins with the length of its header.
_HEADER_LENGTH_BYTES = 8


def load_planes(path: Path) -> Arrays:
    """All arrays of a file, by plane name.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG721 where it is missing, truncated or holds something else.
    """
    _check_kind(path)
    try:
        arrays = tensors_from_bytes(path.read_bytes()) if path.suffix == ".safetensors" else _load_npz(path)
    except (OSError, BadZipFile, ValueError, EOFError, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ProblemsFound([UnreadablePlanes(None, str(path), reason)]) from error
    return {name.replace(".", " "): array for name, array in arrays.items()}


def load_described(path: Path) -> tuple[Arrays, dict[str, str]]:
    """All arrays of a .safetensors file, by plane name, and the texts that its header carries.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG721 where it is missing, truncated or holds something else.
    """
    _check_kind(path, (".safetensors",))
    arrays = load_planes(path)
    try:
        with path.open("rb") as file:
            header = file.read(int.from_bytes(file.read(_HEADER_LENGTH_BYTES), "little"))
        texts = json.loads(header).get("__metadata__", {})
    except (OSError, ValueError, RecursionError) as error:
        raise ProblemsFound([UnreadablePlanes(None, str(path), str(error))]) from error
    return arrays, texts


def save_planes(path: Path, planes: Mapping[str, NDArray[Any]], texts: Mapping[str, str] | None = None) -> None:
    """Writes arrays under their plane names; the file is there whole or not at all, also after a loss of power.

    bf16 becomes f32 in an .npz, whose format does not know it; every value stays the same.

    Args:
        path: where to.
        planes: arrays by name.
        texts: for the header of a .safetensors file; an .npz has none.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG722 where it cannot be written.
    """
    _check_kind(path, KINDS if texts is None else (".safetensors",))
    arrays = {name: np.ascontiguousarray(array) for name, array in planes.items()}
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                _write(path.suffix, file, arrays, texts)
                file.flush()
                os.fsync(file.fileno())
                file.close()
                os.replace(file.name, path)  # noqa: PTH105  (one call that says what it does)
            except BaseException:
                with suppress(OSError):
                    Path(file.name).unlink()
                raise
    except OSError as error:
        raise ProblemsFound([UnwritablePlanes(None, str(path), error.strerror or str(error))]) from error


def _check_kind(path: Path, kinds: Sequence[str] = KINDS) -> None:
    if path.suffix not in kinds:
        raise ProblemsFound([UnknownFileKind(None, str(path), " or ".join(kinds))])


def _load_npz(path: Path) -> Arrays:
    with path.open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            raise ValueError("it holds a single array without a name")  # noqa: TRY004  (the file is wrong, not a type)
        with stored:
            return {name: stored[name] for name in stored.files}


def _write(suffix: str, file: BinaryIO | Any, arrays: Arrays, texts: Mapping[str, str] | None) -> None:
    if suffix == ".safetensors":
        file.write(tensors_to_bytes(arrays, texts))
        return
    # Not np.savez: it takes names as keywords, and a plane may be called `file`.
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            widened = array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                write_array(member, widened, allow_pickle=False)

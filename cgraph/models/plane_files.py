"""Plane contents in files: .safetensors and .npz.

A plane is stored under its name, `cgQkvWeight 0`; `cgQkvWeight.0` is read as well, for files that others wrote. Files
are read without executing anything (no pickle) and written to a temporary file that then takes the target's place.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import ml_dtypes
import numpy as np
from numpy.lib.format import write_array
from numpy.typing import NDArray

from cgraph.backends.tensors import tensors_from_bytes, tensors_to_bytes, texts_from_bytes
from cgraph.core.replaced_files import replaced_file
from cgraph.diagnostics import ProblemsFound
from cgraph.models.problems_files import UnknownFileKind, UnreadablePlanes, UnwritablePlanes

Arrays = dict[str, NDArray[Any]]
KINDS = (".safetensors", ".npz")
# Those that have a header for texts.
DESCRIBED_KINDS = (".safetensors",)


def load_planes(path: Path) -> Arrays:
    """All arrays of a file, by plane name.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG721 where it is missing, truncated or holds something else.
    """
    return _load(path, KINDS)[0]


def load_described(path: Path) -> tuple[Arrays, dict[str, str]]:
    """All arrays of a .safetensors file, by plane name, and the texts that its header carries.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG721 where it is missing, truncated or holds something else.
    """
    return _load(path, DESCRIBED_KINDS)


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
    _check_kind(path, KINDS if texts is None else DESCRIBED_KINDS)
    arrays = {name: np.ascontiguousarray(array) for name, array in planes.items()}
    try:
        with replaced_file(path) as file:
            _write(path.suffix, file, arrays, texts)
    except OSError as error:
        raise ProblemsFound([UnwritablePlanes(None, str(path), error.strerror or str(error))]) from error


def _check_kind(path: Path, kinds: Sequence[str]) -> None:
    if path.suffix not in kinds:
        raise ProblemsFound([UnknownFileKind(None, str(path), " or ".join(kinds))])


def _load(path: Path, kinds: Sequence[str]) -> tuple[Arrays, dict[str, str]]:
    _check_kind(path, kinds)
    try:
        arrays, texts = _load_safetensors(path) if path.suffix == ".safetensors" else (_load_npz(path), {})
    except (OSError, BadZipFile, ValueError, EOFError, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ProblemsFound([UnreadablePlanes(None, str(path), reason)]) from error
    return {name.replace(".", " "): array for name, array in arrays.items()}, texts


def _load_safetensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    data = path.read_bytes()
    return tensors_from_bytes(data), texts_from_bytes(data)


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

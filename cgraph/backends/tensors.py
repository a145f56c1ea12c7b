"""Contents of planes as bytes of safetensors, and back: a format that holds nothing but arrays.

Receives arrays of the element types that planes have, which are bytes in imported graphs, or a block from anywhere;
guarantees the same block for the same arrays, and when reading, arrays that own no more memory than the block has.
Which arrays belong to which planes is left to the caller.
"""

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

# The size of the header stands before it; what follows is aligned to as many bytes.
_LENGTH_BYTES = 8
_TEXTS = "__metadata__"
_DTYPES: Mapping[str, np.dtype[Any]] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I32": np.dtype(np.int32),
    "U8": np.dtype(np.uint8),
}


def tensors_to_bytes(arrays: Mapping[str, NDArray[Any]], texts: Mapping[str, str] | None = None) -> bytes:
    """Arrays by name, and texts for the header, as one block of safetensors."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    if texts is None:
        return save(contiguous)
    data = save(contiguous, dict(texts))
    # The library gives texts in another order each time, and the header is JSON, padded with spaces.
    header, end = _header(data)
    header[_TEXTS] = dict(sorted(texts.items()))
    ordered = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    ordered += b" " * (-len(ordered) % _LENGTH_BYTES)
    return len(ordered).to_bytes(_LENGTH_BYTES, "little") + ordered + data[end:]


def tensors_from_bytes(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a block, by name and in the order of the names. They cannot be written to.

    Raises:
        ValueError: the bytes are no safetensors, or hold elements that no plane has.
    """
    try:
        stored = deserialize(data)  # type: ignore[no-untyped-call]  # the library does not say
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    arrays: dict[str, NDArray[Any]] = {}
    # The library gives them in another order each time.
    for name, tensor in sorted(stored, key=itemgetter(0)):
        dtype = _DTYPES.get(tensor["dtype"])
        if dtype is None:
            raise ValueError(f"`{name}` holds {tensor['dtype']}, planes hold {', '.join(_DTYPES)}")
        arrays[name] = np.frombuffer(tensor["data"], dtype).reshape(tensor["shape"])
    return arrays


def texts_from_bytes(data: bytes) -> dict[str, str]:
    """The texts in the header of a block that `tensors_from_bytes` reads; where it has none, no texts."""
    return _header(data)[0].get(_TEXTS) or {}


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a sound block, and where it ends."""
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    return json.loads(data[_LENGTH_BYTES:end]), end

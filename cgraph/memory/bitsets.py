"""Rows of bits as ints, and the same bits in NumPy where many of them are worked on at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_TRANSPOSE_ROWS = 1024


def unpacked(row: int, count: int) -> npt.NDArray[np.uint8]:
    """Bits 0 … count of a row as an array of 0 and 1."""
    data = np.frombuffer(row.to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.unpackbits(data, count=count, bitorder="little")


def packed(bits: npt.NDArray[np.uint8]) -> int:
    """The row whose bits stand in an array of 0 and 1."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def transposed(rows: Sequence[int]) -> list[int]:
    """Bit j of row i becomes bit i of row j; there are as many bits as rows."""
    count = len(rows)
    columns = np.zeros((count, (count + 7) // 8), np.uint8)
    for first in range(0, count, _TRANSPOSE_ROWS):
        bits = np.stack([unpacked(row, count) for row in rows[first : first + _TRANSPOSE_ROWS]])
        part = np.packbits(bits.T, axis=1, bitorder="little")
        columns[:, first // 8 : first // 8 + part.shape[1]] = part
    return [int.from_bytes(column.tobytes(), "little") for column in columns]

"""The embedding: a row of a table for every id."""

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, integer_array, real_array


def embedding(table: ArrayLike, ids: ArrayLike) -> FloatArray:
    """The rows of the table: y[i] = table[ids[i]].

    Args:
        table: [entries, width].
        ids: [rows], each 0 or more and below entries.

    Returns:
        y: [rows, width].

    Raises:
        ValueError: a shape does not fit, a value is not finite, or an id is out of range.
    """
    table = real_array("table", table, ("entries", "width"))
    found: FloatArray = table[_flat(ids, len(table))]
    return found


def embedding_bwd(ids: ArrayLike, dy: ArrayLike, entries: int) -> FloatArray:
    """Gradient of `embedding` for the table: dtable[t] = sum of dy[i] over all i with ids[i] = t.

    Args:
        ids: [rows], each 0 or more and below entries; an id that occurs twice gets both rows' gradients.
        dy: [rows, width].
        entries: of the table.

    Returns:
        dtable: [entries, width]; 0 where no id points.

    Raises:
        ValueError: a shape does not fit, a value is not finite, or an id is out of range.
    """
    rows = _flat(ids, entries)
    dy = real_array("dy", dy, (len(rows), "width"))
    dtable = np.zeros((entries, dy.shape[1]))
    np.add.at(dtable, rows, dy)
    return dtable


def _flat(ids: ArrayLike, entries: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    rows = integer_array("ids", ids, None, least=0, below=entries)
    if rows.ndim != 1:
        raise ValueError(f"ids: expected shape [rows], got {list(rows.shape)}")
    return rows

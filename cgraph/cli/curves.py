"""Loss curves as text, for a terminal.

Receives losses and evaluations; gives lines of braille dots, two across and four down in each character, and a `●`
where the model was evaluated. All characters are one column wide.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_DOTS_ACROSS, _DOTS_DOWN = 2, 4
_BLANK = 0x2800
# The bit of each dot of a braille character, [down, across]. Source: The Unicode Standard, Braille Patterns.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_EVALUATED = "●"
_LABEL_WIDTH = 8


def text_curves(
    losses: Sequence[float], evaluations: Sequence[tuple[int, float]], unit: str, *, width: int = 72, height: int = 14
) -> list[str]:
    """The curve of all steps from 1 on; each column shows the mean of its steps.

    Args:
        losses: of each step, one or more, finite.
        evaluations: step and loss of each.
        unit: of the losses.
        width: columns in all.
        height: lines of the curve itself.
    """
    across = max(8, width - _LABEL_WIDTH - 2)
    curve = _means(losses, across * _DOTS_ACROSS)
    seen = [*curve, *(loss for _, loss in evaluations)]
    low, high = min(seen), max(seen)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    dots = height * _DOTS_DOWN
    rows = np.rint((high - np.array(curve)) / (high - low) * (dots - 1)).astype(int)
    cells = _draw(rows, dots, across)
    last = len(losses)
    for step, loss in evaluations:
        row = round((high - loss) / (high - low) * (dots - 1)) // _DOTS_DOWN
        cells[row][min(across - 1, (step - 1) * across // last)] = _EVALUATED
    labelled = {0: high, height // 2: high - (high - low) * (height // 2) / (height - 1), height - 1: low}
    lines = [
        f"{f'{labelled[row]:.3f}' if row in labelled else '':>{_LABEL_WIDTH}} ┤{''.join(cells[row]).rstrip()}"
        for row in range(height)
    ]
    ends = f"1{last:>{across - 1}}"
    key = f"loss in {unit}, of each step" + (f"; {_EVALUATED} of the evaluation" if evaluations else "")
    return [*lines, f"{'':>{_LABEL_WIDTH}} └{'─' * across}", f"{'':>{_LABEL_WIDTH}}  {ends}", key]


def _means(losses: Sequence[float], columns: int) -> list[float]:
    """Means of equal parts, or the losses themselves, repeated, where they are fewer than the columns."""
    values = np.asarray(losses, np.float64)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    begins = np.arange(columns) * len(values) // columns
    ends = np.maximum(begins + 1, (np.arange(columns) + 1) * len(values) // columns)
    means: list[float] = ((sums[ends] - sums[begins]) / (ends - begins)).tolist()
    return means


def _draw(rows: NDArray[np.int_], dots: int, across: int) -> list[list[str]]:
    """Dots at a row for each column, [dots across], joined by vertical lines, as characters."""
    grid = np.zeros((dots, len(rows)), np.bool_)
    grid[rows, np.arange(len(rows))] = True
    for column, (before, row) in enumerate(pairwise(rows), start=1):
        grid[min(before, row) : max(before, row) + 1, column] = True
    parts = grid.reshape(dots // _DOTS_DOWN, _DOTS_DOWN, across, _DOTS_ACROSS)
    codes = _BLANK + np.einsum("hdwa,da->hw", parts.astype(int), _BITS)
    return [[chr(code) if code != _BLANK else " " for code in line] for line in codes.tolist()]

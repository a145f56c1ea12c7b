"""The cross entropy of logits and targets, a mean over the supervised rows only.

A row is supervised if its target is not `IGNORED` and, in the masked form, its mask is True. Where no row is, the loss
and every gradient are 0: there is nothing to learn, and a mean of nothing would be NaN.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference.arrays import BoolArray, FloatArray, IntArray, boolean_array, integer_array, real_array
from cgraph.reference.softmax import softmax

IGNORED = -1


def cross_entropy(logits: ArrayLike, targets: ArrayLike) -> float:
    """The mean of log(sum(exp(logits[i]))) - logits[i, targets[i]] over the supervised rows i.

    Args:
        logits: [rows, vocab].
        targets: [rows], each 0 or more and below vocab, or -1 for a row that is not supervised.

    Returns:
        The loss; 0 where no row is supervised.

    Raises:
        ValueError: a shape does not fit, a logit is not finite, or a target is out of range.
    """
    return _loss(_read(logits, targets, None))


def masked_cross_entropy(logits: ArrayLike, targets: ArrayLike, mask: ArrayLike) -> float:
    """The same with fewer supervised rows: those whose mask is True as well.

    Args:
        logits: [rows, vocab].
        targets: [rows], as for `cross_entropy`, also where the mask is False.
        mask: [rows] booleans; True where a row is supervised.

    Raises:
        ValueError: as for `cross_entropy`, or the mask holds no booleans or has another shape.
    """
    return _loss(_read(logits, targets, mask))


def cross_entropy_bwd(logits: ArrayLike, targets: ArrayLike) -> tuple[float, FloatArray]:
    """The loss and its gradient (seed 001, `crossEntropyBwd`).

    dlogits[i] = (softmax(logits[i]) - onehot(targets[i])) / supervised rows where row i is supervised, otherwise 0.

    Args:
        logits: [rows, vocab].
        targets: [rows], as for `cross_entropy`.

    Returns:
        loss; dlogits: [rows, vocab].

    Raises:
        ValueError: as for `cross_entropy`.
    """
    read = _read(logits, targets, None)
    return _loss(read), _gradient(read)


def masked_cross_entropy_bwd(logits: ArrayLike, targets: ArrayLike, mask: ArrayLike) -> tuple[float, FloatArray]:
    """The loss and its gradient (seed 001, `maskedCrossEntropyBwd`), averaged over the supervised rows.

    Args:
        logits: [rows, vocab].
        targets: [rows], as for `masked_cross_entropy`.
        mask: [rows] booleans; True where a row is supervised.

    Returns:
        loss; dlogits: [rows, vocab].

    Raises:
        ValueError: as for `masked_cross_entropy`.
    """
    read = _read(logits, targets, mask)
    return _loss(read), _gradient(read)


class _Read(NamedTuple):
    logits: FloatArray
    targets: IntArray
    supervised: BoolArray


def _read(logits: ArrayLike, targets: ArrayLike, mask: ArrayLike | None) -> _Read:
    logits = real_array("logits", logits, ("rows", "vocab"))
    rows, vocab = logits.shape
    targets = integer_array("targets", targets, (rows,), least=IGNORED, below=vocab)
    supervised = targets != IGNORED
    if mask is not None:
        supervised &= boolean_array("mask", mask, (rows,))
    return _Read(logits, targets, supervised)


def _loss(read: _Read) -> float:
    logits, targets = read.logits[read.supervised], read.targets[read.supervised]
    if not len(logits):
        return 0.0
    below_greatest = logits - logits.max(axis=1, keepdims=True)
    of_targets = below_greatest[np.arange(len(targets)), targets]
    return float((np.log(np.exp(below_greatest).sum(axis=1)) - of_targets).mean())


def _gradient(read: _Read) -> FloatArray:
    gradient = np.zeros_like(read.logits)
    rows = np.flatnonzero(read.supervised)
    if rows.size:
        of_rows = softmax(read.logits[rows])
        of_rows[np.arange(rows.size), read.targets[rows]] -= 1
        gradient[rows] = of_rows / rows.size
    return gradient

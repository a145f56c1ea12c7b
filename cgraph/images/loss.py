"""Cross entropy over the rows that count, and its gradient in the place of the logits.

A row counts if its target is a token, at least 0 and below vocab, and its mask, where there is one, is not 0. The loss
is the mean over these rows; with none of them it is 0, and so is the gradient.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.loss_scale import loss_scale
from cgraph.images.registry import meaning


@meaning("loss.cu", "cgSupervisedCount")
def supervised_count(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    count: Array,
    targets: Array,
    mask: Array | None,
    vocab: int,
    **_: object,
) -> None:
    """count[1] = how many rows count."""
    count[0] = np.count_nonzero(_counting(targets, mask, vocab))


@meaning("loss.cu", "cgCrossEntropy")
def cross_entropy(
    context: HostContext,
    *,
    logits: Array,
    targets: Array,
    mask: Array | None,
    losses: Array,
    bias: Array,
    count: Array,
    scale: Array,
    **_: object,
) -> None:
    """losses[rows] of logits + bias; then logits[rows,vocab] = scale · (softmax - 1 at the target) / count.

    Both are 0 in rows that do not count. A scale of 0 counts as 1.
    """
    rows, vocab = logits.shape
    counting = _counting(targets, mask, vocab)
    weight = loss_scale(scale) / max(int(count[0]), 1)

    def differentiate(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        sums_memory = scratch.take("sums", (chunk, 1), logits.dtype)
        for part in parts:
            row, here = logits[part], counting[part]
            sums = sums_memory[: len(here)]
            picked = _centre(row, bias, targets[part], sums)
            np.exp(row, out=row)
            np.add.reduce(row, axis=1, out=sums, keepdims=True)
            np.subtract(np.log(sums[:, 0]), picked, out=losses[part])
            np.divide(weight, sums, out=sums)
            np.multiply(row, sums, out=row)
            chosen = np.flatnonzero(here)
            row[chosen, targets[part][chosen]] -= weight
            row[~here] = 0
            losses[part][~here] = 0

    context.share_rows(rows, vocab, differentiate)


@meaning("loss.cu", "cgCrossEntropyLosses")
def cross_entropy_losses(
    context: HostContext,
    *,
    logits: Array,
    targets: Array,
    mask: Array | None,
    losses: Array,
    bias: Array,
    **_: object,
) -> None:
    """losses[rows] of logits + bias, 0 in rows that do not count."""
    rows, vocab = logits.shape
    counting = _counting(targets, mask, vocab)

    def compute(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memory = scratch.take("logits", (chunk, vocab), logits.dtype)
        sums_memory = scratch.take("sums", (chunk, 1), logits.dtype)
        for part in parts:
            row, sums = memory[: part.stop - part.start], sums_memory[: part.stop - part.start]
            np.copyto(row, logits[part])
            picked = _centre(row, bias, targets[part], sums)
            np.exp(row, out=row)
            np.add.reduce(row, axis=1, out=sums, keepdims=True)
            np.subtract(np.log(sums[:, 0]), picked, out=losses[part])
            losses[part][~counting[part]] = 0

    context.share_rows(rows, vocab, compute)


@meaning("loss.cu", "cgLossMean")
def loss_mean(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    loss: Array,
    losses: Array,
    count: Array,
    **_: object,
) -> None:
    """loss[1] = Σ losses[rows] / count; 0 where the count is 0."""
    number = int(count[0])
    loss[0] = np.add.reduce(losses) / number if number > 0 else 0


def _counting(targets: Array, mask: Array | None, vocab: int) -> Array:
    """Which rows count."""
    counting: Array = (targets >= 0) & (targets < vocab)
    return counting if mask is None else counting & (mask != 0)


def _centre(row: Array, bias: Array, targets: Array, sums: Array) -> Array:
    """Adds the bias to each row and takes off the largest value, so that no exponential overflows.

    Gives the targets' values; targets that are no column give some value, which the caller does not use.
    """
    np.add(row, bias, out=row)
    np.maximum.reduce(row, axis=1, out=sums, keepdims=True)
    np.subtract(row, sums, out=row)
    columns = np.clip(targets, 0, row.shape[1] - 1)
    picked: Array = np.take_along_axis(row, columns[:, None], axis=1)[:, 0]
    return picked

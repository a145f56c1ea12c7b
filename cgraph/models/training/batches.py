"""Batches of sequences out of a line of tokens.

Receives tokens, [tokens], with at least one more than a sequence has; gives ids and targets of i32 position by
position, as the programs take them: the target of a position is the token after it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.models.training.draws import Purpose, uniform

Batch = tuple[NDArray[np.int32], NDArray[np.int32]]


def training_batch(tokens: NDArray[Any], extent: tuple[int, int, int], seed: int, step: int) -> Batch:
    """Ids and targets of a step, each [microbatches, seq, batch].

    Every sequence starts at a place drawn for the seed and the step alone, all places alike.

    Args:
        tokens: [tokens]
        extent: microbatches, seq, batch.
        seed: of the run.
        step: counted from 0.
    """
    microbatches, seq, batch = extent
    places = len(tokens) - seq
    starts = (uniform(seed, Purpose.BATCH, step, microbatches * batch) * places).astype(np.int64)
    return _gather(tokens, starts.reshape(microbatches, 1, batch), seq)


def evaluation_batches(tokens: NDArray[Any], seq: int, batch: int, count: int) -> tuple[Batch, ...]:
    """The batches of every evaluation: `count` of ids and targets [seq, batch], sequences evenly over the tokens."""
    starts = np.linspace(0, len(tokens) - seq - 1, count * batch).astype(np.int64)
    return tuple(_gather(tokens, part.reshape(1, batch), seq) for part in np.split(starts, count))


def _gather(tokens: NDArray[Any], starts: NDArray[np.int64], seq: int) -> Batch:
    """Starts [..., 1, batch] to ids and targets [..., seq, batch]."""
    places = starts + np.arange(seq)[:, None]
    return tokens[places].astype(np.int32), tokens[places + 1].astype(np.int32)

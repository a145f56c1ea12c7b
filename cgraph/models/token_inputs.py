"""Ids, targets and masks of a batch, checked and laid out as the whole-model programs take them.

Receives one sequence or a batch of sequences of one length; guarantees arrays [seq, batch] of i32, position by
position, whose values the programs may rely on.
"""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.models.config import GptConfig
from cgraph.models.host_arrays import host_array

IGNORED = -1


@frozen(eq=False)
class TokenInputs:
    """What a program is given besides the weights.

    Args:
        ids, targets: [seq, batch] of i32.
        supervised: [seq, batch] of i32, 0 or 1; None where every target that is a token counts.
        present: [seq, batch] of i32, 0 at padding and 1 elsewhere; None where nothing is padding.
    """

    ids: NDArray[np.int32]
    targets: NDArray[np.int32]
    supervised: NDArray[np.int32] | None
    present: NDArray[np.int32] | None

    @property
    def seq(self) -> int:
        """Tokens of a sequence."""
        return int(self.ids.shape[0])

    @property
    def batch(self) -> int:
        """Sequences."""
        return int(self.ids.shape[1])

    @property
    def counted(self) -> int:
        """Positions that count for the loss."""
        counting = self.targets != IGNORED
        return int(np.count_nonzero(counting if self.supervised is None else counting & (self.supervised != 0)))


def token_inputs(
    config: GptConfig, ids: object, targets: object, *, mask: object | None, padding: object | None
) -> TokenInputs:
    """Checks and lays out.

    Args:
        config: the sizes.
        ids: [seq] or [batch, seq] integers from 0 to vocab - 1; seq is at most the context.
        targets: integers in the shape of ids, from 0 to vocab - 1, or -1 where nothing is to be learned.
        mask: booleans, or zeros and ones, in the shape of ids: where a target counts. None: everywhere.
        padding: likewise: where a position only fills its sequence up. None: nowhere.

    Raises:
        ValueError: a shape or a value does not fit; the message names the argument.
    """
    tokens = _integers("ids", ids, least=0, below=config.vocab)
    if tokens.ndim not in (1, 2):
        raise ValueError(f"ids: expected shape [seq] or [batch, seq], got {list(tokens.shape)}")
    if tokens.size == 0:
        raise ValueError(f"ids: expected one token or more, got shape {list(tokens.shape)}")
    if tokens.shape[-1] > config.context:
        raise ValueError(f"ids: {tokens.shape[-1]} tokens are more than the context of {config.context}")
    shape = tokens.shape
    wanted = _of_shape("targets", _integers("targets", targets, least=IGNORED, below=config.vocab), shape)
    supervised = None if mask is None else _laid_out(_of_shape("mask", _flags("mask", mask), shape))
    present = None if padding is None else _laid_out(1 - _of_shape("padding", _flags("padding", padding), shape))
    if present is not None and present.all():
        present = None
    return TokenInputs(_laid_out(tokens), _laid_out(wanted), supervised, present)


def _integers(name: str, value: object, *, least: int, below: int) -> NDArray[Any]:
    array = host_array(name, value)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    outside = (array < least) | (array >= below)
    if outside.any():
        place = np.argwhere(outside)[0].tolist()
        raise ValueError(f"{name}: expected {least} to {below - 1}, got {array[tuple(place)]} at {place}")
    return array


def _flags(name: str, value: object) -> NDArray[Any]:
    array = host_array(name, value)
    if array.size and array.dtype.kind not in "biu":
        raise ValueError(f"{name}: expected booleans, got {array.dtype}")
    if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name}: expected booleans, or zeros and ones, got other integers")
    return array.astype(np.int32)


def _of_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {list(shape)}, as ids have, got {list(array.shape)}")
    return array


def _laid_out(array: NDArray[Any]) -> NDArray[np.int32]:
    """[seq] or [batch, seq] as [seq, batch]."""
    return np.ascontiguousarray(np.atleast_2d(array).T, np.int32)

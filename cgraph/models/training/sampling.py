"""Text that a model continues, token by token.

Receives the `predict` entry ready to run; the model sees as many of the last tokens as a sequence has. They stand at
the positions from 0 on; what stands behind the last one changes nothing, because no token sees later ones.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.protocol import Executable
from cgraph.models.training.draws import Purpose, uniform


@frozen
class Sampling:
    """How samples are taken.

    Args:
        prompt: tokens to begin with, [tokens], one or more.
        length: tokens to add; 0: no samples.
        temperature: divides the logits; 0: always the likeliest token.
        every: steps; 0: at the end only.
    """

    prompt: NDArray[Any] = field(eq=False)
    length: int
    temperature: float
    every: int


def sample(
    executable: Executable, sizes: tuple[int, int], tokens: int, sampling: Sampling, *, seed: int, step: int
) -> NDArray[np.int64]:
    """Prompt and continuation, [tokens].

    Args:
        executable: of `predict`, with the weights in place.
        sizes: seq and batch of it; only the first sequence is used.
        tokens: that the tokeniser has; the model's vocabulary may be larger.
        sampling: what to do.
        seed: decides the draws, with the step.
        step: that the model is at.
    """
    seq, batch = sizes
    drawn = uniform(seed, Purpose.SAMPLE, step, sampling.length)
    text = np.concatenate([sampling.prompt.astype(np.int64), np.zeros(sampling.length, np.int64)])
    ids = np.zeros((seq, batch), np.int32)
    for place, number in enumerate(drawn, start=len(sampling.prompt)):
        seen = text[max(0, place - seq) : place]
        ids[: len(seen), 0] = seen
        executable.set("cgTokenIds", ids)
        executable.run()
        logits = executable.get("cgPrediction")[(len(seen) - 1) * batch, :tokens]
        text[place] = choose(logits.astype(np.float64), sampling.temperature, float(number))
    return text


def choose(logits: NDArray[np.float64], temperature: float, number: float) -> int:
    """A token out of its distribution.

    Args:
        logits: [tokens]
        temperature: 0 or more.
        number: in [0, 1), the draw.
    """
    if temperature == 0:
        return int(np.argmax(logits))
    # Divided after the largest is taken off: what a low temperature makes infinite then has the weight 0.
    with np.errstate(over="ignore"):
        weights = np.exp((logits - logits.max()) / temperature)
    sums = np.cumsum(weights)
    return min(int(np.searchsorted(sums, number * sums[-1], side="right")), len(logits) - 1)

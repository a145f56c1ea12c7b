"""A training step behind the gradients: their norm, what the step decides from it, and the update of every weight.

control[8] holds what the host asks for: the learning rate, beta1, beta2, epsilon, the weight decay, the largest norm
(0: any), the number of updates after which the loss scale doubles (0: it never changes) and the largest loss scale.
update[5] holds what a step decides, once for all weights: the factor of a gradient, whether it is applied, what the
decay leaves of a weight, the step size and the square root of the second moment's bias correction.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import CHUNK_ELEMENTS, Array, HostContext, Scratch
from cgraph.images.loss_scale import loss_scale
from cgraph.images.registry import meaning

MOST_UPDATES = np.iinfo(np.int32).max
CLIP_GUARD = 1e-6


@meaning("optimizer.cu", "cgSquareParts")
def square_parts(context: HostContext, *, parts: Array, in_: Array, **_: object) -> None:
    """parts[blocks] in f64: sums of squares of in[n]; a block has ceil(n / blocks) elements, up to a multiple of 4."""
    blocks = len(parts)
    span = -(-in_.size // blocks)
    span += -span % 4
    wide = np.dtype(np.float64)

    def add(scratch: Scratch, numbers: Iterator[int]) -> None:
        memory = scratch.take("squares", (CHUNK_ELEMENTS,), wide)
        for block in numbers:
            stop = min((block + 1) * span, in_.size)
            total = 0.0
            for first in range(block * span, stop, CHUNK_ELEMENTS):
                values = in_[first : min(first + CHUNK_ELEMENTS, stop)]
                squares = np.square(values, out=memory[: values.size], dtype=wide)
                total += float(np.add.reduce(squares))
            parts[block] = total

    context.share(blocks, add)


@meaning("optimizer.cu", "cgStepControl")
def step_control(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    update: Array,
    norm: Array,
    loss: Array,
    progress: Array,
    scale: Array,
    control: Array,
    parts: Array,
    losses: Array,
    **_: object,
) -> None:
    """norm[1], loss[1] and update[5] from the sums of squares; progress[4] and scale[1] move on by one step."""
    rate, beta1, beta2, _epsilon, decay, largest_norm, growth_updates, largest_scale = control.astype(np.float64)
    scaled_by = loss_scale(scale)
    mean = 1 / np.float64(scaled_by * len(losses))
    loss[0] = np.add.reduce(losses, dtype=np.float64) / len(losses)
    norm[0] = np.sqrt(np.add.reduce(parts)) * mean
    applied = bool(np.isfinite(norm[0]))
    counted = 0 if applied else 1
    progress[counted] = _next_count(progress[counted])
    since = _next_count(progress[2]) if applied else 0
    new_scale = scaled_by
    if applied and 0 < growth_updates <= since and 2 * scaled_by <= largest_scale:
        new_scale = 2 * scaled_by
    elif not applied and growth_updates > 0 and scaled_by > 1:
        new_scale = max(scaled_by / 2, 1.0)
    progress[2] = since if new_scale == scaled_by else 0
    progress[3] = not applied
    scale[0] = new_scale
    clip = min(1.0, largest_norm / (float(norm[0]) + CLIP_GUARD)) if largest_norm > 0 else 1.0
    updates = int(progress[0])
    update[0] = clip * mean if applied else 0
    update[1] = applied
    update[2] = 1 - rate * decay
    update[3] = rate / (1 - beta1**updates)
    update[4] = np.sqrt(1 - beta2**updates)


@meaning("optimizer.cu", "cgAdamW")
def adam_w(
    context: HostContext,
    *,
    weight: Array,
    moment1: Array,
    moment2: Array,
    gradient: Array,
    control: Array,
    update: Array,
    decays: int,
    **_: object,
) -> None:
    """weight[n], moment1[n] and moment2[n] from gradient[n]; none of them changes where nothing is applied."""
    factor, applied, kept, step_size, root_correction = map(float, update)
    if not applied:
        return
    beta1, beta2, epsilon = map(float, control[1:4])

    def step(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        given_memory, divisor_memory = (scratch.take(name, (chunk,), weight.dtype) for name in ("given", "divisor"))
        for part in parts:
            first, second, value = moment1[part], moment2[part], weight[part]
            given, divisor = given_memory[: value.size], divisor_memory[: value.size]
            np.multiply(gradient[part], factor, out=given)
            np.subtract(given, first, out=divisor)
            divisor *= 1 - beta1
            first += divisor
            second *= beta2
            np.multiply(given, 1 - beta2, out=divisor)
            divisor *= given
            second += divisor
            np.sqrt(second, out=divisor)
            divisor /= root_correction
            divisor += epsilon
            np.divide(first, divisor, out=divisor)
            divisor *= step_size
            if decays:
                value *= kept
            value -= divisor

    context.share_rows(weight.size, 1, step)


@meaning("optimizer.cu", "cgDescent")
def descent(
    context: HostContext, *, weight: Array, gradient: Array, control: Array, update: Array, **_: object
) -> None:
    """weight[n] -= learning rate · factor · gradient[n]; it stays where nothing is applied."""
    factor, applied, *_rest = map(float, update)
    if not applied:
        return
    rate = float(control[0])

    def step(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memory = scratch.take("given", (chunk,), weight.dtype)
        for part in parts:
            given = memory[: part.stop - part.start]
            np.multiply(gradient[part], factor, out=given)
            given *= rate
            weight[part] -= given

    context.share_rows(weight.size, 1, step)


def _next_count(count: int) -> int:
    return min(int(count) + 1, MOST_UPDATES)

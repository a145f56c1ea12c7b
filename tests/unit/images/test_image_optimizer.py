"""A step behind the gradients, against the float64 reference; one step's f32 results to a few roundings."""

from typing import Any

import numpy as np
import pytest
from attrs import define, field
from image_cases import HALVES, Array, context, normal, poisoned

from cgraph.images import optimizer
from cgraph.reference.optimizer import (
    AdamSettings,
    ScaleProgress,
    adam_w_step,
    clip_factor,
    descent_step,
    global_norm,
    next_scale,
)

UNIT = {"f32": 2.0**-24, "f64": 2.0**-53}
RATE, BETA1, BETA2, EPSILON, DECAY = 0.01, 0.9, 0.99, 1e-6, 0.1


def control(dtype: Any, *, largest_norm: float = 0, growth: float = 0, largest_scale: float = 65536) -> Array:
    return np.array([RATE, BETA1, BETA2, EPSILON, DECAY, largest_norm, growth, largest_scale], dtype)


def settings(given: Array, decays: int) -> AdamSettings:
    """The reference's, from numbers that the step's element type has rounded."""
    rate, beta1, beta2, epsilon, decay = map(float, given[:5])
    return AdamSettings(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, decay=decay * decays)


@define
class Stepper:
    """Runs the control of steps; keeps progress and scale."""

    dtype: Any = np.float32
    scale: Array = field(init=False)
    progress: Array = field(factory=lambda: np.zeros(4, np.int32))
    update: Array = field(init=False)
    norm: float = 0
    loss: float = 0

    def __attrs_post_init__(self) -> None:
        self.scale = np.zeros(1, self.dtype)

    def step(self, given: Array, parts: Array, losses: Array | None = None) -> None:
        update, norm, loss = (poisoned((size,), np.dtype(self.dtype)) for size in (5, 1, 1))
        losses = np.ones(1, self.dtype) if losses is None else losses
        with np.errstate(all="ignore"):
            optimizer.step_control(
                context(),
                update=update,
                norm=norm,
                loss=loss,
                progress=self.progress,
                scale=self.scale,
                control=given,
                parts=parts,
                losses=losses,
                count=len(parts),
                microbatches=len(losses),
            )
        self.update, self.norm, self.loss = update, float(norm[0]), float(loss[0])


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (5, 1), (5, 2), (9, 4), (4097, 2), (70_001, 3), (1000, 128)])
def test_squares_of_every_element_are_added_once(name: str, n: int, blocks: int) -> None:
    values, parts = normal((n,), HALVES[name].wide, 1), poisoned((blocks,), np.dtype(np.float64))
    optimizer.square_parts(context(), parts=parts, in_=values, n=n, blocks=blocks)
    assert abs(np.sqrt(parts.sum()) / global_norm([values]) - 1) <= 1e-14
    span = -(-n // blocks)
    span += -span % 4
    for block, part in enumerate(parts):
        assert abs(part - float(np.sum(values[block * span : (block + 1) * span].astype(np.float64) ** 2))) <= 1e-14 * n


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 17, 4096])
def test_one_element_that_is_not_finite_shows_in_the_sum(value: float, place: int) -> None:
    values, parts = np.ones(4097, np.float32), poisoned((2,), np.dtype(np.float64))
    values[place] = value
    optimizer.square_parts(context(), parts=parts, in_=values, n=4097, blocks=2)
    assert not np.isfinite(parts.sum())
    values[place] = 3e38
    optimizer.square_parts(context(), parts=parts, in_=values, n=4097, blocks=2)
    assert np.isfinite(parts.sum())


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("decays", [0, 1])
@pytest.mark.parametrize("n", [1, 37, 33_000])
def test_three_steps_of_adam_w(name: str, decays: int, n: int) -> None:
    dtype = HALVES[name].wide
    given, stepper = control(dtype, largest_norm=0.5), Stepper(dtype)
    stepper.scale[0] = 8
    weight, moments = normal((n,), dtype, 1), [np.zeros(n, dtype), np.zeros(n, dtype)]
    expected, expected_moments = weight.astype(np.float64), (np.zeros(n), np.zeros(n))
    for step in (1, 2, 3):
        slope = normal((n,), dtype, 10 + step)
        stepper.step(given, np.array([global_norm([8 * slope.astype(np.float64)]) ** 2]))
        optimizer.adam_w(
            context(),
            weight=weight,
            moment1=moments[0],
            moment2=moments[1],
            gradient=8 * slope,
            control=given,
            update=stepper.update,
            n=n,
            decays=decays,
        )
        clipped = clip_factor(global_norm([slope]), 0.5) * slope.astype(np.float64)
        expected, *expected_moments = adam_w_step(expected, *expected_moments, clipped, step, settings(given, decays))
    # A step makes about twenty roundings; what it moves a weight by is at most a few times the learning rate.
    assert np.abs(weight - expected).max() <= 3 * 20 * UNIT[name] * (np.abs(expected).max() + RATE)
    for found, wanted in zip(moments, expected_moments, strict=True):
        assert np.abs(found - wanted).max() <= 3 * 20 * UNIT[name] * np.abs(wanted).max()


def test_descent_by_hand() -> None:
    weight, given = np.array([1.0, 2.0, -3.0], np.float32), np.zeros(8, np.float32)
    given[0] = 0.5
    update = np.array([0.25, 1, 0, 0, 0], np.float32)
    optimizer.descent(
        context(), weight=weight, gradient=np.array([8.0, -16.0, 0.0], np.float32), control=given, update=update, n=3
    )
    assert weight.tolist() == [0.0, 4.0, -3.0]
    assert descent_step([1, 2, -3], [2, -4, 0], 0.5).tolist() == [0.0, 4.0, -3.0]


def test_the_mean_of_microbatches_and_of_their_losses() -> None:
    stepper = Stepper()
    stepper.scale[0] = 16
    stepper.step(control(np.float32), np.array([9.0, 16.0]), np.array([1, 2, 3, 6], np.float32))
    assert stepper.norm == 5 / 16 / 4
    assert stepper.loss == 3
    assert stepper.update[0] == np.float32(1 / 64)


@pytest.mark.parametrize(("largest", "factor"), [(0.0, 1.0), (10.0, 1.0), (5.0, 5 / 5.000001), (1.0, 1 / 5.000001)])
def test_clipping(largest: float, factor: float) -> None:
    stepper = Stepper(np.float64)
    stepper.step(control(np.float64, largest_norm=largest), np.array([9.0, 16.0]))
    assert stepper.norm == 5
    assert abs(stepper.update[0] - factor) <= 1e-15


@pytest.mark.parametrize(("growth", "largest"), [(0, 65536), (1, 8), (2, 65536), (3, 4), (2, 0), (2, 5)])
def test_the_scale_follows_the_rules(growth: int, largest: int) -> None:
    stepper, expected = Stepper(), ScaleProgress(scale=4)
    stepper.scale[0] = 4
    given = control(np.float32, growth=growth, largest_scale=largest)
    for finite in (1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1):
        stepper.step(given, np.array([1.0 if finite else np.inf]))
        expected = next_scale(expected, finite=bool(finite), growth_updates=growth, largest_scale=largest)
        counts = (expected.updates, expected.skipped, expected.since_change, 1 - finite)
        assert (float(stepper.scale[0]), *stepper.progress.tolist()) == (expected.scale, *counts)
        assert stepper.update[1] == finite


def test_a_scale_that_was_never_set_is_one() -> None:
    stepper = Stepper()
    stepper.step(control(np.float32), np.array([4.0]))
    assert (stepper.norm, float(stepper.scale[0])) == (2.0, 1.0)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_nothing_changes_where_the_norm_is_not_finite(value: float) -> None:
    stepper, given = Stepper(), control(np.float32, largest_norm=1)
    stepper.step(given, np.array([1.0, value]))
    assert not np.isfinite(stepper.norm)
    arrays = [normal((9,), np.dtype("f4"), seed) for seed in range(3)]
    before = [array.tobytes() for array in arrays]
    weight, moment1, moment2 = arrays
    common = {"gradient": np.full(9, value, np.float32), "control": given, "update": stepper.update, "n": 9}
    optimizer.adam_w(context(), weight=weight, moment1=moment1, moment2=moment2, decays=1, **common)
    optimizer.descent(context(), weight=weight, **common)
    assert [array.tobytes() for array in arrays] == before


def test_counts_stop_at_the_largest_number() -> None:
    stepper = Stepper()
    stepper.progress[:] = 2**31 - 1
    stepper.step(control(np.float32, growth=2**31), np.array([1.0]))
    assert stepper.progress.tolist() == [2**31 - 1, 2**31 - 1, 2**31 - 1, 0]

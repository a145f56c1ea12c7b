"""Training steps of geglu_lm.cg on the host: against the float64 reference, and what its entries consist of."""

import numpy as np
import pytest
from attrs import evolve

from cgraph.core.elements import Element
from cgraph.reference.gated_model import (
    gated_model_backward,
    gated_model_forward,
    gated_model_loss,
    random_gated_model,
)
from cgraph.reference.optimizer import AdamSettings, adam_w_step, clip_factor, descent_step, global_norm
from cgraph.schedule.model import Order
from tests.support.geglu_cases import Array, GegluCase
from tests.support.geglu_training import compiled_geglu, geglu_trainer
from tests.support.training_runs import Control, drawn_batch

SMALL = GegluCase(layers=2, heads=2, vocab=11, seq=5, batch=2)
ENTRIES = ("main", "step", "stepSgd", "evaluate", "predict")


def mean_gradients(
    case: GegluCase, weights: dict[str, Array], batch: tuple[Array, Array]
) -> tuple[float, dict[str, Array]]:
    """Loss and gradients of the reference, means over the microbatches."""
    found = [gated_model_backward(case.config, weights, ids.T, targets.T) for ids, targets in zip(*batch, strict=True)]
    loss = float(np.mean([of_one for of_one, _ in found]))
    return loss, {name: np.mean([gradients[name] for _, gradients in found], axis=0) for name in weights}


@pytest.mark.parametrize("microbatches", [1, 3])
@pytest.mark.parametrize("tied", [True, False])
def test_three_steps_of_descent(*, tied: bool, microbatches: int) -> None:
    case = evolve(SMALL, tied=tied)
    made = geglu_trainer(case, "stepSgd", microbatches=microbatches)
    control = Control(learning_rate=0.125, largest_norm=0.7)
    expected = made.weights()
    for number in range(3):
        batch = drawn_batch(made.sizes, number, ignored=number == 2)
        loss = made.step(batch, control)
        wanted, gradients = mean_gradients(case, expected, batch)
        norm = global_norm(gradients.values())
        assert abs(loss - wanted) <= 1e-12 * wanted
        assert abs(made.get("cgGradientNorm")[0] - norm) <= 1e-11 * norm
        factor = clip_factor(norm, 0.7)
        expected = {name: descent_step(array, factor * gradients[name], 0.125) for name, array in expected.items()}
        for name, array in made.weights().items():
            assert np.abs(array - expected[name]).max() <= 1e-11, name


@pytest.mark.parametrize("tied", [True, False])
def test_a_step_of_adam_w(*, tied: bool) -> None:
    case, control = evolve(SMALL, tied=tied), Control(decay=0.1, largest_norm=2.0, epsilon=1e-3)
    made = geglu_trainer(case)
    before, batch = made.weights(), drawn_batch(made.sizes, 1)
    made.step(batch, control)
    _, gradients = mean_gradients(case, before, batch)
    factor = clip_factor(global_norm(gradients.values()), 2.0)
    for name, array in before.items():
        decay = 0.1 if array.ndim == 2 else 0
        settings = AdamSettings(learning_rate=0.01, beta1=0.9, beta2=0.95, epsilon=1e-3, decay=decay)
        zeros = np.zeros_like(array)
        wanted, first, second = adam_w_step(array, zeros, zeros, factor * gradients[name], 1, settings)
        assert np.abs(made.weights()[name] - wanted).max() <= 1e-11, name
        assert np.abs(made.moments(1)[name] - first).max() <= 1e-12, name
        assert np.abs(made.moments(2)[name] - second).max() <= 1e-12, name
    assert made.get("cgProgress").tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("half", [Element.F32, Element.F16])
def test_every_order_gives_the_same_bits(half: Element) -> None:
    found = []
    for order in Order:
        made = geglu_trainer(SMALL, half=half, microbatches=2, order=order)
        for number in range(2):
            made.step(drawn_batch(made.sizes, number), Control(decay=0.1, largest_norm=1.0))
        found.append(made.bits())
    assert found[0] == found[1] == found[2]


def test_an_overflow_changes_no_weight() -> None:
    made = geglu_trainer(SMALL, half=Element.F16)
    made.give("cgScale", np.full(1, 2.0**60))
    before = made.bits()
    made.step(drawn_batch(made.sizes, 0), Control(decay=0.1))
    changed = {name for name, bits in made.bits().items() if bits != before[name]}
    assert changed <= {"cgProgress", "cgScale", "cgLoss", "cgGradientNorm"}
    assert made.get("cgProgress").tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("tied", [True, False])
def test_evaluation_and_prediction(*, tied: bool) -> None:
    case = evolve(SMALL, tied=tied)
    weights = random_gated_model(np.random.default_rng(3), case.config)
    evaluation, prediction = geglu_trainer(case, "evaluate"), geglu_trainer(case, "predict")
    (ids,), (targets,) = drawn_batch(evaluation.sizes, 4, ignored=True)
    for made in (evaluation, prediction):
        made.executable.set("cgTokenIds", ids)
    evaluation.executable.set("cgTargets", targets)
    evaluation.executable.run()
    prediction.executable.run()
    wanted = gated_model_loss(case.config, weights, ids.T, targets.T)
    assert abs(evaluation.get("cgLoss")[0] - wanted) <= 1e-12 * wanted
    logits = gated_model_forward(case.config, weights, ids.T).transpose(1, 0, 2).reshape(-1, case.vocab)
    assert np.abs(prediction.get("cgPrediction") - logits).max() <= 1e-12 * np.abs(logits).max()


@pytest.mark.parametrize("tied", [True, False])
def test_planes_that_an_entry_does_not_use_are_not_there(*, tied: bool) -> None:
    case = evolve(SMALL, tied=tied)
    compiled = {entry: compiled_geglu(case, entry, Element.F32) for entry in ENTRIES}
    families = {entry: {plane.family for plane in found.graph.planes} for entry, found in compiled.items()}
    assert all(found.warnings == () for found in compiled.values())
    assert all(any(name.startswith("cgLogitWeight") for name in names) is not tied for names in families.values())
    assert not any("Moment" in name or name.endswith("Sum") for name in families["main"] | families["stepSgd"])
    training = {"cgControl", "cgProgress", "cgScale", "cgStepIds", "cgUpdate"}
    assert training.isdisjoint(families["main"] | families["evaluate"] | families["predict"])
    assert not any("Gradient" in name for name in families["evaluate"] | families["predict"])
    weights = {name.removesuffix("Moment1") for name in families["step"] if name.endswith("Moment1")}
    assert len(weights) == 9 + 3 + (not tied)
    assert weights <= families["step"]

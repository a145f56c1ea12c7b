"""Three training steps of gpt.cg on the host: against the float64 reference, and what a step must leave as it is."""

import numpy as np
import pytest
from attrs import asdict, evolve

from cgraph.core.elements import Element
from cgraph.graph.model import LaunchNode
from cgraph.reference import whole_model
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named
from cgraph.reference.optimizer import AdamSettings, adam_w_step, clip_factor, descent_step, global_norm
from cgraph.schedule.model import Order
from tests.support.training_runs import Array, Control, Sizes, compiled_entry, drawn_batch, trainer

SMALL = Sizes()
SIZES = {
    "two layers": SMALL,
    "one layer, one token": Sizes(layers=1, heads=1, seq=1, context=1, batch=3),
    "three layers, odd sizes": Sizes(layers=3, heads=3, head_width=5, ffn=17, vocab=13, seq=7, batch=1),
    "three microbatches": evolve(SMALL, microbatches=3),
}


def reference_gradients(
    sizes: Sizes, weights: dict[str, Array], batch: tuple[Array, Array]
) -> tuple[float, dict[str, Array]]:
    """The mean over the microbatches."""
    config = ModelConfig(**asdict(sizes.config))
    parameters = parameters_from_named(config, weights)
    found = [
        whole_model.gpt_backward(config, parameters, ids.T, targets.T) for ids, targets in zip(*batch, strict=True)
    ]
    gradients = [gradient.named() for _, gradient in found]
    return float(np.mean([loss for loss, _ in found])), {
        name: np.mean([gradient[name] for gradient in gradients], axis=0) for name in weights
    }


def largest_error(found: dict[str, Array], expected: dict[str, Array]) -> float:
    return max(
        float(np.abs(found[name] - array).max() / max(1e-3, np.abs(array).max())) for name, array in expected.items()
    )


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("largest_norm", [0.0, 0.7])
def test_three_steps_of_descent(name: str, largest_norm: float) -> None:
    sizes, control = SIZES[name], Control(learning_rate=0.125, largest_norm=largest_norm)
    made = trainer(sizes, "stepSgd")
    expected = made.weights()
    for number in range(3):
        batch = drawn_batch(sizes, number, ignored=number == 2 and sizes.seq > 1)
        loss = made.step(batch, control)
        wanted, gradients = reference_gradients(sizes, expected, batch)
        norm = global_norm(gradients.values())
        assert abs(loss - wanted) <= 1e-12 * wanted
        assert abs(made.get("cgGradientNorm")[0] - norm) <= 1e-11 * norm
        factor = clip_factor(norm, largest_norm)
        expected = {name: descent_step(array, factor * gradients[name], 0.125) for name, array in expected.items()}
        assert largest_error(made.weights(), expected) <= 1e-11
    assert made.get("cgProgress").tolist() == [3, 0, 3, 0]


def test_descent_along_the_programs_own_gradients_has_the_formulas_bits() -> None:
    made = trainer(SMALL, "stepSgd")
    backward = trainer(SMALL, "main")
    for number in range(3):
        before, batch = made.weights(), drawn_batch(SMALL, number)
        loss = made.step(batch, Control(learning_rate=0.3))
        backward.set_weights(before)
        backward.executable.set("cgTokenIds", batch[0][0])
        backward.executable.set("cgTargets", batch[1][0])
        backward.executable.run()
        assert loss == backward.get("cgLoss")[0]
        for name, gradient in backward.gradients().items():
            assert made.weights()[name].tobytes() == (before[name] - 0.3 * gradient).tobytes(), name


@pytest.mark.parametrize("name", SIZES)
def test_three_steps_of_adam_w(name: str) -> None:
    sizes, control = SIZES[name], Control(decay=0.1, largest_norm=2.0)
    made = trainer(sizes)
    expected = made.weights()
    moments = {name: (np.zeros_like(array), np.zeros_like(array)) for name, array in expected.items()}
    for step in (1, 2, 3):
        batch = drawn_batch(sizes, step)
        before = made.weights()
        made.step(batch, control)
        _, gradients = reference_gradients(sizes, before, batch)
        factor = clip_factor(global_norm(gradients.values()), 2.0)
        for weight, array in before.items():
            settings = AdamSettings(
                learning_rate=0.01, beta1=0.9, beta2=0.95, epsilon=1e-8, decay=0.1 if array.ndim == 2 else 0
            )
            # From the program's own weights and moments of the step before: where a gradient is almost 0, rounding
            # errors decide on the step's sign, and must not be carried along.
            expected[weight], *moments[weight] = adam_w_step(
                array, *moments[weight], factor * gradients[weight], step, settings
            )
        for number in (1, 2):
            wanted = {weight: pair[number - 1] for weight, pair in moments.items()}
            assert largest_error(made.moments(number), wanted) <= 1e-11
        # A gradient's error of 1e-14 moves the weight by as much of a step as it is of the gradient.
        for weight, array in made.weights().items():
            gradient_size = np.sqrt(moments[weight][1]) + 1e-8
            allowed = 1e-13 * np.abs(expected[weight]) + 0.01 * np.minimum(2, 1e-12 / gradient_size)
            assert np.all(np.abs(array - expected[weight]) <= allowed), weight
        moments = {weight: (made.moments(1)[weight], made.moments(2)[weight]) for weight in moments}
    assert made.get("cgProgress").tolist() == [3, 0, 3, 0]


@pytest.mark.parametrize("entry", ["step", "stepSgd"])
def test_microbatches_are_one_large_batch(entry: str) -> None:
    sizes = evolve(SMALL, microbatches=3)
    whole = evolve(SMALL, batch=6)
    one, other = trainer(sizes, entry), trainer(whole, entry)
    ids, targets = drawn_batch(sizes, 1)
    as_one = (np.concatenate(ids, axis=1)[None], np.concatenate(targets, axis=1)[None])
    losses = one.step((ids, targets), Control()), other.step(as_one, Control())
    assert abs(losses[0] - losses[1]) <= 1e-13 * losses[1]
    norms = [made.get("cgGradientNorm")[0] for made in (one, other)]
    assert abs(norms[0] - norms[1]) <= 1e-12 * norms[1]
    sums = {name: gradient / 3 for name, gradient in one.gradients().items()}
    assert largest_error(sums, other.gradients()) <= 1e-11
    if entry == "stepSgd":
        assert largest_error(one.weights(), other.weights()) <= 1e-12


def test_the_loss_scale_leaves_no_trace() -> None:
    plain, scaled = trainer(SMALL), trainer(SMALL)
    scaled.give("cgScale", np.full(1, 2.0**20))
    for number in range(2):
        batch = drawn_batch(SMALL, number)
        assert plain.step(batch, Control(largest_norm=1.0)) == scaled.step(batch, Control(largest_norm=1.0))
    plain.give("cgScale", np.full(1, 2.0**20))
    assert plain.bits() == scaled.bits()


@pytest.mark.parametrize("half", [Element.F64, Element.F32, Element.F16])
def test_every_order_gives_the_same_bits(half: Element) -> None:
    found = []
    for order in Order:
        made = trainer(evolve(SMALL, microbatches=2), half=half, order=order)
        for number in range(2):
            made.step(drawn_batch(made.sizes, number), Control(decay=0.1, largest_norm=1.0))
        found.append(made.bits())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_planted_value_that_is_not_finite_changes_nothing(value: float) -> None:
    made, control = trainer(SMALL, half=Element.F16), Control(decay=0.1, growth_updates=2, largest_scale=1024)
    made.give("cgScale", np.full(1, 512.0))
    made.step(drawn_batch(SMALL, 0), control)
    gain = made.get("cgFinalNormGain")
    made.give("cgFinalNormGain", np.where(np.arange(gain.size) == 3, value, gain))
    before = made.bits()
    made.step(drawn_batch(SMALL, 1), control)
    assert not np.isfinite(made.get("cgGradientNorm")[0])
    after = made.bits()
    changed = {name for name, bits in before.items() if bits != after[name]}
    assert changed <= {"cgProgress", "cgScale", "cgLoss", "cgGradientNorm"}
    assert made.get("cgProgress").tolist() == [1, 1, 0, 1]
    made.give("cgFinalNormGain", gain)
    scales = []
    for number in range(5):
        made.step(drawn_batch(SMALL, number), control)
        scales.append(float(made.get("cgScale")[0]))
    assert scales == [256.0, 512.0, 512.0, 1024.0, 1024.0]
    assert made.get("cgProgress").tolist() == [6, 1, 1, 0]


def test_a_scale_too_large_for_f16_comes_down_until_gradients_fit() -> None:
    made = trainer(SMALL, half=Element.F16)
    start = made.weights()
    made.give("cgScale", np.full(1, 2.0**30))
    for _ in range(40):
        made.step(drawn_batch(SMALL, 0), Control(growth_updates=1000))
        updates, skipped, _, last = made.get("cgProgress")
        assert float(made.get("cgScale")[0]) == 2.0 ** (30 - skipped)
        if not last:
            break
        assert all(array.tobytes() == start[name].tobytes() for name, array in made.weights().items())
    assert updates == 1
    assert 3 < skipped < 30
    assert any(array.tobytes() != start[name].tobytes() for name, array in made.weights().items())


def test_no_target_counts() -> None:
    made = trainer(SMALL, "stepSgd")
    ids, targets = drawn_batch(SMALL, 0)
    before = made.weights()
    assert made.step((ids, np.full_like(targets, -1)), Control(largest_norm=1.0)) == 0
    assert made.get("cgGradientNorm")[0] == 0
    assert all(np.array_equal(array, before[name]) for name, array in made.weights().items())


def launches(entry: str, sizes: Sizes) -> list[str]:
    nodes = compiled_entry(sizes, entry).graph.nodes
    return [node.image.signature.entry if isinstance(node, LaunchNode) else "plain" for node in nodes]


def test_what_a_step_adds_to_a_backward_pass_grows_with_the_weights_alone() -> None:
    for layers in (1, 3):
        sizes = evolve(SMALL, layers=layers)
        weights = 6 + 12 * layers
        # The backward pass's fill is that of its scale; a step fills the parts instead.
        added = len(launches("step", sizes)) - len(launches("main", sizes))
        assert added == weights + 1 + weights
        assert launches("step", sizes).count("cgAdamW") == weights
        assert launches("stepSgd", sizes).count("cgDescent") == weights
        several = launches("step", evolve(sizes, microbatches=4))
        assert several.count("cgAdd") - 4 * launches("step", sizes).count("cgAdd") == 3 * weights


def test_planes_that_an_entry_does_not_use_are_not_there() -> None:
    families = {
        entry: {plane.family for plane in compiled_entry(SMALL, entry).graph.planes}
        for entry in ("main", "step", "stepSgd", "evaluate", "predict")
    }
    assert not any("Moment" in name or name.endswith("Sum") for name in families["main"] | families["stepSgd"])
    assert not any(name.endswith("Sum") for name in families["step"])
    assert {"cgTokenIds", "cgTargets", "cgGivenScale"}.isdisjoint(families["step"] | families["stepSgd"])
    training = {"cgControl", "cgProgress", "cgScale", "cgStepIds", "cgUpdate"}
    assert training.isdisjoint(families["main"] | families["evaluate"] | families["predict"])
    assert "cgTargets" not in families["predict"]
    assert not any("Gradient" in name for name in families["evaluate"] | families["predict"])


@pytest.mark.parametrize("entry", ["main", "step", "stepSgd", "evaluate", "predict"])
def test_no_entry_has_warnings(entry: str) -> None:
    assert compiled_entry(SMALL, entry).warnings == ()


def test_evaluation_and_prediction() -> None:
    weights = trainer(SMALL, "step").weights()
    config = ModelConfig(**asdict(SMALL.config))
    parameters = parameters_from_named(config, weights)
    (ids,), (targets,) = drawn_batch(SMALL, 4, ignored=True)
    for entry in ("evaluate", "predict"):
        made = trainer(SMALL, entry)
        made.executable.set("cgTokenIds", ids)
        if entry == "evaluate":
            made.executable.set("cgTargets", targets)
        made.executable.run()
        if entry == "evaluate":
            wanted = whole_model.gpt_loss(config, parameters, ids.T, targets.T)
            assert abs(made.get("cgLoss")[0] - wanted) <= 1e-12 * wanted
        else:
            logits = whole_model.gpt_forward(config, parameters, ids.T).transpose(1, 0, 2).reshape(-1, SMALL.vocab)
            assert np.abs(made.get("cgPrediction") - logits).max() <= 1e-12 * np.abs(logits).max()

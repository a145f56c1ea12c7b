"""The reference's language model of gated layers: central differences, what ties and batches mean, wrong arguments."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from central_differences import Array, gradient, relative_error

from cgraph.reference.gated_model import (
    GatedModelConfig,
    gated_model_backward,
    gated_model_forward,
    gated_model_loss,
    random_gated_model,
)

TOLERANCE = 1e-8
IDS = np.array([[2, 0, 2, 4], [1, 4, 3, 4]])
TARGETS = np.array([[0, 2, -1, 4], [1, 3, 3, -1]])
CONFIG = GatedModelConfig(vocab=5, width=4, heads=2, layers=2, ffn=3, tied=True, epsilon=1e-2)
WEIGHTS = random_gated_model(np.random.default_rng(0), CONFIG)


@pytest.mark.parametrize(("tied", "layers", "heads"), [(True, 1, 2), (False, 2, 1), (True, 3, 2)])
def test_every_weight(*, tied: bool, layers: int, heads: int) -> None:
    config = evolve(CONFIG, tied=tied, layers=layers, heads=heads)
    weights = random_gated_model(np.random.default_rng(layers), config)
    loss, gradients = gated_model_backward(config, weights, IDS, TARGETS)
    assert loss == gated_model_loss(config, weights, IDS, TARGETS)
    assert gradients.keys() == weights.keys()
    assert ("head" in gradients) is not tied

    def moved_whole(name: str, x: Array) -> float:
        return gated_model_loss(config, {**weights, name: x}, IDS, TARGETS)

    def moved_along(name: str, directions: Array, steps: Array) -> float:
        return moved_whole(name, weights[name] + np.tensordot(steps, directions, axes=1))

    for name, claimed in gradients.items():
        whole = weights[name]
        assert claimed.shape == whole.shape
        # Every element of vectors, table and head; of other matrices a few directions, which together mix all elements.
        if whole.ndim == 1 or name in ("table", "head"):
            assert relative_error(claimed, gradient(partial(moved_whole, name), whole)) <= TOLERANCE
            continue
        directions = np.random.default_rng(9).standard_normal((3, *whole.shape))
        along = np.tensordot(directions, claimed, axes=2)
        found = gradient(partial(moved_along, name, directions), np.zeros(3))
        assert relative_error(along, found) <= TOLERANCE


def test_padding_beside_differences_and_by_its_meaning() -> None:
    padding = np.array([[True, False, False, False], [False, False, True, False]])
    loss, gradients = gated_model_backward(CONFIG, WEIGHTS, IDS, TARGETS, padding=padding)
    assert loss == gated_model_loss(CONFIG, WEIGHTS, IDS, TARGETS, padding=padding)
    for name in ("table", "layers.0.norm1_gain", "layers.1.norm2_shift"):
        claimed = gradient(
            lambda x, name=name: gated_model_loss(CONFIG, {**WEIGHTS, name: x}, IDS, TARGETS, padding=padding),
            WEIGHTS[name],
        )
        assert relative_error(gradients[name], claimed) <= TOLERANCE, name
    # Another id at padding changes nothing but its own logits, and a first token that is padding attends to nothing.
    changed = np.where(padding, 0, IDS)
    before, after = (gated_model_forward(CONFIG, WEIGHTS, ids, padding=padding) for ids in (IDS, changed))
    assert relative_error(before[~padding], after[~padding]) <= 1e-14
    assert (np.abs(before[padding] - after[padding]).max(axis=-1) > 1e-3).all()
    shifted = gated_model_forward(CONFIG, WEIGHTS, IDS[0, 1:])
    assert relative_error(before[0, 1:], shifted) <= 1e-13
    blind = {**WEIGHTS, **{f"layers.{layer}.output": np.zeros((4, 4)) for layer in range(2)}}
    nothing = gated_model_forward(CONFIG, blind, IDS[:, :1])
    assert relative_error(before[:1, :1], nothing[:1]) <= 1e-14


def test_a_tied_gradient_is_the_sum_of_both_uses() -> None:
    separate = evolve(CONFIG, tied=False)
    loss, both = gated_model_backward(CONFIG, WEIGHTS, IDS, TARGETS)
    again, apart = gated_model_backward(separate, {**WEIGHTS, "head": WEIGHTS["table"]}, IDS, TARGETS)
    assert loss == again
    assert relative_error(both["table"], apart["table"] + apart["head"]) <= 1e-14
    assert np.array_equal(both["layers.1.down"], apart["layers.1.down"])


def test_sequences_of_a_batch_do_not_see_each_other() -> None:
    logits = gated_model_forward(CONFIG, WEIGHTS, IDS)
    for sequence, expected in zip(IDS, logits, strict=True):
        assert relative_error(gated_model_forward(CONFIG, WEIGHTS, sequence), expected) <= 1e-14


def test_a_token_does_not_see_later_ones() -> None:
    changed = IDS.copy()
    changed[:, 2] = [1, 0]
    before, after = (gated_model_forward(CONFIG, WEIGHTS, ids) for ids in (IDS, changed))
    assert relative_error(after[:, :2], before[:, :2]) <= 1e-14
    assert (np.abs(after[:, 2:] - before[:, 2:]).max(axis=-1) > 1e-3).all()


def test_order_matters_by_rotation_alone() -> None:
    # The last token sees the same set of tokens in another order.
    swapped = IDS[:1, [1, 0, 2, 3]]
    turned, swapped_turned = (gated_model_forward(CONFIG, WEIGHTS, ids)[0, -1] for ids in (IDS[:1], swapped))
    assert np.abs(turned - swapped_turned).max() > 1e-3
    # With so great a base only the first pair of a head turns, channels 0 and 2. Where queries are 0 in these, no score
    # of a single layer depends on positions.
    still = evolve(CONFIG, layers=1, heads=1, rope_base=1e300)
    weights = {name: weight.copy() for name, weight in WEIGHTS.items() if not name.startswith("layers.1")}
    weights["layers.0.qkv"][[0, 2]] = 0
    found, again = (gated_model_forward(still, weights, ids)[0, -1] for ids in (IDS[:1], swapped))
    assert relative_error(found, again) <= 1e-12


def test_nothing_supervised_costs_nothing() -> None:
    loss, gradients = gated_model_backward(CONFIG, WEIGHTS, IDS, np.full_like(IDS, -1))
    assert loss == 0
    assert not any(gradient.any() for gradient in gradients.values())


def _without(name: str) -> Mapping[str, Any]:
    return {key: weight for key, weight in WEIGHTS.items() if key != name}


WRONG: dict[str, tuple[str, Callable[[], object]]] = {
    "id": (r"ids: expected 0 to 4, got 5", lambda: gated_model_forward(CONFIG, WEIGHTS, [5])),
    "ids of three axes": (r"ids: expected shape .*\[1, 2, 4\]", lambda: gated_model_forward(CONFIG, WEIGHTS, [IDS])),
    "target": (r"targets: expected -1 to 4, got 5", lambda: gated_model_backward(CONFIG, WEIGHTS, [1], [5])),
    "targets": (r"targets: expected shape \[2\]", lambda: gated_model_loss(CONFIG, WEIGHTS, [1, 2], [1])),
    "padding": (r"padding: .*\[2\]", lambda: gated_model_forward(CONFIG, WEIGHTS, [1, 2], padding=[True])),
    "missing": ("layers.1.up: missing", lambda: gated_model_forward(CONFIG, _without("layers.1.up"), [1])),
    "head of a tied model": (
        "head: no weight of this model",
        lambda: gated_model_forward(CONFIG, {**WEIGHTS, "head": WEIGHTS["table"]}, [1]),
    ),
    "table": (
        r"table: expected shape \[5, 4\]",
        lambda: gated_model_forward(CONFIG, {**WEIGHTS, "table": np.ones((4, 4))}, [1]),
    ),
    "heads": ("heads: ", lambda: gated_model_forward(evolve(CONFIG, heads=3), WEIGHTS, [1])),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str) -> None:
    message, call = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()

"""programs/geglu_lm.cg on the host beside the float64 reference: loss and every gradient."""

import numpy as np
import pytest
from attrs import evolve

from cgraph.reference.gated_model import gated_model_backward, random_gated_model
from cgraph.schedule.model import Order
from tests.support.geglu_cases import CASES, SUPERVISED, GegluCase, draw_batch, geglu_backward
from tests.support.model_cases import check

SMALL = GegluCase(layers=2, heads=2, vocab=11, seq=6, batch=3)


@pytest.mark.parametrize("supervised", SUPERVISED)
@pytest.mark.parametrize("name", CASES)
def test_loss_and_every_gradient(name: str, supervised: str) -> None:
    case = CASES[name]
    weights, batch = random_gated_model(np.random.default_rng(3), case.config), draw_batch(case, supervised)
    expected = gated_model_backward(case.config, weights, *batch, padding=case.padding)
    check("f64", geglu_backward(case, weights, batch, "f64"), expected)


@pytest.mark.parametrize("tied", [True, False])
def test_rounding_to_f32(*, tied: bool) -> None:
    case = evolve(SMALL, tied=tied)
    weights, batch = random_gated_model(np.random.default_rng(3), case.config), draw_batch(case, "some")
    expected = gated_model_backward(case.config, weights, *batch, padding=case.padding)
    check("f32", geglu_backward(case, weights, batch, "f32"), expected)


@pytest.mark.parametrize("half", ["f32", "bf16"])
def test_the_same_bits_in_every_order_and_from_kept_planes(half: str) -> None:
    weights, batch = random_gated_model(np.random.default_rng(3), SMALL.config), draw_batch(SMALL, "some")
    loss, gradients = geglu_backward(SMALL, weights, batch, half, order=Order.SERIAL)
    others = [(SMALL, Order.PHASE), (SMALL, Order.DATAFLOW), (evolve(SMALL, recompute=True), Order.DATAFLOW)]
    for case, order in others:
        again, found = geglu_backward(case, weights, batch, half, order=order)
        assert again == loss
        for name, gradient in gradients.items():
            assert found[name].tobytes() == gradient.tobytes(), name


def test_a_head_is_tied_or_has_a_weight_of_its_own() -> None:
    separate = evolve(SMALL, tied=False)
    weights, batch = random_gated_model(np.random.default_rng(3), SMALL.config), draw_batch(SMALL, "all")
    loss, both = geglu_backward(SMALL, weights, batch, "f64")
    again, apart = geglu_backward(separate, {**weights, "head": weights["table"]}, batch, "f64")
    assert abs(loss - again) <= 1e-12
    np.testing.assert_allclose(both["table"], apart["table"] + apart["head"], rtol=0, atol=1e-13)


def test_a_padded_program_without_padding_is_the_other() -> None:
    weights, batch = random_gated_model(np.random.default_rng(3), SMALL.config), draw_batch(SMALL, "some")
    check(
        "f64",
        geglu_backward(evolve(SMALL, padded=(0, 0, 0)), weights, batch, "f64"),
        geglu_backward(SMALL, weights, batch, "f64"),
    )


def test_padding_does_not_change_what_the_other_tokens_learn() -> None:
    """Scores depend on distances alone, so that a sequence learns the same wherever padding moves it."""
    plain = GegluCase(layers=2, heads=2, vocab=11, seq=5)
    weights = random_gated_model(np.random.default_rng(3), plain.config)
    ids, targets = np.array([[5, 6, 7, 5, 1]]), np.array([[6, 7, -1, 1, 2]])
    alone = geglu_backward(plain, weights, (ids, targets), "f64")
    for pad_start in (False, True):
        case = evolve(plain, batch=2, seq=8, padded=(3, 8), pad_start=pad_start)
        wide_ids, wide_targets = np.full((2, 8), 9), np.full((2, 8), -1)
        place = slice(3, None) if pad_start else slice(0, 5)
        wide_ids[0, place], wide_targets[0, place] = ids, targets
        check("f64", geglu_backward(case, weights, (wide_ids, wide_targets), "f64"), alone)

"""Whole models, loss and every gradient, with the library's kernels on the emulated device beside the host and itself.

Both round the same planes to the same types, so each lies within the reference's bound of the exact result; two results
that do lie within twice the bound of each other.
"""

from typing import Literal

import numpy as np
import pytest
from attrs import evolve

pytest.importorskip("cuda.bindings")

from cgraph.models.gpt_program import prepared_program
from cgraph.reference.bounds import gradient_bound
from tests.support.emulated import INSTALLATION
from tests.support.emulated_runs import random_order
from tests.support.model_cases import Array, Case, backward, draw, random_weights

pytestmark = pytest.mark.slow

SIZES = Case(heads=2, head_width=8, ffn=24, vocab=13, context=11, seq=9, batch=2)
FULL = evolve(SIZES, layers=2)
# The first sequence begins late, the other has no token at all.
PADDED = evolve(SIZES, padded=(3, 9), pad_start=True, gelu="erf", recompute=True)


def found(
    case: Case, half: str, device: str, *, causal: bool, supervised: str = "some"
) -> tuple[float, dict[str, Array]]:
    weights, drawn = random_weights(case.config, 1), draw(case, supervised)
    return backward(case, weights, drawn, causal=causal, half=half, device=device)


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize(("causal", "case"), [(True, FULL), (False, PADDED)], ids=["gpt", "bert"])
def test_loss_and_every_gradient_beside_the_host(causal: bool, case: Case, half: Literal["f16", "bf16"]) -> None:
    loss, gradients = found(case, half, "emulated", causal=causal)
    expected_loss, expected = found(case, half, "host", causal=causal)
    tokens = case.seq * case.batch
    bound = 2 * gradient_bound(half, seq=tokens, width=case.config.width, ffn=case.ffn, layers=case.layers)
    assert expected_loss > 0
    assert abs(loss - expected_loss) <= bound * expected_loss
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        assert np.linalg.norm(gradients[name] - gradient) <= bound * np.linalg.norm(gradient), name


def test_the_same_bits_in_other_orders() -> None:
    loss, gradients = found(PADDED, "bf16", "emulated", causal=True)
    for seed in range(2):
        with random_order(seed):
            again = found(PADDED, "bf16", "emulated", causal=True)
        assert again[0] == loss
        assert {name: array.tobytes() for name, array in again[1].items()} == {
            name: array.tobytes() for name, array in gradients.items()
        }


@pytest.mark.parametrize("causal", [True, False], ids=["gpt", "bert"])
def test_nothing_supervised_leaves_zeros(causal: bool) -> None:
    launches = INSTALLATION.driver.calls["cuGraphLaunch"]
    loss, gradients = found(SIZES, "f16", "emulated", causal=causal, supervised="none")
    assert INSTALLATION.driver.calls["cuGraphLaunch"] == launches + 1
    assert loss == 0
    for name, gradient in gradients.items():
        assert not gradient.any(), name


def test_a_shape_is_built_once() -> None:
    prepared_program.cache_clear()
    case = evolve(SIZES, seq=3, context=3, batch=1)
    calls = INSTALLATION.driver.calls
    found(case, "bf16", "emulated", causal=True)
    before = {name: calls[name] for name in ("cuGraphInstantiateWithParams", "cuModuleLoadData", "cuGraphLaunch")}
    assert all(before.values())
    weights, drawn = random_weights(case.config, 2), draw(case, "all")
    other = backward(case, weights, drawn, causal=True, half="bf16", device="emulated")
    assert (prepared_program.cache_info().misses, prepared_program.cache_info().hits) == (1, 1)
    after = {name: calls[name] - count for name, count in before.items()}
    assert after == {"cuGraphInstantiateWithParams": 0, "cuModuleLoadData": 0, "cuGraphLaunch": 1}
    prepared_program.cache_clear()
    anew = backward(case, weights, drawn, causal=True, half="bf16", device="emulated")
    assert anew[0] == other[0]
    for name, gradient in anew[1].items():
        assert gradient.tobytes() == other[1][name].tobytes(), name

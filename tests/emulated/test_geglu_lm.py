"""programs/geglu_lm.cg with the library's kernels on the emulated device beside the host and itself.

As test_models.py: both round the same planes to the same types, so each lies within the reference's bound of the exact
result, and the two within twice the bound of each other.
"""

from typing import Literal

import numpy as np
import pytest
from attrs import evolve

pytest.importorskip("cuda.bindings")

from cgraph.backends.devices import HOST, Device
from cgraph.core.elements import Element
from cgraph.reference.bounds import gradient_bound
from cgraph.reference.gated_model import random_gated_model
from tests.support.emulated_runs import EMULATED, random_order
from tests.support.geglu_cases import Array, GegluCase, draw_batch, geglu_backward
from tests.support.geglu_training import geglu_trainer
from tests.support.training_runs import Control, drawn_batch

pytestmark = pytest.mark.slow

TIED = GegluCase(layers=2, heads=2, head_width=8, ffn=24, vocab=13, seq=9, batch=2, recompute=True)
SEPARATE = evolve(TIED, tied=False, batch=3, seq=5, recompute=False)
# The first sequence begins late, the other has no token at all.
PADDED = evolve(TIED, layers=1, padded=(3, 9), pad_start=True)


def found(case: GegluCase, half: str, device: Device, supervised: str = "some") -> tuple[float, dict[str, Array]]:
    weights = random_gated_model(np.random.default_rng(1), case.config)
    return geglu_backward(case, weights, draw_batch(case, supervised), half, device)


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize("case", [TIED, SEPARATE, PADDED], ids=["tied", "separate", "padded"])
def test_loss_and_every_gradient_beside_the_host(case: GegluCase, half: Literal["f16", "bf16"]) -> None:
    loss, gradients = found(case, half, EMULATED)
    expected_loss, expected = found(case, half, HOST)
    tokens = case.seq * case.batch
    bound = 2 * gradient_bound(half, seq=tokens, width=case.config.width, ffn=case.ffn, layers=case.layers)
    assert expected_loss > 0
    assert abs(loss - expected_loss) <= bound * expected_loss
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        assert np.linalg.norm(gradients[name] - gradient) <= bound * np.linalg.norm(gradient), name


def test_the_same_bits_in_other_orders() -> None:
    loss, gradients = found(TIED, "bf16", EMULATED)
    for seed in range(2):
        with random_order(seed):
            again = found(TIED, "bf16", EMULATED)
        assert again[0] == loss
        for name, gradient in gradients.items():
            assert again[1][name].tobytes() == gradient.tobytes(), name


def test_nothing_supervised_leaves_zeros() -> None:
    loss, gradients = found(evolve(TIED, layers=1), "f16", EMULATED, "none")
    assert loss == 0
    for name, gradient in gradients.items():
        assert not gradient.any(), name


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_a_training_step_beside_the_host(half: Literal["f16", "bf16"]) -> None:
    case = evolve(TIED, layers=1)
    tokens = 2 * case.seq * case.batch
    bound = 2 * gradient_bound(half, seq=tokens, width=case.config.width, ffn=case.ffn, layers=1)
    control = Control(decay=0.1, largest_norm=1.0)
    made = {
        device: geglu_trainer(case, half=Element(half), microbatches=2, device=device) for device in (HOST, EMULATED)
    }
    batch = drawn_batch(made[HOST].sizes, 1)
    losses, moments, norms = {}, {}, {}
    for device, trainer in made.items():
        trainer.give("cgScale", np.full(1, 1024.0))
        losses[device] = trainer.step(batch, control)
        moments[device], norms[device] = trainer.moments(1), trainer.get("cgGradientNorm")[0]
        assert trainer.get("cgProgress").tolist() == [1, 0, 1, 0]
    made[EMULATED].executable.close()
    assert abs(losses[EMULATED] - losses[HOST]) <= bound * losses[HOST]
    assert abs(norms[EMULATED] - norms[HOST]) <= bound * norms[HOST]
    for name, expected in moments[HOST].items():
        error = np.linalg.norm(moments[EMULATED][name] - expected)
        assert error <= bound * np.linalg.norm(expected), name

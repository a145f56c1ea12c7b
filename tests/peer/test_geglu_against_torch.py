"""Language models of gated layers against PyTorch's autograd: the reference, and programs/geglu_lm.cg on the host."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch_gated_model import torch_gated_gradients  # noqa: E402

from cgraph.reference.gated_model import gated_model_backward, gated_model_forward, random_gated_model  # noqa: E402
from tests.support.geglu_cases import CASES, Array, GegluCase, draw_batch, geglu_backward  # noqa: E402
from tests.support.model_cases import check  # noqa: E402

pytestmark = pytest.mark.peer


def expected_of(
    case: GegluCase, weights: dict[str, Array], batch: tuple[Array, Array]
) -> tuple[Array, tuple[float, dict[str, Array]]]:
    """PyTorch's logits, loss and gradients in float64."""
    logits, loss, gradients = torch_gated_gradients(
        *(torch.tensor(array) for array in batch),
        {name: torch.tensor(weight) for name, weight in weights.items()},
        layers=case.layers,
        heads=case.heads,
        epsilon=case.epsilon,
        rope_base=case.rope_base,
        padding=None if case.padding is None else torch.tensor(case.padding),
    )
    return logits.numpy(), (loss.item(), {name: gradient.numpy() for name, gradient in gradients.items()})


@pytest.mark.parametrize("supervised", ["some", "all"])
@pytest.mark.parametrize("name", CASES)
def test_the_reference(name: str, supervised: str) -> None:
    case = CASES[name]
    weights, batch = random_gated_model(np.random.default_rng(7), case.config), draw_batch(case, supervised)
    logits, expected = expected_of(case, weights, batch)
    found = gated_model_forward(case.config, weights, batch[0], padding=case.padding)
    assert np.abs(found - logits).max() <= 1e-10 * np.abs(logits).max()
    check("f64", gated_model_backward(case.config, weights, *batch, padding=case.padding), expected)


@pytest.mark.parametrize("half", ["f64", "f32"])
@pytest.mark.parametrize("supervised", ["some", "all"])
@pytest.mark.parametrize("name", CASES)
def test_the_program(name: str, supervised: str, half: str) -> None:
    case = CASES[name]
    weights, batch = random_gated_model(np.random.default_rng(7), case.config), draw_batch(case, supervised)
    _, expected = expected_of(case, weights, batch)
    check(half, geglu_backward(case, weights, batch, half), expected)

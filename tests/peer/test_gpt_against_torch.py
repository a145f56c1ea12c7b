"""gpt_backward and bert_backward against PyTorch's autograd; in f64 to 1e-10, in f32 to 5e-5."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch_model import torch_gradients  # noqa: E402

from cgraph.models.backward import gpt_backward  # noqa: E402
from tests.support.model_cases import CASES, Array, Case, Drawn, backward, check, draw, random_weights  # noqa: E402

pytestmark = pytest.mark.peer


def expected_of(case: Case, weights: dict[str, Array], drawn: Drawn, *, causal: bool) -> tuple[float, dict[str, Array]]:
    _, loss, gradients = torch_gradients(
        torch.tensor(drawn.ids),
        torch.tensor(drawn.counted),
        {name: torch.tensor(weight) for name, weight in weights.items()},
        layers=case.layers,
        heads=case.heads,
        causal=causal,
        padding=torch.tensor(drawn.padding),
        epsilon=case.epsilon,
        form=case.gelu,
    )
    return loss.item(), {name: gradient.numpy() for name, gradient in gradients.items()}


@pytest.mark.parametrize("half", ["f64", "f32"])
@pytest.mark.parametrize("supervised", ["one", "some", "all"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_loss_and_every_gradient(name: str, causal: bool, supervised: str, half: str) -> None:
    case = CASES[name]
    weights, drawn = random_weights(case.config, 7), draw(case, supervised)
    if not (drawn.counted >= 0).any():
        pytest.skip("PyTorch gives NaN where nothing counts")
    found = backward(case, weights, drawn, causal=causal, half=half)
    check(half, found, expected_of(case, weights, drawn, causal=causal))


def test_tensors_are_taken_as_they_are() -> None:
    case = Case(layers=2, heads=2)
    weights, drawn = random_weights(case.config, 7), draw(case, "all")
    expected, gradients = backward(case, weights, drawn, causal=True, half="f32")
    tensors = {name: torch.tensor(weight, dtype=torch.float32) for name, weight in weights.items()}
    found, grads = gpt_backward(case.config, tensors, torch.tensor(drawn.ids), torch.tensor(drawn.counted))
    assert found == expected
    for name, gradient in grads.named().items():
        assert np.array_equal(gradient, gradients[name]), name


def test_a_tensor_that_keeps_its_history_is_explained() -> None:
    case = Case()
    weights = {name: torch.tensor(weight) for name, weight in random_weights(case.config, 7).items()}
    weights["wte"].requires_grad_(True)
    with pytest.raises(ValueError, match=r"wte: Tensor cannot be read as an array: .*requires? grad"):
        gpt_backward(case.config, weights, [1, 2], [2, 3])

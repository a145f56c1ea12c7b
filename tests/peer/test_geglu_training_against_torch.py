"""Training steps of geglu_lm.cg against PyTorch: its autograd, AdamW with the same groups of weights, and clipping."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import cross_entropy  # noqa: E402
from torch_gated_model import IGNORED, torch_gated_logits  # noqa: E402

from cgraph.core.elements import Element  # noqa: E402
from tests.support.geglu_cases import Array, GegluCase  # noqa: E402
from tests.support.geglu_training import geglu_trainer  # noqa: E402
from tests.support.training_runs import Control, drawn_batch  # noqa: E402

pytestmark = pytest.mark.peer

STEPS = 4
TOLERANCE = {Element.F64: 1e-9, Element.F32: 1e-4}
# A large epsilon: where a gradient is almost 0, rounding errors would decide on the sign of AdamW's steps.
CONTROL = Control(learning_rate=0.02, beta2=0.99, epsilon=1e-3, decay=0.1, largest_norm=0.5)


def optimizer_of(leaves: dict[str, torch.Tensor], kind: str, dtype: torch.dtype) -> torch.optim.Optimizer:
    """With the control as a step reads it, in the element type of the weights."""
    rate, beta1, beta2, epsilon, decay = (float(value) for value in torch.tensor(CONTROL.array(float)[:5], dtype=dtype))
    if kind == "stepSgd":
        return torch.optim.SGD(leaves.values(), lr=rate)
    groups = [
        {"params": [leaf for leaf in leaves.values() if leaf.ndim == axes], "weight_decay": decay * (axes - 1)}
        for axes in (1, 2)
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=(beta1, beta2), eps=epsilon)


def backward(case: GegluCase, leaves: dict[str, torch.Tensor], batch: tuple[Array, Array]) -> float:
    """The mean loss of the microbatches; the gradients of the mean stay with the leaves."""
    total = 0.0
    for ids, targets in zip(*batch, strict=True):
        logits = torch_gated_logits(
            torch.tensor(ids.T.astype(np.int64)),
            leaves,
            layers=case.layers,
            heads=case.heads,
            epsilon=case.epsilon,
            rope_base=case.rope_base,
        )
        wanted = torch.tensor(targets.T.astype(np.int64)).flatten()
        loss = cross_entropy(logits.flatten(0, 1), wanted, ignore_index=IGNORED) / len(batch[0])
        loss.backward()
        total += loss.item()
    return total


@pytest.mark.parametrize("half", [Element.F64, Element.F32])
@pytest.mark.parametrize("microbatches", [1, 2])
@pytest.mark.parametrize("kind", ["step", "stepSgd"])
@pytest.mark.parametrize("tied", [True, False])
def test_losses_norms_and_weights(*, tied: bool, kind: str, microbatches: int, half: Element) -> None:
    case = GegluCase(tied=tied, layers=2, heads=2, head_width=6, ffn=17, vocab=13, seq=8, batch=2, recompute=tied)
    made = geglu_trainer(case, kind, half, microbatches=microbatches)
    dtype = torch.float64 if half is Element.F64 else torch.float32
    leaves = {name: torch.tensor(array, dtype=dtype).requires_grad_(True) for name, array in made.weights().items()}
    optimizer = optimizer_of(leaves, kind, dtype)
    norms = []
    for number in range(STEPS):
        batch = drawn_batch(made.sizes, number % 2, ignored=number % 2 == 1)
        optimizer.zero_grad()
        expected = backward(case, leaves, batch)
        norms.append(float(torch.nn.utils.clip_grad_norm_(leaves.values(), CONTROL.largest_norm)))
        optimizer.step()
        assert abs(made.step(batch, CONTROL) - expected) <= TOLERANCE[half] * expected
        assert abs(made.get("cgGradientNorm")[0] - norms[-1]) <= TOLERANCE[half] * norms[-1]
        for name, leaf in leaves.items():
            wanted = leaf.detach().numpy()
            error = np.abs(made.weights()[name] - wanted).max()
            assert error <= TOLERANCE[half] * max(0.02, np.abs(wanted).max()), (number, name)
    assert max(norms) > CONTROL.largest_norm

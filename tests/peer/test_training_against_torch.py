"""Training steps of gpt.cg against PyTorch: its autograd, AdamW with the same groups of weights, and clipping."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import cross_entropy  # noqa: E402
from torch_model import IGNORED, torch_logits  # noqa: E402

from cgraph.core.elements import Element  # noqa: E402
from tests.support.training_runs import Array, Control, Sizes, drawn_batch, trainer  # noqa: E402

pytestmark = pytest.mark.peer

STEPS = 6
TOLERANCE = {Element.F64: 1e-9, Element.F32: 1e-4}


class TorchTrainer:
    """The same weights, trained by PyTorch."""

    def __init__(
        self, sizes: Sizes, weights: dict[str, Array], control: Control, kind: str, dtype: torch.dtype
    ) -> None:
        self.sizes, self.control = sizes, control
        self.leaves = {name: torch.tensor(array, dtype=dtype).requires_grad_(True) for name, array in weights.items()}
        matrices = [leaf for leaf in self.leaves.values() if leaf.ndim == 2]
        vectors = [leaf for leaf in self.leaves.values() if leaf.ndim == 1]
        # A step reads its control in the element type of the weights.
        rate, beta1, beta2, epsilon, decay = (
            float(value) for value in torch.tensor(control.array(float)[:5], dtype=dtype)
        )
        groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer: torch.optim.Optimizer = (
            torch.optim.AdamW(groups, lr=rate, betas=(beta1, beta2), eps=epsilon)
            if kind == "step"
            else torch.optim.SGD([*matrices, *vectors], lr=rate)
        )

    def step(self, batch: tuple[Array, Array]) -> tuple[float, float]:
        """The loss and the gradient's norm."""
        self.optimizer.zero_grad()
        total = 0.0
        for ids, targets in zip(*batch, strict=True):
            logits = torch_logits(
                torch.tensor(ids.T.astype(np.int64)),
                self.leaves,
                layers=self.sizes.layers,
                heads=self.sizes.heads,
                causal=True,
                padding=torch.zeros(ids.T.shape, dtype=torch.bool),
                epsilon=1e-5,
                form="tanh",
            )
            flat = torch.tensor(targets.T.astype(np.int64)).flatten()
            loss = cross_entropy(logits.flatten(0, 1), flat, ignore_index=IGNORED) / self.sizes.microbatches
            loss.backward()
            total += loss.item()
        largest = self.control.largest_norm or float("inf")
        norm = torch.nn.utils.clip_grad_norm_(list(self.leaves.values()), largest)
        self.optimizer.step()
        return total, float(norm)


@pytest.mark.parametrize("half", [Element.F64, Element.F32])
@pytest.mark.parametrize("microbatches", [1, 3])
@pytest.mark.parametrize("kind", ["step", "stepSgd"])
def test_losses_norms_and_weights(kind: str, microbatches: int, half: Element) -> None:
    sizes = Sizes(layers=2, heads=2, head_width=5, ffn=17, vocab=13, context=9, seq=8, microbatches=microbatches)
    # A large epsilon: where a gradient is almost 0, rounding errors would decide on the sign of AdamW's steps.
    control = Control(learning_rate=0.02, beta2=0.99, epsilon=1e-3, decay=0.1, largest_norm=1.0)
    made = trainer(sizes, kind, half)
    dtype = torch.float64 if half is Element.F64 else torch.float32
    peer = TorchTrainer(sizes, made.weights(), control, kind, dtype)
    norms = []
    for number in range(STEPS):
        batch = drawn_batch(sizes, number % 2, ignored=number % 2 == 1)
        loss = made.step(batch, control)
        expected, norm = peer.step(batch)
        norms.append(norm)
        assert abs(loss - expected) <= TOLERANCE[half] * expected
        assert abs(made.get("cgGradientNorm")[0] - norm) <= TOLERANCE[half] * norm
        for name, leaf in peer.leaves.items():
            wanted = leaf.detach().numpy()
            error = np.abs(made.weights()[name] - wanted).max()
            assert error <= TOLERANCE[half] * max(0.02, np.abs(wanted).max()), (number, name)
    assert max(norms) > control.largest_norm

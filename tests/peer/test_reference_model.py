"""The reference's whole models against PyTorch's autograd in float64; weights travel through a file of torch's."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from attrs import asdict, frozen
from numpy.typing import NDArray

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402
from torch_model import random_model, torch_gradients  # noqa: E402

from cgraph.models.config import GptConfig  # noqa: E402
from cgraph.models.gpt_files import load_gpt  # noqa: E402
from cgraph.models.grads import GptGrads  # noqa: E402
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named  # noqa: E402
from cgraph.reference.whole_model import (  # noqa: E402
    bert_backward,
    bert_forward,
    bert_loss,
    gpt_backward,
    gpt_forward,
    gpt_loss,
)

pytestmark = pytest.mark.peer

TOLERANCE = 1e-10
# A gradient that is 0 in truth, such as that of a query that sees one key, comes out as rounding errors of this size.
NOISE = 1e-14
SUPERVISED = ("none", "one", "some", "all")


@frozen(kw_only=True)
class Case:
    """Sizes of a model and of its input; `padded` counts the tokens that fill up each sequence, at its end or start."""

    layers: int = 1
    heads: int = 1
    head_width: int = 4
    ffn: int = 5
    vocab: int = 7
    context: int = 9
    batch: int = 1
    seq: int = 5
    distinct: int | None = None
    padded: tuple[int, ...] = ()
    pad_start: bool = False
    form: Literal["tanh", "erf"] = "tanh"
    epsilon: float = 1e-5


CASES = {
    "one layer": Case(),
    "two layers, odd sizes": Case(layers=2, heads=3, head_width=5, ffn=17, vocab=13, context=11, seq=11),
    "three layers": Case(layers=3, heads=2, head_width=3, ffn=1, vocab=31, seq=7, form="erf"),
    "one token": Case(layers=2, heads=2, seq=1, context=1),
    "one token, longer context": Case(layers=1, heads=4, head_width=1, seq=1, vocab=3),
    "two tokens of vocabulary": Case(layers=2, vocab=2, seq=8),
    "one id again and again": Case(layers=2, heads=2, distinct=1, seq=9, form="erf"),
    "two ids": Case(layers=1, distinct=2, seq=9, epsilon=0.1),
    "more tokens than vocabulary": Case(vocab=5, context=33, seq=33, heads=2),
    "batch": Case(layers=2, heads=2, batch=3, seq=4),
    "batch of one token": Case(batch=4, seq=1, vocab=101),
    "padding at the end": Case(layers=2, heads=2, batch=3, seq=6, padded=(0, 2, 5)),
    "padding at the start": Case(layers=2, heads=2, batch=3, seq=6, padded=(1, 0, 4), pad_start=True, form="erf"),
    "nothing but padding": Case(layers=3, heads=2, batch=2, seq=4, padded=(4, 1)),
    "one sequence, all padding": Case(layers=2, seq=3, padded=(3,)),
}


def agrees(name: str, found: NDArray[Any], expected: NDArray[np.float64]) -> None:
    assert found.dtype == np.float64, name
    assert found.shape == expected.shape, name
    if np.abs(expected).max() < NOISE:
        assert np.abs(found).max() < NOISE, name
        return
    assert np.linalg.norm(found - expected) <= TOLERANCE * np.linalg.norm(expected), name
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max(), name


def drawn(case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Ids, targets and padding, [batch, seq] each."""
    rng = np.random.default_rng([case.seq, case.batch, case.vocab])
    shape = (case.batch, case.seq)
    ids = rng.integers(0, case.vocab, shape) if case.distinct is None else rng.integers(0, case.distinct, shape)
    padding = np.zeros(shape, dtype=np.bool_)
    for row, count in zip(padding, case.padded, strict=False):
        row[: count if case.pad_start else 0] = True
        row[case.seq if case.pad_start else case.seq - count :] = True
    return ids, rng.integers(0, case.vocab, shape), padding


def supervision(which: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if which in ("none", "all"):
        return np.full(shape, which == "all")
    chosen = np.random.default_rng(5).random(shape) < (0.5 if which == "some" else 0)
    chosen[-1, -1] = True
    return chosen


@pytest.mark.parametrize("supervised", SUPERVISED)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_loss_and_every_gradient(tmp_path: Path, *, name: str, causal: bool, supervised: str) -> None:
    case = CASES[name]
    width = case.heads * case.head_width
    sizes = {"vocab": case.vocab, "context": case.context, "width": width, "layers": case.layers, "ffn": case.ffn}
    weights = random_model(**sizes, seed=case.seq, dtype=torch.float64)
    ids, tokens, padding = drawn(case)
    counted = supervision(supervised, ids.shape)
    targets = np.where(counted, tokens, -1)
    logits, loss, gradients = torch_gradients(
        torch.tensor(ids),
        torch.tensor(targets if counted.any() else tokens),
        weights,
        layers=case.layers,
        heads=case.heads,
        causal=causal,
        padding=torch.tensor(padding),
        epsilon=case.epsilon,
        form=case.form,
    )

    save_file(weights, tmp_path / "model.safetensors")
    config = GptConfig(**sizes, heads=case.heads, epsilon=case.epsilon, gelu=case.form)
    gpt = load_gpt(tmp_path / "model.safetensors", config)
    reference = ModelConfig(**asdict(config))
    parameters = parameters_from_named(reference, gpt.named())
    if causal:
        found_logits = gpt_forward(reference, parameters, ids, padding=padding)
        found, grads = gpt_backward(reference, parameters, ids, targets, padding=padding)
        assert gpt_loss(reference, parameters, ids, targets, padding=padding) == found
    else:
        # The mask takes out positions whose targets are tokens, and a target of -1 one that the mask lets through.
        mask = counted | (tokens == 0)
        tokens = np.where(mask & ~counted, -1, tokens)
        found_logits = bert_forward(reference, parameters, ids, padding=padding)
        found, grads = bert_backward(reference, parameters, ids, tokens, mask, padding=padding)
        assert bert_loss(reference, parameters, ids, tokens, mask, padding=padding) == found

    agrees("logits", found_logits, logits.numpy())
    named = GptGrads.from_named(config, grads.named()).named()
    assert named.keys() == gradients.keys()
    if not counted.any():
        assert found == 0.0
        assert not any(array.any() for array in named.values())
        return
    assert abs(found - loss.item()) <= TOLERANCE * loss.item()
    for weight, array in named.items():
        agrees(weight, array, gradients[weight].numpy())


@pytest.mark.parametrize("causal", [True, False])
def test_the_comparison_sees_every_weight(*, causal: bool) -> None:
    """No gradient of the comparison is 0 by accident, where tokens attend to each other."""
    case = CASES["padding at the end"]
    ids, tokens, padding = drawn(case)
    weights = random_model(vocab=7, context=9, width=8, layers=2, ffn=5, seed=0, dtype=torch.float64)
    _, _, gradients = torch_gradients(
        torch.tensor(ids),
        torch.tensor(tokens),
        weights,
        layers=2,
        heads=2,
        causal=causal,
        padding=torch.tensor(padding),
        epsilon=1e-5,
        form="tanh",
    )
    assert {name for name, gradient in gradients.items() if np.linalg.norm(gradient.numpy()) < 1e-4} == set()


@pytest.mark.parametrize("causal", [True, False])
def test_one_sequence_is_a_batch_of_one(*, causal: bool) -> None:
    config = ModelConfig(vocab=7, context=6, width=4, heads=2, layers=2, ffn=3)
    weights = random_model(vocab=7, context=6, width=4, layers=2, ffn=3, seed=1, dtype=torch.float64)
    parameters = parameters_from_named(config, {name: weight.numpy() for name, weight in weights.items()})
    ids, targets, mask = [3, 1, 3, 0], [1, 3, -1, 6], [True, False, True, True]
    if causal:
        alone = gpt_backward(config, parameters, ids, targets)
        batched = gpt_backward(config, parameters, [ids], [targets])
    else:
        alone = bert_backward(config, parameters, ids, targets, mask)
        batched = bert_backward(config, parameters, [ids], [targets], [mask])
    assert alone[0] == batched[0]
    for name, array in alone[1].named().items():
        np.testing.assert_array_equal(array, batched[1].named()[name])
    forward = gpt_forward if causal else bert_forward
    np.testing.assert_array_equal(forward(config, parameters, ids), forward(config, parameters, [ids])[0])

"""Models and batches of many sizes, and what the whole-model programs make of them."""

from typing import Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.models.backward import Weights, bert_backward, gpt_backward
from cgraph.models.config import GptConfig
from cgraph.models.model_shapes import model_shapes

Array = NDArray[Any]
# A gradient that is 0 in truth, such as that of a query that sees one key, comes out as rounding errors.
NOISE = {"f64": 1e-14, "f32": 2e-6}
TOLERANCE = {"f64": 1e-10, "f32": 5e-5}


@frozen(kw_only=True)
class Case:
    """Sizes of a model and of its batch; `padded` counts the tokens that fill up each sequence, at its end or start."""

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
    gelu: Literal["tanh", "erf"] = "tanh"
    epsilon: float = 1e-5
    recompute: bool = False

    @property
    def config(self) -> GptConfig:
        return GptConfig(
            vocab=self.vocab,
            context=self.context,
            width=self.heads * self.head_width,
            heads=self.heads,
            layers=self.layers,
            ffn=self.ffn,
            epsilon=self.epsilon,
            gelu=self.gelu,
        )


CASES = {
    "one layer": Case(),
    "two layers, odd sizes": Case(layers=2, heads=3, head_width=5, ffn=17, vocab=13, context=11, seq=11),
    "three layers again": Case(layers=3, heads=2, head_width=3, ffn=1, vocab=31, seq=7, gelu="erf", recompute=True),
    "one token": Case(layers=2, heads=2, seq=1, context=1),
    "one token of a longer context": Case(heads=4, head_width=1, seq=1, vocab=3),
    "one id again and again": Case(layers=2, heads=2, distinct=1, seq=9),
    "two ids": Case(distinct=2, seq=9, epsilon=0.1),
    "more tokens than vocabulary": Case(vocab=2, context=40, seq=33, batch=2, heads=2, recompute=True),
    "more vocabulary than tokens": Case(batch=4, seq=1, vocab=1001, head_width=33),
    "attention in blocks": Case(layers=2, heads=2, head_width=2, seq=130, context=131, batch=2, padded=(0, 3)),
    "padding at the end": Case(layers=2, heads=2, batch=3, seq=6, padded=(0, 2, 5)),
    "padding at the start": Case(layers=2, heads=2, batch=3, seq=6, padded=(1, 0, 4), pad_start=True, gelu="erf"),
    "nothing but padding": Case(layers=3, heads=2, batch=2, seq=4, padded=(4, 1), recompute=True),
}
SUPERVISED = ("none", "one", "some", "all")


@frozen(eq=False)
class Drawn:
    """A batch. ids, targets, padding and mask are [batch, seq].

    The mask takes out positions whose targets are tokens, and `targets` has a -1 that the mask lets through; `counted`
    are the targets that count, -1 elsewhere.
    """

    ids: Array
    targets: Array
    mask: Array
    counted: Array
    padding: Array


def draw(case: Case, supervised: str) -> Drawn:
    rng = np.random.default_rng([case.seq, case.batch, case.vocab])
    shape = (case.batch, case.seq)
    ids = rng.integers(0, case.distinct or case.vocab, shape)
    tokens = rng.integers(0, case.vocab, shape)
    if supervised in ("none", "all"):
        counts = np.full(shape, supervised == "all")
    else:
        counts = rng.random(shape) < (0.5 if supervised == "some" else 0)
        counts[-1, -1] = True
    padding = np.zeros(shape, dtype=np.bool_)
    for row, count in zip(padding, case.padded, strict=False):
        row[: count if case.pad_start else 0] = True
        row[case.seq if case.pad_start else case.seq - count :] = True
    mask = counts | (rng.random(shape) < 0.3)
    return Drawn(ids, np.where(mask & ~counts, -1, tokens), mask, np.where(counts, tokens, -1), padding)


def random_weights(config: GptConfig, seed: int) -> dict[str, Array]:
    """Weights that keep activations near 1, none of them 0, by the names of `Gpt.named`."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in model_shapes(config).items():
        drawn = rng.standard_normal(shape)
        if name in ("wte", "wpe"):
            weights[name] = drawn
        elif len(shape) == 2:
            weights[name] = drawn / np.sqrt(shape[1])
        else:
            weights[name] = 0.2 * drawn + (1 if name.endswith("gamma") else 0)
    return weights


def backward(
    case: Case, weights: Weights, drawn: Drawn, *, causal: bool, half: str, device: str = "host"
) -> tuple[float, dict[str, Array]]:
    """The loss, and every gradient by name; the padding is handed over only where the case has some."""
    padding = drawn.padding if case.padded else None
    if causal:
        loss, grads = gpt_backward(
            case.config,
            weights,
            drawn.ids,
            drawn.counted,
            padding=padding,
            half=half,
            device=device,
            recompute=case.recompute,
        )
    else:
        loss, grads = bert_backward(
            case.config,
            weights,
            drawn.ids,
            drawn.targets,
            drawn.mask,
            padding=padding,
            half=half,
            device=device,
            recompute=case.recompute,
        )
    return loss, grads.named()


def check(half: str, found: tuple[float, dict[str, Array]], expected: tuple[float, dict[str, Array]]) -> None:
    """Asserts that a loss and gradients are what they should be, in float64: norms and single elements."""
    tolerance, noise = TOLERANCE[half], NOISE[half]
    assert abs(found[0] - expected[0]) <= tolerance * max(expected[0], 1e-3)
    assert found[1].keys() == expected[1].keys()
    for name, array in expected[1].items():
        gradient = found[1][name]
        assert gradient.dtype == {"f64": np.float64, "f32": np.float32}[half], name
        assert gradient.shape == array.shape, name
        if np.abs(array).max() < NOISE["f64"]:
            assert np.abs(gradient).max() <= noise, name
            continue
        assert np.linalg.norm(gradient - array) <= tolerance * np.linalg.norm(array) + noise, name
        assert np.abs(gradient - array).max() <= tolerance * np.abs(array).max() + noise, name

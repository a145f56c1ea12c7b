"""Wrong arguments of seed 001's functions are refused with a message that names them."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from cgraph.reference.cross_entropy import cross_entropy, cross_entropy_bwd, masked_cross_entropy_bwd
from cgraph.reference.embedding import embedding, embedding_bwd
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named, random_parameters
from cgraph.reference.primitives import gelu, layer_norm, layer_norm_bwd, linear, linear_bwd
from cgraph.reference.whole_model import bert_backward, bert_loss, gpt_backward, gpt_forward

X = np.ones((3, 4)) + np.eye(3, 4)
ROW = np.ones(4)
CONFIG = ModelConfig(vocab=5, context=3, width=4, heads=2, layers=2, ffn=3)
WEIGHTS = random_parameters(np.random.default_rng(0), CONFIG)
IDS = [1, 2, 4]
YES = [True, True, True]

CASES: dict[str, tuple[str, Callable[[], object]]] = {
    "bias": (r"b: expected shape \[3\], got \[4\]", lambda: linear(X, X, ROW)),
    "linear dy": ("dy: ", lambda: linear_bwd(X, X, X)),
    "linear w": ("w: ", lambda: linear(X, X[:, :3])),
    "linear gradient w": ("w: ", lambda: linear_bwd(X, ROW, X)),
    "norm gamma": ("gamma: ", lambda: layer_norm(X, X, ROW, 1e-5)),
    "norm beta": ("beta: ", lambda: layer_norm_bwd(X, ROW, ROW[:2], 1e-5, X)),
    "norm eps": ("eps: ", lambda: layer_norm(X, ROW, ROW, -1.0)),
    "norm gradient eps": ("eps: ", lambda: layer_norm_bwd(X, ROW, ROW, np.nan, X)),
    "gelu form": ("form: ", lambda: gelu(X, "relu")),  # type: ignore[arg-type]
    "table": ("table: ", lambda: embedding(ROW, [0])),
    "id too great": (r"ids: expected 0 to 2, got 3 at \[1\]", lambda: embedding(X, [0, 3])),
    "id below 0": (r"ids: expected 0 to 2, got -1 at \[0\]", lambda: embedding(X, [-1, 3])),
    "ids of two axes": (r"ids: expected shape \[rows\], got \[1, 2\]", lambda: embedding(X, [[0, 1]])),
    "embedding dy": (r"dy: expected shape \[2, width\], got \[3, 4\]", lambda: embedding_bwd([0, 1], X, 3)),
    "logits": ("logits: ", lambda: cross_entropy(ROW, [0])),
    "targets too few": (r"targets: expected shape \[3\], got \[2\]", lambda: cross_entropy_bwd(X, [0, 1])),
    "target too great": (r"targets: expected -1 to 3, got 4 at \[2\]", lambda: cross_entropy_bwd(X, [0, 1, 4])),
    "target -100": (r"targets: expected -1 to 3, got -100", lambda: masked_cross_entropy_bwd(X, [-100, 1, 2], YES)),
    "targets of floats": ("targets: expected integers, got float64", lambda: cross_entropy(X, [0.0, 1.0, 2.0])),
    "targets of booleans": ("targets: expected integers, got bool", lambda: cross_entropy(X, YES)),
    "mask of numbers": (
        "mask: expected booleans, got int64",
        lambda: masked_cross_entropy_bwd(X, [0, 1, 2], [1, 0, 1]),
    ),
    "mask too short": (
        r"mask: expected shape \[3\], got \[1\]",
        lambda: masked_cross_entropy_bwd(X, [0, 1, 2], [True]),
    ),
    "ragged mask": ("mask: expected booleans, got list", lambda: masked_cross_entropy_bwd(X, [0, 1, 2], [[True], YES])),
    "sequence too long": (r"ids: expected shape .*at most 3, got \[4\]", lambda: gpt_forward(CONFIG, WEIGHTS, [1] * 4)),
    "ids of three axes": (r"ids: expected shape .*got \[1, 1, 3\]", lambda: gpt_forward(CONFIG, WEIGHTS, [[IDS]])),
    "one id": (r"ids: expected shape .*got \[\]", lambda: gpt_forward(CONFIG, WEIGHTS, 1)),
    "no ids": (r"ids: shape \[0\] has no elements", lambda: gpt_forward(CONFIG, WEIGHTS, [])),
    "ragged ids": ("ids: expected integers, got list", lambda: gpt_forward(CONFIG, WEIGHTS, [[1], IDS])),
    "great unsigned id": (
        "ids: expected 0 to 4, got 18446744073709551615",
        lambda: gpt_forward(CONFIG, WEIGHTS, np.array([2**64 - 1], dtype=np.uint64)),
    ),
    "model's targets": (r"targets: expected shape \[1, 3\]", lambda: gpt_backward(CONFIG, WEIGHTS, [IDS], IDS)),
    "model's target": (r"targets: expected -1 to 4, got 5", lambda: gpt_backward(CONFIG, WEIGHTS, IDS, [1, 5, 1])),
    "model's mask": (r"mask: expected shape \[3\]", lambda: bert_backward(CONFIG, WEIGHTS, IDS, IDS, [True])),
    "loss's mask": ("mask: expected booleans", lambda: bert_loss(CONFIG, WEIGHTS, IDS, IDS, IDS)),
    "padding": (
        r"padding: expected shape \[3\], got \[1\]",
        lambda: gpt_backward(CONFIG, WEIGHTS, IDS, IDS, padding=[True]),
    ),
    "heads": ("heads: expected a divisor", lambda: gpt_forward(evolve(CONFIG, heads=3), WEIGHTS, IDS)),
    "form": ("form: ", lambda: gpt_forward(evolve(CONFIG, gelu="relu"), WEIGHTS, IDS)),  # type: ignore[arg-type]
    "weight's shape": (r"head: expected shape \[5, 4\]", lambda: gpt_forward(CONFIG, evolve(WEIGHTS, head=X), IDS)),
    "block's weight": (
        r"blocks\.1\.ffn_b1: expected shape \[3\], got \[4\]",
        lambda: gpt_forward(
            CONFIG, evolve(WEIGHTS, blocks=(WEIGHTS.blocks[0], evolve(WEIGHTS.blocks[1], ffn_b1=ROW))), IDS
        ),
    ),
    "a block too many": (
        r"blocks\.1\.attn_ln_beta: no weight of this model",
        lambda: gpt_forward(evolve(CONFIG, layers=1), WEIGHTS, IDS),
    ),
    "a weight too few": (
        "head_b: missing",
        lambda: parameters_from_named(CONFIG, {n: a for n, a in WEIGHTS.named().items() if n != "head_b"}),
    ),
    "weight not finite": (
        r"head_b: the value at \[2\] is not finite",
        lambda: gpt_forward(CONFIG, evolve(WEIGHTS, head_b=np.array([1, 1, np.nan, 1, 1])), IDS),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_names_the_argument(case: str) -> None:
    message, call = CASES[case]
    with pytest.raises(ValueError, match=f"^{message}"):
        call()

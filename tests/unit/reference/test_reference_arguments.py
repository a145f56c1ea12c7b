"""A wrong argument raises a ValueError that begins with the argument's name."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from cgraph.reference.attention import attention, attention_bwd
from cgraph.reference.gated_gelu import gated_gelu, gated_gelu_bwd
from cgraph.reference.gelu import gelu, gelu_bwd
from cgraph.reference.heads import merge_heads, split_heads
from cgraph.reference.layer import LayerOptions, layer_backward, layer_forward
from cgraph.reference.linear import linear, linear_bwd
from cgraph.reference.norm import layer_norm, layer_norm_bwd
from cgraph.reference.rotary import rope, rope_bwd, rope_table
from cgraph.reference.softmax import softmax, softmax_bwd
from cgraph.reference.stack import stack_backward_from_boundaries
from cgraph.reference.weights import random_weights

X = np.ones((3, 4))
HEAD = np.ones((2, 3, 4))
ROW = np.ones(4)
WEIGHTS = random_weights(np.random.default_rng(0), width=4, ffn=3)
OPTIONS: LayerOptions = {"heads": 2, "causal": True, "epsilon": 1e-5, "rope_base": 10000.0}
YES = np.ones((3, 3), dtype=np.bool_)

CASES: dict[str, tuple[str, Callable[[], object]]] = {
    "linear inputs": (r"weight: expected shape \[outputs, 4\], got \[4, 3\]", lambda: linear(X, X.T)),
    "linear gradient": (r"dy: expected shape \[3, 5\]", lambda: linear_bwd(X, np.ones((5, 4)), X)),
    "linear rank": (r"x: expected shape \[rows, inputs\], got \[4\]", lambda: linear(ROW, X)),
    "no rows": ("x: .*no elements", lambda: linear(np.ones((0, 4)), X)),
    "complex": ("x: expected real numbers", lambda: linear(X * 1j, X)),
    "text": ("x: expected real numbers", lambda: linear([["a"]], X)),
    "ragged": ("x: expected real numbers", lambda: linear([[1.0], [1.0, 2.0]], X)),
    "not finite": (
        r"x: the value at \[1, 2\]",
        lambda: linear(np.where(np.arange(12).reshape(3, 4) == 6, np.nan, X), X),
    ),
    "norm gain": ("gain: ", lambda: layer_norm(X, ROW[:3], ROW, epsilon=1e-5)),
    "norm shift": ("shift: ", lambda: layer_norm(X, ROW, ROW[:3], epsilon=1e-5)),
    "norm epsilon": ("epsilon: ", lambda: layer_norm(X, ROW, ROW, epsilon=-1e-5)),
    "norm constant row": ("epsilon: 0 divides .* row 0", lambda: layer_norm(X, ROW, ROW, epsilon=0.0)),
    "norm statistics": ("statistics: ", lambda: layer_norm_bwd(X, ROW, X, X)),
    "norm dy": ("dy: ", lambda: layer_norm_bwd(X, ROW, X[:, :2], X[:, :3])),
    "rope odd width": ("head_width: ", lambda: rope(X[:, :3], base=10.0)),
    "rope base": ("base: ", lambda: rope(X, base=0.0)),
    "rope rank": ("dy: ", lambda: rope_bwd(ROW, base=10.0)),
    "rope seq": ("seq: ", lambda: rope_table(0, 4, base=10.0)),
    "gelu form": ("form: ", lambda: gelu(X, form="relu")),  # type: ignore[arg-type]
    "gelu dy": ("dy: ", lambda: gelu_bwd(X, ROW, form="erf")),
    "gated gate": ("gate: ", lambda: gated_gelu(X, ROW)),
    "gated dgated": ("dgated: ", lambda: gated_gelu_bwd(X, X, ROW)),
    "softmax mask kind": ("mask: expected booleans, got float64", lambda: softmax(X, mask=X)),  # type: ignore[arg-type]
    "softmax mask shape": ("mask: shape", lambda: softmax(X, mask=YES)),
    "softmax gradient": ("dprobabilities: ", lambda: softmax_bwd(X, ROW)),
    "attention keys": ("keys: ", lambda: attention(HEAD, X, HEAD, causal=True)),
    "attention values": ("values: ", lambda: attention(HEAD, HEAD, HEAD[:1], causal=True)),
    "attention mask": ("mask: ", lambda: attention(HEAD, HEAD, HEAD, causal=True, mask=YES[:2])),
    "attention probabilities": ("probabilities: ", lambda: attention_bwd(HEAD, HEAD, HEAD, HEAD, HEAD)),
    "heads": ("heads: expected a divisor of the width 4, got 3", lambda: split_heads(X, 3)),
    "no heads": ("heads: ", lambda: split_heads(X, 0)),
    "merge": ("per_head: ", lambda: merge_heads(X)),
    "layer qkv": ("qkv: ", lambda: layer_forward(X, evolve(WEIGHTS, qkv=np.ones((4, 4))), **OPTIONS)),
    "layer down": ("down: ", lambda: layer_forward(X, evolve(WEIGHTS, down=WEIGHTS.up), **OPTIONS)),
    "layer shift": ("norm2_shift: ", lambda: layer_forward(X, evolve(WEIGHTS, norm2_shift=X), **OPTIONS)),
    "layer dy": ("dy: ", lambda: layer_backward(X, WEIGHTS, ROW, **OPTIONS)),
    "boundaries": (
        "boundaries: expected 1 or one more, got 3",
        lambda: stack_backward_from_boundaries([X, X, X], [WEIGHTS], X, **OPTIONS),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_names_the_argument(case: str) -> None:
    message, call = CASES[case]
    with pytest.raises(ValueError, match=f"^{message}"):
        call()

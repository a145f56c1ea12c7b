"""Seed 001's model in PyTorch, written from the formulas and with PyTorch's own operations, not from the reference.

Weights are named `wte`, `blocks.0.attn_wq` and so on, matrices [outputs, inputs]. It works in any floating type and on
any device; autograd gives every gradient.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch.nn.functional import cross_entropy, embedding, gelu, layer_norm, linear, scaled_dot_product_attention

IGNORED = -1
SQUARES = ("attn_wq", "attn_wk", "attn_wv", "attn_wo")
VECTORS = ("attn_ln_gamma", "attn_ln_beta", "ffn_b2", "ffn_ln_gamma", "ffn_ln_beta")


def random_model(
    *, vocab: int, context: int, width: int, layers: int, ffn: int, seed: int, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Weights that keep activations near 1, none of them 0, by name."""
    generator = torch.Generator().manual_seed(seed)
    shapes: dict[str, tuple[int, ...]] = {"wte": (vocab, width), "wpe": (context, width)}
    for layer in range(layers):
        shapes |= {f"blocks.{layer}.{name}": (width, width) for name in SQUARES}
        shapes |= {f"blocks.{layer}.{name}": (width,) for name in VECTORS}
        shapes[f"blocks.{layer}.ffn_w1"] = (ffn, width)
        shapes[f"blocks.{layer}.ffn_b1"] = (ffn,)
        shapes[f"blocks.{layer}.ffn_w2"] = (width, ffn)
    shapes |= {"ln_gamma": (width,), "ln_beta": (width,), "head": (vocab, width), "head_b": (vocab,)}
    weights = {}
    for name, shape in shapes.items():
        drawn = torch.randn(shape, generator=generator, dtype=dtype)
        if name in ("wte", "wpe"):
            weights[name] = drawn
        elif len(shape) == 2:
            weights[name] = drawn / shape[1] ** 0.5
        else:
            weights[name] = 0.2 * drawn + (1 if name.endswith("gamma") else 0)
    return weights


def attended(padding: torch.Tensor, *, causal: bool) -> torch.Tensor:
    """[batch, 1, seq, seq] booleans from [batch, seq]: which key (last axis) a query attends to."""
    seq = padding.shape[1]
    position = torch.arange(seq)
    allowed = position[None, :] <= position[:, None] if causal else torch.ones(seq, seq, dtype=torch.bool)
    return (allowed[None] & ~padding[:, None, :])[:, None]


def torch_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, allowed: torch.Tensor
) -> torch.Tensor:
    """Attention on [batch, heads, seq, headWidth]; a query that attends to nothing gets 0, not NaN."""
    blind = ~allowed.any(dim=-1, keepdim=True)
    context = scaled_dot_product_attention(queries, keys, values, attn_mask=allowed | blind)
    return context.masked_fill(blind, 0)


def torch_logits(
    ids: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    *,
    layers: int,
    heads: int,
    causal: bool,
    padding: torch.Tensor,
    epsilon: float,
    form: Literal["tanh", "erf"],
) -> torch.Tensor:
    """The logits [batch, seq, vocab] for ids [batch, seq]."""
    batch, seq = ids.shape
    width = weights["wte"].shape[1]
    allowed = attended(padding, causal=causal)
    x = embedding(ids, weights["wte"]) + embedding(torch.arange(seq), weights["wpe"])
    for layer in range(layers):
        prefix = f"blocks.{layer}."
        block = {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}
        normal = layer_norm(x, (width,), block["attn_ln_gamma"], block["attn_ln_beta"], epsilon)
        queries, keys, values = (
            linear(normal, block[name]).view(batch, seq, heads, width // heads).transpose(1, 2)
            for name in ("attn_wq", "attn_wk", "attn_wv")
        )
        context = torch_attention(queries, keys, values, allowed).transpose(1, 2).reshape(batch, seq, width)
        x = x + linear(context, block["attn_wo"])
        normal = layer_norm(x, (width,), block["ffn_ln_gamma"], block["ffn_ln_beta"], epsilon)
        hidden = gelu(linear(normal, block["ffn_w1"], block["ffn_b1"]), approximate="none" if form == "erf" else form)
        x = x + linear(hidden, block["ffn_w2"], block["ffn_b2"])
    normal = layer_norm(x, (width,), weights["ln_gamma"], weights["ln_beta"], epsilon)
    return linear(normal, weights["head"], weights["head_b"])


def torch_gradients(
    ids: torch.Tensor,
    targets: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    *,
    layers: int,
    heads: int,
    causal: bool,
    padding: torch.Tensor,
    epsilon: float,
    form: Literal["tanh", "erf"],
) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """The logits, the mean loss over targets that are not -1 (there must be one), and every weight's gradient."""
    leaves = {name: weight.detach().clone().requires_grad_(True) for name, weight in weights.items()}
    logits = torch_logits(
        ids, leaves, layers=layers, heads=heads, causal=causal, padding=padding, epsilon=epsilon, form=form
    )
    loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    return logits.detach(), loss.detach(), dict(zip(leaves, gradients, strict=True))

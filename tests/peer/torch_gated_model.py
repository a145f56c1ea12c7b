"""A language model of gated layers in PyTorch: torch_layer.py's layers between an embedding and a head.

Weights are named `table`, `layers.0.qkv` and so on, `norm_gain`, `norm_shift`, and `head` where it is not the table.
"""

from collections.abc import Mapping

import torch
from torch.nn.functional import cross_entropy, embedding, layer_norm, linear
from torch_layer import torch_stack

IGNORED = -1


def torch_gated_logits(
    ids: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    *,
    layers: int,
    heads: int,
    epsilon: float,
    rope_base: float,
    padding: torch.Tensor | None = None,
) -> torch.Tensor:
    """The logits [batch, seq, vocab] for ids [batch, seq]; no token attends to one where `padding` is True."""
    present = [None] * len(ids) if padding is None else list(~padding)
    tops = [
        torch_stack(
            embedding(sequence, weights["table"]),
            weights,
            layers=layers,
            heads=heads,
            causal=True,
            epsilon=epsilon,
            rope_base=rope_base,
            present=of_sequence,
        )[-1]
        for sequence, of_sequence in zip(ids, present, strict=True)
    ]
    width = weights["table"].shape[1]
    normal = layer_norm(torch.stack(tops), (width,), weights["norm_gain"], weights["norm_shift"], epsilon)
    return linear(normal, weights.get("head", weights["table"]))


def torch_gated_gradients(
    ids: torch.Tensor,
    targets: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    *,
    layers: int,
    heads: int,
    epsilon: float,
    rope_base: float,
    padding: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """The logits, the mean loss over targets that are not -1 (there must be one), and every weight's gradient."""
    leaves = {name: weight.detach().clone().requires_grad_(True) for name, weight in weights.items()}
    logits = torch_gated_logits(
        ids, leaves, layers=layers, heads=heads, epsilon=epsilon, rope_base=rope_base, padding=padding
    )
    loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    return logits.detach(), loss.detach(), dict(zip(leaves, gradients, strict=True))

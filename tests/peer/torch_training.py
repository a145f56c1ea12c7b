"""The run of `cgraph train` in PyTorch: optimizers and clipping are PyTorch's; batches and weights are given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch_model import torch_logits

Batch = tuple[NDArray[Any], NDArray[Any]]


def torch_losses(
    weights: Mapping[str, NDArray[Any]],
    batches: Sequence[Batch],
    rates: Sequence[float],
    *,
    layers: int,
    heads: int,
    optimizer: str,
    settings: Mapping[str, Any],
) -> Iterator[tuple[float, float]]:
    """Loss and norm of the gradient before clipping, of each step.

    Ids and targets are [microbatches, seq, batch]; microbatches are gone through one after the other, each with its
    share of the gradient. Weights with two axes decay, others do not.
    """
    leaves = {name: torch.tensor(values).requires_grad_(True) for name, values in weights.items()}
    if optimizer == "adamw":
        groups = [
            {"params": [leaf for leaf in leaves.values() if leaf.ndim == 2], "weight_decay": settings["weight_decay"]},
            {"params": [leaf for leaf in leaves.values() if leaf.ndim != 2], "weight_decay": 0.0},
        ]
        betas = (settings["beta1"], settings["beta2"])
        optimiser: torch.optim.Optimizer = torch.optim.AdamW(groups, betas=betas, eps=settings["epsilon"])
    else:
        optimiser = torch.optim.SGD(leaves.values())
    for (ids, targets), rate in zip(batches, rates, strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
        total = 0.0
        for part, wanted in zip(ids, targets, strict=True):
            sequences = torch.tensor(part.T, dtype=torch.long)
            padding = torch.zeros(sequences.shape, dtype=torch.bool)
            logits = torch_logits(
                sequences, leaves, layers=layers, heads=heads, causal=True, padding=padding, epsilon=1e-5, form="tanh"
            )
            loss = cross_entropy(logits.flatten(0, 1), torch.tensor(wanted.T, dtype=torch.long).flatten()) / len(ids)
            loss.backward()
            total += loss.item()
        norm = clip_grad_norm_(leaves.values(), settings["clip_norm"] or float("inf"))
        optimiser.step()
        yield total, norm.item()

"""The layer in PyTorch, written from the formulas and with PyTorch's own operations, not from the reference.

Norms, GELU and attention are torch's; RoPE multiplies complex numbers. It works in any floating type, and autograd
gives every gradient. Weights are named `layers.0.qkv`, `layers.0.norm1_gain` and so on, shapes [outputs, inputs].
"""

from collections.abc import Mapping

import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

MATRICES = ("qkv", "output", "up", "gate", "down")
VECTORS = ("norm1_gain", "norm1_shift", "norm2_gain", "norm2_shift")


def random_stack(*, layers: int, width: int, ffn: int, seed: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Weights that keep activations near 1, by name."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "qkv": (3 * width, width),
        "output": (width, width),
        "up": (ffn, width),
        "gate": (ffn, width),
        "down": (width, ffn),
    }
    weights = {}
    for layer in range(layers):
        for name in MATRICES:
            drawn = torch.randn(shapes[name], generator=generator, dtype=dtype)
            weights[f"layers.{layer}.{name}"] = drawn / shapes[name][1] ** 0.5
        for name in VECTORS:
            drawn = 0.2 * torch.randn(width, generator=generator, dtype=dtype)
            weights[f"layers.{layer}.{name}"] = drawn + 1 if name.endswith("gain") else drawn
    return weights


def rotate_halves(x: torch.Tensor, base: float) -> torch.Tensor:
    """RoPE on [heads, seq, head_width]: channel c of the first half and of the second are one complex number."""
    _, seq, head_width = x.shape
    first, second = x.chunk(2, dim=-1)
    channel = torch.arange(head_width // 2, dtype=x.dtype, device=x.device)
    position = torch.arange(seq, dtype=x.dtype, device=x.device)
    angle = torch.outer(
        position, torch.pow(torch.tensor(base, dtype=x.dtype, device=x.device), -2 * channel / head_width)
    )
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], dim=-1)


def torch_layer(
    x: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    layer: int,
    *,
    heads: int,
    causal: bool,
    epsilon: float,
    rope_base: float,
    present: torch.Tensor | None = None,
) -> torch.Tensor:
    """The output [seq, width] of one layer for an input [seq, width].

    `present` [seq] says which tokens are attended to; one that attends to none has a context of 0.
    """
    seq, width = x.shape
    weight = {name: weights[f"layers.{layer}.{name}"] for name in (*MATRICES, *VECTORS)}
    normal = layer_norm(x, (width,), weight["norm1_gain"], weight["norm1_shift"], epsilon)
    queries, keys, values = linear(normal, weight["qkv"]).view(seq, 3, heads, width // heads).permute(1, 2, 0, 3)
    visible = torch.ones(seq, seq, dtype=torch.bool, device=x.device) if present is None else present.expand(seq, seq)
    visible = visible.tril() if causal else visible
    attending = visible.any(dim=1)
    context = scaled_dot_product_attention(
        rotate_halves(queries, rope_base)[None],
        rotate_halves(keys, rope_base)[None],
        values[None],
        # A row without any True would be NaN, or 0, by the release of PyTorch.
        attn_mask=visible | ~attending[:, None],
    )[0]
    context = torch.where(attending[:, None], context, 0.0)
    projection = x + linear(context.transpose(0, 1).reshape(seq, width), weight["output"])
    normal = layer_norm(projection, (width,), weight["norm2_gain"], weight["norm2_shift"], epsilon)
    gated = gelu(linear(normal, weight["gate"]), approximate="tanh") * linear(normal, weight["up"])
    return projection + linear(gated, weight["down"])


def torch_stack(
    x: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    *,
    layers: int,
    heads: int,
    causal: bool,
    epsilon: float,
    rope_base: float,
    present: torch.Tensor | None = None,
) -> list[torch.Tensor]:
    """Every boundary, x first and the stack's output last; `present` as for `torch_layer`."""
    boundaries = [x]
    for layer in range(layers):
        boundaries.append(
            torch_layer(
                boundaries[-1],
                weights,
                layer,
                heads=heads,
                causal=causal,
                epsilon=epsilon,
                rope_base=rope_base,
                present=present,
            )
        )
    return boundaries


def torch_gradients(
    x: torch.Tensor,
    weights: Mapping[str, torch.Tensor],
    dy: torch.Tensor,
    *,
    layers: int,
    heads: int,
    causal: bool,
    epsilon: float,
    rope_base: float,
) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """The boundaries, and the gradient of `x` and of every weight, by name."""
    leaves = {"x": x, **weights}
    leaves = {name: leaf.detach().clone().requires_grad_(True) for name, leaf in leaves.items()}
    boundaries = torch_stack(
        leaves["x"], leaves, layers=layers, heads=heads, causal=causal, epsilon=epsilon, rope_base=rope_base
    )
    gradients = torch.autograd.grad(boundaries[-1], list(leaves.values()), grad_outputs=dy)
    return [plane.detach() for plane in boundaries], dict(zip(leaves, gradients, strict=True))

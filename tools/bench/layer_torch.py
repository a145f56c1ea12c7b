"""The same layer in PyTorch on the CPU: eager, scaled_dot_product_attention, forward and backward pass."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.nn import functional

ROPE_BASE = 10000.0


class Sizes(NamedTuple):
    """Sizes of a layer; `ffn` is the inner width of its feed-forward part."""

    seq: int
    width: int
    heads: int
    ffn: int

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.width // self.heads


# A leaf's name here, the plane in the program that holds its value, and the plane that holds its gradient.
LEAVES = {
    "x": ("cgBoundary 0", "cgInputGradient"),
    "gain1": ("cgNorm1Gain 0", "cgNorm1GainGradient 0"),
    "shift1": ("cgNorm1Shift 0", "cgNorm1ShiftGradient 0"),
    "gain2": ("cgNorm2Gain 0", "cgNorm2GainGradient 0"),
    "shift2": ("cgNorm2Shift 0", "cgNorm2ShiftGradient 0"),
    "qkvWeight": ("cgQkvWeight 0", "cgQkvGradient 0"),
    "outputWeight": ("cgOutputWeight 0", "cgOutputWeightGradient 0"),
    "upWeight": ("cgUpWeight 0", "cgUpGradient 0"),
    "gateWeight": ("cgGateWeight 0", "cgGateGradient 0"),
    "downWeight": ("cgDownWeight 0", "cgDownGradient 0"),
}


class TorchLayer:
    """The layer with its parameters; `step` runs forward and backward and leaves the gradients in `leaves`.

    Args:
        sizes: of the layer.
        planes: values by plane name, those of `LEAVES` and `cgOutputGradient`.
    """

    def __init__(self, sizes: Sizes, planes: dict[str, torch.Tensor]) -> None:
        self.sizes = sizes
        self.leaves = {name: planes[plane].clone().requires_grad_() for name, (plane, _) in LEAVES.items()}
        self.gradient = planes["cgOutputGradient"].clone()
        head_width = sizes.head_width
        frequency = ROPE_BASE ** (-torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)
        angle = torch.arange(sizes.seq, dtype=torch.float64)[:, None] * frequency
        self.cosine = angle.cos().to(self.gradient.dtype)
        self.sine = angle.sin().to(self.gradient.dtype)

    def step(self) -> None:
        """One forward and one backward pass; gradients of the step before are dropped first."""
        for leaf in self.leaves.values():
            leaf.grad = None
        torch.autograd.backward(self.forward(), self.gradient)

    def forward(self) -> torch.Tensor:
        """The layer's output [seq, width]."""
        leaf, (seq, width, heads, _ffn) = self.leaves, self.sizes
        normal = functional.layer_norm(leaf["x"], (width,), leaf["gain1"], leaf["shift1"])
        parts = functional.linear(normal, leaf["qkvWeight"]).view(seq, 3, heads, -1).permute(1, 2, 0, 3)
        queries, keys, values = self._turned(parts[0]), self._turned(parts[1]), parts[2]
        attend: Callable[..., torch.Tensor] = functional.scaled_dot_product_attention
        attended = attend(queries[None], keys[None], values[None], is_causal=True)[0]
        merged = attended.transpose(0, 1).reshape(seq, width)
        projection = leaf["x"] + functional.linear(merged, leaf["outputWeight"])
        normal = functional.layer_norm(projection, (width,), leaf["gain2"], leaf["shift2"])
        gate = functional.gelu(functional.linear(normal, leaf["gateWeight"]), approximate="tanh")
        gated = gate * functional.linear(normal, leaf["upWeight"])
        return projection + functional.linear(gated, leaf["downWeight"])

    def _turned(self, heads: torch.Tensor) -> torch.Tensor:
        first, second = heads.chunk(2, dim=-1)
        turned = (first * self.cosine - second * self.sine, second * self.cosine + first * self.sine)
        return torch.cat(turned, dim=-1)

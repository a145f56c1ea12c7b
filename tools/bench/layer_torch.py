"""The same layer in PyTorch on the CPU: eager, scaled_dot_product_attention, forward and backward pass."""

from collections.abc import Callable

import torch
from layer_calls import ROPE_BASE, WEIGHTS, Sizes
from torch.nn import functional


class TorchLayer:
    """Leaves by the names of layer_calls' planes; `step` runs forward and backward and leaves their gradients.

    Args:
        planes: values of x, current (the gradient from above), gains, shifts and weights.
    """

    def __init__(self, sizes: Sizes, planes: dict[str, torch.Tensor]) -> None:
        self.sizes = sizes
        names = ["x", "gain1", "shift1", "gain2", "shift2", *(name + "Weight" for name in WEIGHTS)]
        self.leaves = {name: planes[name].clone().requires_grad_() for name in names}
        self.gradient = planes["current"].clone()
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

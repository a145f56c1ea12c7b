"""The reference against PyTorch's autograd in float64; weights travel through a .safetensors file written by torch."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402
from torch_layer import random_stack, torch_gradients  # noqa: E402

from cgraph.reference.layer import LayerOptions  # noqa: E402
from cgraph.reference.stack import stack_backward, stack_backward_from_boundaries, stack_forward  # noqa: E402
from cgraph.reference.weights import LAYER_WEIGHT_NAMES, LayerWeights  # noqa: E402

pytestmark = pytest.mark.peer

TOLERANCE = 1e-10


def agrees(name: str, found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    assert found.shape == expected.shape, name
    assert np.linalg.norm(expected) > 0, name
    assert np.linalg.norm(found - expected) <= TOLERANCE * np.linalg.norm(expected), name
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max(), name


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("seq", [1, 2, 7, 33])
@pytest.mark.parametrize(
    ("layers", "heads", "head_width", "ffn"),
    [(1, 1, 2, 3), (1, 2, 6, 17), (2, 3, 4, 11), (3, 4, 2, 5), (1, 4, 4, 1), (3, 1, 6, 9), (2, 2, 2, 7), (1, 3, 6, 21)],
)
def test_every_gradient(
    tmp_path: Path, *, layers: int, heads: int, head_width: int, ffn: int, seq: int, causal: bool
) -> None:
    width = heads * head_width
    weights = random_stack(layers=layers, width=width, ffn=ffn, seed=seq, dtype=torch.float64)
    x, dy = torch.randn((2, seq, width), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    options: LayerOptions = {"heads": heads, "causal": causal, "epsilon": 1e-5, "rope_base": 10000.0}
    boundaries, gradients = torch_gradients(x, weights, dy, layers=layers, **options)

    save_file({"x": x, "dy": dy, **weights}, tmp_path / "inputs.safetensors")
    stored = load_file(tmp_path / "inputs.safetensors")
    stack = [
        LayerWeights(**{name: stored[f"layers.{layer}.{name}"] for name in LAYER_WEIGHT_NAMES})
        for layer in range(layers)
    ]
    found_boundaries = stack_forward(stored["x"], stack, **options)
    dx, of_layers = stack_backward(stored["x"], stack, stored["dy"], **options)

    for index, (found, expected) in enumerate(zip(found_boundaries, boundaries, strict=True)):
        agrees(f"boundary {index}", found, expected.numpy())
    agrees("x", dx, gradients["x"].numpy())
    for layer, of_layer in enumerate(of_layers):
        for name, found in of_layer.named().items():
            agrees(f"{name} of layer {layer}", found, gradients[f"layers.{layer}.{name}"].numpy())


def test_boundaries_stand_in_for_the_forward_pass() -> None:
    weights = random_stack(layers=2, width=4, ffn=3, seed=0, dtype=torch.float64)
    stack = [
        LayerWeights(**{name: weights[f"layers.{layer}.{name}"].numpy() for name in LAYER_WEIGHT_NAMES})
        for layer in range(2)
    ]
    x, middle, dy = torch.randn((3, 5, 4), generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    options: LayerOptions = {"heads": 2, "causal": True, "epsilon": 1e-5, "rope_base": 10000.0}
    dx, of_layers = stack_backward_from_boundaries([x.numpy(), middle.numpy()], stack, dy.numpy(), **options)

    upper = {name.replace("layers.1", "layers.0"): weight for name, weight in weights.items() if "layers.1" in name}
    _, of_upper = torch_gradients(middle, upper, dy, layers=1, **options)
    lower = {name: weight for name, weight in weights.items() if "layers.0" in name}
    _, of_lower = torch_gradients(x, lower, of_upper["x"], layers=1, **options)
    agrees("x", dx, of_lower["x"].numpy())
    for name in LAYER_WEIGHT_NAMES:
        agrees(name, getattr(of_layers[1], name), of_upper[f"layers.0.{name}"].numpy())
        agrees(name, getattr(of_layers[0], name), of_lower[f"layers.0.{name}"].numpy())

"""programs/layer_backward.cg against PyTorch's autograd in float64; all values come from a file that torch wrote."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402
from torch_layer import random_stack, torch_gradients  # noqa: E402

from cgraph.core.elements import Element  # noqa: E402
from cgraph.models.plane_files import load_planes  # noqa: E402
from tests.support.geglu_cases import OF_LAYER  # noqa: E402
from tests.support.layer_runs import prepare  # noqa: E402

pytestmark = pytest.mark.peer

TOLERANCE = 1e-10
HEAD_WIDTH, FFN = 6, 11


def agrees(name: str, found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    assert found.dtype == np.float64, name
    assert found.shape == expected.shape, name
    assert np.linalg.norm(expected) > 0, name
    assert np.linalg.norm(found - expected) <= TOLERANCE * np.linalg.norm(expected), name


@pytest.mark.parametrize("recompute", [0, 1])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("seq", [1, 7, 65])
@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_every_gradient(tmp_path: Path, *, layers: int, heads: int, seq: int, causal: int, recompute: int) -> None:
    width = heads * HEAD_WIDTH
    weights = random_stack(layers=layers, width=width, ffn=FFN, seed=seq, dtype=torch.float64)
    x, dy = torch.randn((2, seq, width), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    boundaries, gradients = torch_gradients(
        x, weights, dy, layers=layers, heads=heads, causal=bool(causal), epsilon=1e-5, rope_base=10000.0
    )
    planes = {
        f"{OF_LAYER[name][0]} {layer}": weights[f"layers.{layer}.{name}"]
        for layer in range(layers)
        for name in OF_LAYER
    }
    save_file({"cgInput": x.clone(), "cgOutputGradient": dy.clone(), **planes}, tmp_path / "values.safetensors")
    values = load_planes(tmp_path / "values.safetensors")

    sizes = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": HEAD_WIDTH, "cgFfn": FFN, "cgLayers": layers}
    switches = {"cgCausal": causal, "cgRecompute": recompute}
    kept = prepare("layer_forward", {**sizes, **switches}, Element.F64).run(values)
    found = prepare("layer_backward", {**sizes, **switches}, Element.F64).run({**values, **kept})

    for layer, boundary in enumerate(boundaries):
        agrees(f"boundary {layer}", kept[f"cgBoundary {layer}"], boundary.numpy())
    agrees("output", kept["cgOutput"], boundaries[-1].numpy())
    agrees("input", found["cgInputGradient"], gradients["x"].numpy())
    for layer in range(layers):
        for name, (_, family) in OF_LAYER.items():
            agrees(f"{name} of layer {layer}", found[f"{family} {layer}"], gradients[f"layers.{layer}.{name}"].numpy())

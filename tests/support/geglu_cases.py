"""Language models of gated layers and batches of many sizes, and what programs/geglu_lm.cg makes of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.devices import HOST, Device
from cgraph.core.elements import Element
from cgraph.pipeline import lower
from cgraph.reference.gated_model import GatedModelConfig
from cgraph.schedule.model import Order
from tests.support.layer_runs import compiled

Array = NDArray[Any]

# A weight's name in the reference, its plane, and the plane of its gradient.
OUTSIDE = {
    "table": ("cgTokenEmbedding", "cgTokenEmbeddingGradient"),
    "norm_gain": ("cgFinalNormGain", "cgFinalNormGainGradient"),
    "norm_shift": ("cgFinalNormShift", "cgFinalNormShiftGradient"),
    "head": ("cgLogitWeight", "cgLogitWeightGradient"),
}
OF_LAYER = {
    "qkv": ("cgQkvWeight", "cgQkvGradient"),
    "output": ("cgOutputWeight", "cgOutputWeightGradient"),
    "up": ("cgUpWeight", "cgUpGradient"),
    "gate": ("cgGateWeight", "cgGateGradient"),
    "down": ("cgDownWeight", "cgDownGradient"),
    "norm1_gain": ("cgNorm1Gain", "cgNorm1GainGradient"),
    "norm1_shift": ("cgNorm1Shift", "cgNorm1ShiftGradient"),
    "norm2_gain": ("cgNorm2Gain", "cgNorm2GainGradient"),
    "norm2_shift": ("cgNorm2Shift", "cgNorm2ShiftGradient"),
}


@frozen(kw_only=True)
class GegluCase:
    """Sizes of a model and of its batch; `distinct` is how many ids occur, None for all.

    `padded` is how many tokens of each sequence are padding, at its end or at its start; of a program without padding
    it is empty.
    """

    tied: bool = True
    layers: int = 1
    heads: int = 1
    head_width: int = 4
    ffn: int = 5
    vocab: int = 7
    batch: int = 1
    seq: int = 5
    distinct: int | None = None
    epsilon: float = 1e-5
    rope_base: float = 10000.0
    recompute: bool = False
    padded: tuple[int, ...] = ()
    pad_start: bool = False

    @property
    def padding(self) -> Array | None:
        """[batch, seq] booleans; None where nothing is said about padding."""
        if not self.padded:
            return None
        position = np.arange(self.seq)[:: 1 if self.pad_start else -1]
        return position < np.array(self.padded)[:, None]

    @property
    def config(self) -> GatedModelConfig:
        return GatedModelConfig(
            vocab=self.vocab,
            width=self.heads * self.head_width,
            heads=self.heads,
            layers=self.layers,
            ffn=self.ffn,
            tied=self.tied,
            epsilon=self.epsilon,
            rope_base=self.rope_base,
        )

    @property
    def parameters(self) -> dict[str, int | float]:
        """The program's parameters by name."""
        return {
            "cgSeq": self.seq,
            "cgBatch": self.batch,
            "cgVocab": self.vocab,
            "cgHeads": self.heads,
            "cgHeadWidth": self.head_width,
            "cgFfn": self.ffn,
            "cgLayers": self.layers,
            "cgTiedHead": int(self.tied),
            "cgRecompute": int(self.recompute),
            "cgPadded": int(bool(self.padded)),
            "cgNormEpsilon": self.epsilon,
            "cgRopeBase": self.rope_base,
        }


CASES = {
    "one layer": GegluCase(),
    "one layer, separate": GegluCase(tied=False),
    "two layers, odd sizes": GegluCase(layers=2, heads=3, head_width=6, ffn=17, vocab=13, seq=11, recompute=True),
    "three layers, separate": GegluCase(tied=False, layers=3, heads=2, head_width=2, ffn=1, vocab=31, seq=7, batch=3),
    "three layers again": GegluCase(layers=3, heads=2, ffn=3, vocab=11, seq=6, batch=3, recompute=True),
    "one token": GegluCase(layers=2, heads=2, seq=1),
    "one token of three sequences": GegluCase(tied=False, heads=2, seq=1, batch=3, vocab=1001),
    "one id again and again": GegluCase(layers=2, heads=2, distinct=1, seq=9, epsilon=0.1),
    "two ids": GegluCase(distinct=2, seq=9, batch=3, rope_base=10.0),
    "more tokens than vocabulary": GegluCase(vocab=2, seq=33, batch=2, heads=2, recompute=True),
    "more vocabulary than tokens": GegluCase(vocab=1001, head_width=34, batch=3, seq=2),
    "attention in blocks": GegluCase(layers=2, heads=2, head_width=2, seq=130, batch=2),
    "padding at the end": GegluCase(layers=2, heads=2, batch=3, seq=6, padded=(0, 2, 5), recompute=True),
    "padding at the start": GegluCase(tied=False, layers=2, heads=2, batch=3, seq=6, padded=(1, 0, 4), pad_start=True),
    "nothing but padding": GegluCase(layers=3, heads=2, batch=2, seq=4, padded=(4, 1)),
    "padding over blocks": GegluCase(heads=2, head_width=2, seq=131, batch=2, padded=(67, 3), pad_start=True),
}
SUPERVISED = ("none", "some", "all")


def draw_batch(case: GegluCase, supervised: str) -> tuple[Array, Array]:
    """Ids and targets, [batch, seq] each."""
    generator = np.random.default_rng([case.seq, case.batch, case.vocab])
    shape = (case.batch, case.seq)
    ids = generator.integers(0, case.distinct or case.vocab, shape)
    tokens = generator.integers(0, case.vocab, shape)
    counts = generator.random(shape) < {"none": 0.0, "some": 0.5, "all": 1.0}[supervised]
    counts[-1, -1] = supervised != "none"
    return ids, np.where(counts, tokens, -1)


def gradient_planes(case: GegluCase) -> dict[str, tuple[str, str]]:
    """For each weight's name, its plane and the plane of its gradient."""
    outside = {name: planes for name, planes in OUTSIDE.items() if name != "head" or not case.tied}
    layers = {
        f"layers.{layer}.{name}": (f"{weight} {layer}", f"{gradient} {layer}")
        for layer in range(case.layers)
        for name, (weight, gradient) in OF_LAYER.items()
    }
    return outside | layers


def geglu_backward(
    case: GegluCase,
    weights: Mapping[str, Array],
    batch: tuple[Array, Array],
    half: str,
    device: Device = HOST,
    order: Order = Order.DATAFLOW,
) -> tuple[float, dict[str, Array]]:
    """The loss and every gradient by the weight's name, as the program computes them from ids and targets."""
    program = compiled("geglu_lm", case.parameters, Element(half), order)
    executable = lower(program.graph, program.schedule, program.plan, device)
    wide = np.float64 if half == "f64" else np.float32
    planes = gradient_planes(case)
    for name, array in weights.items():
        executable.set(planes[name][0], array.astype(wide))
    given = dict(zip(("cgTokenIds", "cgTargets"), batch, strict=True))
    if case.padding is not None:
        given["cgPresent"] = ~case.padding
    for name, array in given.items():
        executable.set(name, np.ascontiguousarray(array.T, np.int32))
    executable.run()
    loss = float(executable.get("cgLoss")[0])
    return loss, {name: executable.get(gradient) for name, (_, gradient) in planes.items()}

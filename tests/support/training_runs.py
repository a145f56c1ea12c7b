"""Training steps of gpt.cg at small sizes: weights and batches go in, and what a step leaves comes out."""

from functools import cache
from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from cgraph.backends.devices import HOST, Device
from cgraph.backends.protocol import Executable
from cgraph.check.program import CheckedProgram
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem
from cgraph.models.config import GptConfig
from cgraph.models.gpt_program import plane_names, wide_dtype
from cgraph.pipeline import Compiled, check, compile_checked, lower, parse
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source
from tests.support.model_cases import random_weights

Array = NDArray[Any]


@frozen(kw_only=True)
class Sizes:
    """Of a model and its batches."""

    layers: int = 2
    heads: int = 2
    head_width: int = 4
    ffn: int = 12
    vocab: int = 11
    context: int = 7
    seq: int = 5
    batch: int = 2
    microbatches: int = 1

    @property
    def config(self) -> GptConfig:
        return GptConfig(
            vocab=self.vocab,
            context=self.context,
            width=self.heads * self.head_width,
            heads=self.heads,
            layers=self.layers,
            ffn=self.ffn,
        )

    @property
    def parameters(self) -> dict[str, int | float]:
        return {
            "cgLayers": self.layers,
            "cgHeads": self.heads,
            "cgHeadWidth": self.head_width,
            "cgFfn": self.ffn,
            "cgVocab": self.vocab,
            "cgContext": self.context,
            "cgSeq": self.seq,
            "cgBatch": self.batch,
        }


@frozen(kw_only=True)
class Control:
    """What a step is asked for, in the order of cgControl."""

    learning_rate: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    decay: float = 0.0
    largest_norm: float = 0.0
    growth_updates: float = 0.0
    largest_scale: float = 65536.0

    def array(self, dtype: Any) -> Array:
        return np.array(
            [
                self.learning_rate,
                self.beta1,
                self.beta2,
                self.epsilon,
                self.decay,
                self.largest_norm,
                self.growth_updates,
                self.largest_scale,
            ],
            dtype,
        )


def compiled_entry(
    sizes: Sizes, entry: str, half: Element = Element.F64, order: Order = Order.DATAFLOW, **more: float
) -> Compiled:
    """An entry of gpt.cg; parameters that it does not use are left out."""
    parameters = {**sizes.parameters, **more}
    if entry.startswith("step"):
        parameters["cgMicrobatches"] = sizes.microbatches
    return compile_checked(_checked(), parameters, entry=entry, half=half, order=order)


@cache
def _checked() -> tuple[CheckedProgram, tuple[Problem, ...]]:
    return check(parse(load_source(programs_directory() / "gpt.cg")))


def drawn_batch(sizes: Sizes, seed: int, *, ignored: bool = False) -> tuple[Array, Array]:
    """Ids and targets, [microbatches, seq, batch]; with `ignored` some targets are -1."""
    rng = np.random.default_rng([5, seed])
    shape = (sizes.microbatches, sizes.seq, sizes.batch)
    ids, targets = (rng.integers(0, sizes.vocab, shape).astype(np.int32) for _ in range(2))
    if ignored:
        targets[:, 1] = -1
    return ids, targets


@define(eq=False)
class Trainer:
    """A model and what trains it; made with weights that do not depend on the element type."""

    sizes: Sizes
    executable: Executable
    dtype: Any
    names: dict[str, tuple[str, str]] = field()

    @names.default
    def _names_of_gpt(self) -> dict[str, tuple[str, str]]:
        return plane_names(self.sizes.config)

    def give(self, name: str, array: Array) -> None:
        self.executable.set(name, array.astype(self.dtype) if array.dtype.kind == "f" else array)

    def set_weights(self, weights: dict[str, Array]) -> None:
        for name, array in weights.items():
            self.give(self.names[name][0], array)

    def step(self, batch: tuple[Array, Array], control: Control) -> float:
        """The loss of one more step."""
        self.executable.set("cgStepIds", batch[0])
        self.executable.set("cgStepTargets", batch[1])
        self.executable.set("cgControl", control.array(self.dtype))
        self.executable.run()
        return float(self.executable.get("cgLoss")[0])

    def get(self, name: str) -> Array:
        return self.executable.get(name)

    def weights(self) -> dict[str, Array]:
        return {name: self.get(plane) for name, (plane, _) in self.names.items()}

    def gradients(self) -> dict[str, Array]:
        return {name: self.get(gradient) for name, (_, gradient) in self.names.items()}

    def moments(self, number: int) -> dict[str, Array]:
        """First or second moments, by the names of weights."""
        return {name: self.get(moment_plane(plane, number)) for name, (plane, _) in self.names.items()}

    def bits(self) -> dict[str, bytes]:
        """Of all that a step of AdamW leaves: weights, moments, progress, scale, loss and norm."""
        planes = [plane for plane, _ in self.names.values()]
        planes += [moment_plane(plane, number) for plane in planes for number in (1, 2)]
        planes += ["cgProgress", "cgScale", "cgLoss", "cgGradientNorm"]
        return {plane: self.get(plane).tobytes() for plane in planes}


def moment_plane(weight: str, number: int) -> str:
    """`cgQueryWeight 0` to `cgQueryWeightMoment1 0`."""
    family, *index = weight.split(" ")
    return " ".join([f"{family}Moment{number}", *index])


def trainer(
    sizes: Sizes,
    entry: str = "step",
    half: Element = Element.F64,
    *,
    order: Order = Order.DATAFLOW,
    device: Device = HOST,
    seed: int = 3,
) -> Trainer:
    compiled = compiled_entry(sizes, entry, half, order)
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, device)
    made = Trainer(sizes, executable, wide_dtype(half))
    made.set_weights(random_weights(sizes.config, seed))
    return made

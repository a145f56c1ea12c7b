"""The whole-model programs, built for given sizes and ready to run.

Receives sizes, an element type and a device; guarantees that a program is checked once, and that what was built is kept
for the next call of the same sizes, the last few of them. Which numbers go in is left to the caller; the names of the
planes that weights and gradients travel in are here.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.devices import Device, device_parameters, prepare
from cgraph.backends.dtypes import DTYPES
from cgraph.backends.protocol import Executable
from cgraph.build.builder import build_graph
from cgraph.check.checker import check_modules
from cgraph.check.modules import load_modules
from cgraph.check.program import CheckedProgram
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound, Severity
from cgraph.graph.hazards import find_hazards
from cgraph.graph.verify import verify
from cgraph.memory.planner import plan_memory
from cgraph.models.config import GptConfig
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from cgraph.syntax.loading import load_source
from cgraph.syntax.parser import parse

# Sizes that stay ready; each holds the planes of one model.
MOST_KEPT = 4

# A weight's name in `Gpt`, the family of its planes, and the family of their gradients.
OUTSIDE = {
    "wte": ("cgTokenEmbedding", "cgTokenEmbeddingGradient"),
    "wpe": ("cgPositionEmbedding", "cgPositionEmbeddingGradient"),
    "ln_gamma": ("cgFinalNormGain", "cgFinalNormGainGradient"),
    "ln_beta": ("cgFinalNormShift", "cgFinalNormShiftGradient"),
    "head": ("cgLogitWeight", "cgLogitWeightGradient"),
    "head_b": ("cgLogitBias", "cgLogitBiasGradient"),
}
OF_BLOCK = {
    "attn_wq": ("cgQueryWeight", "cgQueryWeightGradient"),
    "attn_wk": ("cgKeyWeight", "cgKeyWeightGradient"),
    "attn_wv": ("cgValueWeight", "cgValueWeightGradient"),
    "attn_wo": ("cgOutputWeight", "cgOutputWeightGradient"),
    "attn_ln_gamma": ("cgNorm1Gain", "cgNorm1GainGradient"),
    "attn_ln_beta": ("cgNorm1Shift", "cgNorm1ShiftGradient"),
    "ffn_w1": ("cgUpWeight", "cgUpGradient"),
    "ffn_w2": ("cgDownWeight", "cgDownGradient"),
    "ffn_b1": ("cgUpBias", "cgUpBiasGradient"),
    "ffn_b2": ("cgDownBias", "cgDownBiasGradient"),
    "ffn_ln_gamma": ("cgNorm2Gain", "cgNorm2GainGradient"),
    "ffn_ln_beta": ("cgNorm2Shift", "cgNorm2ShiftGradient"),
}


@frozen
class ProgramKey:
    """All that a built program depends on.

    Args:
        program: `gpt` or `bert`, a file of the programs' folder.
        config: the model's sizes and constants.
        seq, batch: of the sequences.
        padded: whether the program looks at padding.
        recompute: whether blocks are computed again instead of kept.
        loss_scale: how many times as large every gradient is.
        half: what `half` stands for.
        device: where it runs.
        order: how much freedom the schedule leaves.
    """

    program: str
    config: GptConfig
    seq: int
    batch: int
    padded: bool
    recompute: bool
    loss_scale: float
    half: Element
    device: Device
    order: Order = Order.DATAFLOW

    @property
    def parameters(self) -> dict[str, int | float]:
        """The program's parameters by name."""
        config = self.config
        return {
            "cgSeq": self.seq,
            "cgBatch": self.batch,
            "cgVocab": config.vocab,
            "cgContext": config.context,
            "cgHeads": config.heads,
            "cgHeadWidth": config.head_width,
            "cgFfn": config.ffn,
            "cgLayers": config.layers,
            "cgErfGelu": int(config.gelu == "erf"),
            "cgPadded": int(self.padded),
            "cgRecompute": int(self.recompute),
            "cgNormEpsilon": float(config.epsilon),
            "cgLossScale": self.loss_scale,
        }


@frozen(eq=False)
class PreparedProgram:
    """A built program. One run at a time: whoever uses it from several threads takes turns."""

    executable: Executable
    _turn: Lock = field(init=False, factory=Lock, repr=False)

    def run(
        self, planes: Mapping[str, NDArray[Any]], results: Mapping[str, str]
    ) -> tuple[float, dict[str, NDArray[Any]]]:
        """Runs the program once.

        Args:
            planes: values of its inputs and weights by plane name, in the planes' element types.
            results: for each name wanted in the result, the plane.

        Returns:
            The loss, and copies of the planes.
        """
        with self._turn:
            for name, values in planes.items():
                self.executable.set(name, values)
            self.executable.run()
            loss = float(self.executable.get("cgLoss")[0])
            return loss, {name: self.executable.get(plane) for name, plane in results.items()}


def plane_names(config: GptConfig) -> dict[str, tuple[str, str]]:
    """For each weight's name in `Gpt.named`, its plane and the plane of its gradient."""
    blocks = {
        f"blocks.{layer}.{name}": (f"{weight} {layer}", f"{gradient} {layer}")
        for layer in range(config.layers)
        for name, (weight, gradient) in OF_BLOCK.items()
    }
    return {**OUTSIDE, **blocks}


def wide_dtype(half: Element) -> Any:
    """The element type of weights, gradients and the loss."""
    return DTYPES[Element.F64 if half is Element.F64 else Element.F32]


@lru_cache(maxsize=MOST_KEPT)
def prepared_program(key: ProgramKey) -> PreparedProgram:
    """Builds a program, by the pipeline's stages.

    Raises:
        ProblemsFound: the sizes are beyond what a device takes, or the device cannot run it.
    """
    with paused_collection():
        program = _checked(key.program)
        parameters = device_parameters(program.parameters, key.parameters, key.device)
        graph = build_graph(program, parameters, entry=None, half=key.half)
        hazards = find_hazards(graph)
        problems = verify(graph, hazards, [])
        if any(problem.severity is Severity.ERROR for problem in problems):
            raise ProblemsFound(problems)
        schedule = make_schedule(graph, hazards, key.order)
        return PreparedProgram(prepare(graph, schedule, plan_memory(graph, schedule), key.device))


@cache
def _checked(program: str) -> CheckedProgram:
    """A program of the programs' folder; it comes with the package and has no errors of its own."""
    result = check_modules(load_modules(parse(load_source(programs_directory() / f"{program}.cg")), parse))
    if result.program is None:
        raise ProblemsFound(result.problems)
    return result.program

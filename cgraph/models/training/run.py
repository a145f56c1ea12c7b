"""What a training run is made of, and how far it is.

Holds values alone: entries that are ready to run, tokens, settings, and the losses so far.
"""

from collections.abc import Mapping
from pathlib import Path

from attrs import define, field, frozen

from cgraph.backends.protocol import Executable
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.models.training.sampling import Sampling
from cgraph.models.training.settings import TrainingSettings
from cgraph.models.training.texts import Corpus
from cgraph.models.training.tokenisers import Tokeniser


@frozen(eq=False)
class Prepared:
    """An entry ready to run; `sizes` are those that its planes have, by name."""

    graph: CommandGraph = field(repr=False)
    executable: Executable = field(repr=False)
    sizes: Mapping[str, int]

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of the weight planes."""
        return tuple(plane.name for plane in self.graph.planes if plane.role is Role.WEIGHT)


@frozen(eq=False)
class Run:
    """Everything that a run is made of.

    Args:
        settings: checked.
        step: the entry of a training step. evaluate, predict: None where nothing is evaluated or sampled.
        corpus, tokeniser: of the text. text: its digest.
        sampling: how samples are taken.
        checkpoint: where to; None for nowhere.
    """

    settings: TrainingSettings
    step: Prepared
    evaluate: Prepared | None
    predict: Prepared | None
    corpus: Corpus
    tokeniser: Tokeniser
    text: str
    sampling: Sampling
    checkpoint: Path | None


@define(eq=False)
class Progress:
    """How far a run is; grows with every step.

    Args:
        losses: of each step done.
        evaluations: step and loss of each evaluation.
        kept_step: of the last checkpoint written or read; None where there is none.
    """

    losses: list[float] = field(factory=list)
    evaluations: list[tuple[int, float]] = field(factory=list)
    kept_step: int | None = None

    @property
    def step(self) -> int:
        """How many steps are done."""
        return len(self.losses)

    @property
    def evaluated_step(self) -> int | None:
        """Of the last evaluation; None before the first."""
        return self.evaluations[-1][0] if self.evaluations else None

"""All that a training run depends on besides its text and its program, and its form in a checkpoint.

Guarantees values in range, wherever they come from: the command line or a file that somebody changed. Which of them a
resumed run may change is said here; that a program takes the parameters is left to its build.
"""

import math
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import field, frozen, validators

from cgraph.core.elements import HALF_CHOICES

OPTIMIZERS = ("adamw", "sgd")
SCHEDULES = ("constant", "cosine")
HALVES = tuple(element.value for element in HALF_CHOICES)
TOKEN_KINDS = ("bytes", "characters")

# The loss scale of a run with f16 for half at its start, and how it changes; as in PyTorch's GradScaler.
F16_LOSS_SCALE = 65536.0
F16_GROWTH_INTERVAL = 2000
# f16 ends at 65504: a larger scale would only make losses overflow.
LARGEST_LOSS_SCALE = 2.0**24
MOST_STEPS = 2**31 - 1


def _whole(least: int, most: int = MOST_STEPS) -> Any:
    return field(validator=[validators.instance_of(int), _no_bool, validators.ge(least), validators.le(most)])


def _number(least: float, below: float = math.inf) -> Any:
    return field(converter=_as_float, validator=[validators.instance_of(float), _finite, _between(least, below)])


def _one_of(choices: tuple[str, ...]) -> Any:
    return field(validator=validators.in_(choices))


def _as_float(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _no_bool(_: object, attribute: "attrs.Attribute[int]", value: object) -> None:
    if isinstance(value, bool):
        raise ValueError(f"{attribute.name}: expected a whole number, got {value}")  # noqa: TRY004  (as all of these)


def _finite(_: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{attribute.name}: expected a finite number, got {value}")


def _between(least: float, below: float) -> Any:
    def check(_: object, attribute: "attrs.Attribute[float]", value: float) -> None:
        if not least <= value < below:
            raise ValueError(f"{attribute.name}: expected {least:g} or more and less than {below:g}, got {value:g}")

    return check


def _parameters(_: object, attribute: "attrs.Attribute[dict[str, Any]]", value: object) -> None:
    if not isinstance(value, dict) or not all(
        isinstance(name, str) and isinstance(number, int | float) and not isinstance(number, bool)
        for name, number in value.items()
    ):
        raise ValueError(f"{attribute.name}: expected numbers by name")


@frozen(kw_only=True)
class TrainingSettings:
    """How a run trains.

    Args:
        steps: in all, those before a resumption included.
        seed: of first weights, batches and samples.
        optimizer: `adamw` (entry `step`) or `sgd` (entry `stepSgd`).
        learning_rate: the largest; see `learning_rates`. warmup_steps, schedule: how it gets there and falls.
        weight_decay, beta1, beta2, epsilon: as in PyTorch's AdamW; sgd uses none of them.
        clip_norm: largest global norm of the gradient; 0 for no limit.
        half: what `half` stands for.
        tokens: `bytes` or `characters`.
        evaluation_share: of the text that is kept for evaluation, its end; 0 for none.
        evaluate_every: steps; 0: at the end only. evaluate_batches: the fixed batches of an evaluation.
        checkpoint_every: steps; 0: at the end only.
        parameters: of the program, given or derived from the data.

    Raises:
        ValueError: a value is out of range.
    """

    steps: int = _whole(1)
    seed: int = _whole(0)
    optimizer: str = _one_of(OPTIMIZERS)
    learning_rate: float = _number(0)
    warmup_steps: int = _whole(0)
    schedule: str = _one_of(SCHEDULES)
    weight_decay: float = _number(0)
    beta1: float = _number(0, 1)
    beta2: float = _number(0, 1)
    epsilon: float = _number(0)
    clip_norm: float = _number(0)
    half: str = _one_of(HALVES)
    tokens: str = _one_of(TOKEN_KINDS)
    evaluation_share: float = _number(0, 1)
    evaluate_every: int = _whole(0)
    evaluate_batches: int = _whole(1, 10_000)
    checkpoint_every: int = _whole(0)
    parameters: dict[str, int | float] = field(validator=_parameters)

    @property
    def first_scale(self) -> float:
        """The loss scale at the start."""
        return F16_LOSS_SCALE if self.half == "f16" else 1.0

    @property
    def growth_interval(self) -> int:
        """Steps without overflow after which the loss scale doubles; 0: never."""
        return F16_GROWTH_INTERVAL if self.half == "f16" else 0


# What the state in a checkpoint was made with: another value would not continue that run.
FIXED = ("seed", "optimizer", "half", "tokens", "evaluation_share")


def settings_data(settings: TrainingSettings) -> dict[str, Any]:
    """As plain data for JSON."""
    return attrs.asdict(settings)


def settings_from(data: object) -> TrainingSettings:
    """From plain data, whoever wrote it.

    Raises:
        ValueError: names or values are not those of settings.
    """
    names = attrs.fields_dict(TrainingSettings).keys()
    if not isinstance(data, Mapping) or data.keys() != names:
        raise ValueError(f"settings: expected exactly {', '.join(names)}")
    try:
        return TrainingSettings(**data)
    except TypeError as error:
        raise ValueError(f"settings: {error.args[0]}") from error

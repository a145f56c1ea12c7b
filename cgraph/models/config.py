"""The sizes of a whole model, GPT or BERT, and what else its result depends on besides its weights.

Guarantees sizes that fit each other. Whether given arrays have these sizes is left to whoever receives both.
"""

import math
from numbers import Integral
from typing import Any, Literal, TypeAlias

from attrs import Attribute, field, frozen

GeluForm: TypeAlias = Literal["tanh", "erf"]


def _as_int(value: object) -> object:
    """NumPy's integers become Python's; anything else is left to the validator."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def _positive_int(_: object, attribute: "Attribute[int]", value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{attribute.name}: expected a whole number, 1 or more, got {value!r}")


def _size() -> Any:
    return field(converter=_as_int, validator=_positive_int)


@frozen(kw_only=True)
class GptConfig:
    """Sizes and constants of a model with learned positions, pre-norm blocks and a head with bias.

    Args:
        vocab: tokens of the vocabulary; an id is 0 or more and less than this.
        context: positions that have an embedding, which is the length of the longest sequence.
        width: channels of a token.
        heads: attention heads; divides the width.
        layers: blocks.
        ffn: inner width of the feed-forward part; 4 · width in GPT-2.
        epsilon: added to the variance in every norm.
        gelu: the form of the GELU, `tanh` as in GPT-2 or `erf` as in BERT. They differ by up to 4.73e-4.

    Raises:
        ValueError: a value is out of range; the message names the field.
    """

    vocab: int = _size()
    context: int = _size()
    width: int = _size()
    heads: int = _size()
    layers: int = _size()
    ffn: int = _size()
    epsilon: float = field(default=1e-5)
    gelu: GeluForm = field(default="tanh")

    def __attrs_post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"heads: expected a divisor of the width {self.width}, got {self.heads}")
        if not (isinstance(self.epsilon, int | float) and math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f"epsilon: expected a finite number above 0, got {self.epsilon!r}")
        if self.gelu not in ("tanh", "erf"):
            raise ValueError(f"gelu: expected 'tanh' or 'erf', got {self.gelu!r}")

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.width // self.heads

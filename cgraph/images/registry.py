"""Which NumPy function says what an image means.

Receives functions, each registered for one kernel (file and entry); guarantees at most one for each. A meaning is
called with the context of the run and one keyword for each slot and each constant of the signature:

- a pointer slot is an array of the plane's element type with the slot's extent: C-contiguous, aligned, a view into
  the plane, or None where an optional slot was left out;
- a natural slot is an int, a float slot a float, a constant an int.

It fills the slots that it writes, in full, and leaves the others as they are. Who calls it checked the launch before.
"""

import re
from collections.abc import Callable
from keyword import iskeyword
from typing import TypeAlias

Meaning: TypeAlias = Callable[..., None]

_MEANINGS: dict[tuple[str, str], Meaning] = {}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def meaning(file: str, entry: str) -> Callable[[Meaning], Meaning]:
    """Registers the decorated function as the meaning of one kernel.

    Args:
        file: the .cu file by name, as the image declaration gives it.
        entry: the kernel in it.

    Raises:
        ValueError: the kernel has a meaning already.
    """

    def register(function: Meaning) -> Meaning:
        if (file, entry) in _MEANINGS:
            raise ValueError(f"{entry} of {file} has a meaning already")
        _MEANINGS[file, entry] = function
        return function

    return register


def find_meaning(file: str, entry: str) -> Meaning | None:
    """The meaning of a kernel, or None where none was registered."""
    return _MEANINGS.get((file, entry))


def keyword_of(name: str) -> str:
    """The keyword under which a slot or a constant arrives: snake case, with `_` behind a word that Python reserves.

    `upGradientHalf` arrives as `up_gradient_half`, `CG_HEADS` as `cg_heads`, `in` as `in_`.
    """
    snake = _HUMP.sub("_", name).lower()
    return snake + "_" if iskeyword(snake) else snake

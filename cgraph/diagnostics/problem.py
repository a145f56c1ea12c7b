"""What a user error is: one frozen class per error, written beside the stage that finds it.

A subclass states a stable `code`, a `title` and a `label` (both are format templates over the subclass's own fields),
and may add labels elsewhere, notes, helps and a fix. Nothing here knows how a problem is printed.
"""

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import attrs
from attrs import frozen

from cgraph.source import Span


class Severity(Enum):
    """An error stops the line from text to planes; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@frozen
class Label:
    """A remark on a place other than the problem's own."""

    span: Span
    text: str


@frozen
class Fix:
    """A change of the text that mends the problem."""

    span: Span
    replacement: str
    text: str


@frozen
class Problem:
    """Base of every diagnostic. `span` is None only where no text is at fault (a missing file, a bad option)."""

    code: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    title: ClassVar[str]
    label: ClassVar[str] = ""

    span: Span | None

    def render_title(self) -> str:
        """The title with this problem's fields filled in."""
        return self.title.format(**self._fields())

    def render_label(self) -> str:
        """The text under the marked place, with this problem's fields filled in."""
        return self.label.format(**self._fields())

    def labels(self) -> Sequence[Label]:
        """Further places to show."""
        return ()

    def notes(self) -> Sequence[str]:
        """Facts that explain the problem."""
        return ()

    def helps(self) -> Sequence[str]:
        """What the reader could do."""
        return ()

    def fix(self) -> Fix | None:
        """A mechanical repair, where there is one."""
        return None

    def _fields(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in attrs.fields_dict(type(self))}


class ProblemsFound(Exception):  # noqa: N818  (not an error of ours: it carries the user's)
    """Stops a stage that cannot go on; carries every problem found so far.

    Args:
        problems: in the order of their places; at least one is an error.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"{len(problems)} problem(s), first {problems[0].code}: {problems[0].render_title()}")
        self.problems = tuple(problems)

"""What a user may meet with the text of a training run: CG780 to CG784."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class UnreadableText(Problem):
    """A text file that cannot be read."""

    code: ClassVar[str] = "CG780"
    title: ClassVar[str] = "cannot read the text `{path}`: {reason}"

    path: str
    reason: str


@frozen
class TextNotUtf8(Problem):
    """Characters are wanted of bytes that are none; `offset` is the first such byte's, from 0."""

    code: ClassVar[str] = "CG781"
    title: ClassVar[str] = "`{path}` is not UTF-8: byte {offset} begins no character"

    path: str
    offset: int

    def helps(self) -> Sequence[str]:
        return ("train on bytes, which every file has: `--tokens bytes`", "or convert the file to UTF-8")


@frozen
class EmptyText(Problem):
    """Files without a single byte."""

    code: ClassVar[str] = "CG782"
    title: ClassVar[str] = "there is no text in {paths}"

    paths: str


@frozen
class UnknownCharacter(Problem):
    """A character that the tokeniser does not have.

    Args:
        place: what it stands in.
        character: the first such one.
    """

    code: ClassVar[str] = "CG783"
    title: ClassVar[str] = "{place} holds the character {character!r}, which is not in the vocabulary"

    place: str
    character: str

    def notes(self) -> Sequence[str]:
        return ("with `--tokens characters` the vocabulary is the characters of the text that a run began with",)


@frozen
class TextTooShort(Problem):
    """A part of the text in which no sequence and its targets fit.

    Args:
        part: training or evaluation. tokens: in it. seq: of a sequence. whole: tokens of all the text.
    """

    code: ClassVar[str] = "CG784"
    title: ClassVar[str] = "the text is too short: {tokens} tokens for {part}, a sequence needs {needed}"

    part: str
    tokens: int
    seq: int
    whole: int

    @property
    def needed(self) -> int:
        """A sequence and its last target."""
        return self.seq + 1

    def render_title(self) -> str:
        return self.title.format(tokens=self.tokens, part=self.part, needed=self.needed)

    def notes(self) -> Sequence[str]:
        return (f"all the text has {self.whole} tokens; a sequence has {self.seq}, and each has a target after it",)

    def helps(self) -> Sequence[str]:
        other = "a larger" if self.part == "evaluation" else "a smaller"
        return (f"shorten the sequences with `--set cgSeq=…`, give more text, or {other} `--evaluation-share`",)

"""What can be wrong with a text before its names mean anything: codes CG001 to CG015."""

import unicodedata
from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics.problem import Fix, Label, Problem
from cgraph.source import Span

_LOOKALIKES = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "--", "≤": "<=", "λ": "lambda",
    "Π": "pi", "\u00a0": " ", "\u3000": " ", "（": "(", "）": ")", "：": ":", "，": ",", "＝": "=",
}  # fmt: skip


@frozen
class UnexpectedToken(Problem):
    """A token that cannot stand where it stands."""

    code: ClassVar[str] = "CG001"
    title: ClassVar[str] = "unexpected {found}"
    label: ClassVar[str] = "expected {expected}"

    found: str
    expected: str
    opener: Span | None = None
    help: str = ""

    def labels(self) -> Sequence[Label]:
        """The bracket that is open at this place, where its end would have been right."""
        return () if self.opener is None else (Label(self.opener, f"inside this `{self.opener.text}`"),)

    def helps(self) -> Sequence[str]:
        """How the place is usually written."""
        return (self.help,) if self.help else ()


@frozen
class UnexpectedCharacter(Problem):
    """A character that no token begins with."""

    code: ClassVar[str] = "CG002"
    title: ClassVar[str] = "unexpected character {character}"
    label: ClassVar[str] = "no name, number or mark begins like this"

    character: str

    def notes(self) -> Sequence[str]:
        """What names are made of."""
        text = self._text()
        return ("names consist of the letters a to z and A to Z, digits, `_` and `'`",) if text.isalpha() else ()

    def fix(self) -> Fix | None:
        """The mark that the character looks like."""
        mark = _LOOKALIKES.get(self._text())
        if mark is None or self.span is None:
            return None
        return Fix(self.span, mark, "write a space" if mark == " " else f"write `{mark}`")

    def _text(self) -> str:
        return "" if self.span is None else self.span.text


@frozen
class UnclosedBracket(Problem):
    """A bracket whose end is missing."""

    code: ClassVar[str] = "CG003"
    title: ClassVar[str] = "this `{opener}` is not closed"
    label: ClassVar[str] = "needs a `{closer}`"

    opener: str
    closer: str
    found: str
    found_at: Span
    others: int
    suspect: Span | None
    insert_at: Span | None

    def labels(self) -> Sequence[Label]:
        """Where the end was missed, and the bracket that the indentation casts doubt on."""
        found = Label(self.found_at, f"expected `{self.closer}` before {self.found}")
        if self.suspect is None or self.suspect == self.span:
            return (found,)
        return (Label(self.suspect, f"judging by the indentation, this one may lack its `{self.closer}`"), found)

    def notes(self) -> Sequence[str]:
        """How many more are open."""
        if not self.others:
            return ()
        return (f"{self.others} more {'bracket is' if self.others == 1 else 'brackets are'} open around it",)

    def fix(self) -> Fix | None:
        """The end put in, where only one is missing and nothing speaks for another place."""
        if self.insert_at is None or self.others or (self.suspect is not None and self.suspect != self.span):
            return None
        return Fix(self.insert_at, self.closer, f"close it with `{self.closer}`")


@frozen
class StrayClosing(Problem):
    """A closing bracket, or the end of a comment, with nothing to close."""

    code: ClassVar[str] = "CG004"
    title: ClassVar[str] = "`{closer}` closes nothing"
    label: ClassVar[str] = "no {what} is open here"

    closer: str
    what: str

    def fix(self) -> Fix | None:
        """Leave it out."""
        return None if self.span is None else Fix(self.span, "", "remove it")


@frozen
class MismatchedClosing(Problem):
    """A closing bracket of another shape than the one that is open."""

    code: ClassVar[str] = "CG005"
    title: ClassVar[str] = "`{found}` cannot close `{opener}`"
    label: ClassVar[str] = "expected `{closer}`"

    found: str
    opener: str
    closer: str
    opener_at: Span

    def labels(self) -> Sequence[Label]:
        """The bracket that is open."""
        return (Label(self.opener_at, f"`{self.opener}` is open since here"),)

    def fix(self) -> Fix | None:
        """The other shape."""
        return None if self.span is None else Fix(self.span, self.closer, f"write `{self.closer}`")


@frozen
class UnterminatedString(Problem):
    """A string that does not end on its line."""

    code: ClassVar[str] = "CG006"
    title: ClassVar[str] = "this string is not closed"
    label: ClassVar[str] = 'no `"` ends it on this line'


@frozen
class UnterminatedComment(Problem):
    """A block comment that does not end."""

    code: ClassVar[str] = "CG007"
    title: ClassVar[str] = "this comment is not closed"
    label: ClassVar[str] = "needs a `-}}`"

    innermost: Span | None

    def labels(self) -> Sequence[Label]:
        """The comment inside it that is open at the end of the file."""
        return () if self.innermost is None else (Label(self.innermost, "this comment inside it is open, too"),)

    def notes(self) -> Sequence[str]:
        """What is easily forgotten."""
        return ("block comments nest: each `{-` needs its own `-}`",)


@frozen
class BadNumber(Problem):
    """Something that begins like a number and is none."""

    code: ClassVar[str] = "CG008"
    title: ClassVar[str] = "this is not a number"
    label: ClassVar[str] = "{reason}"

    reason: str


@frozen
class ReservedWord(Problem):
    """A word of the language where a name should stand."""

    code: ClassVar[str] = "CG009"
    title: ClassVar[str] = "`{word}` is a word of the language"
    label: ClassVar[str] = "it cannot be {expected}"

    word: str
    expected: str
    help: str

    def helps(self) -> Sequence[str]:
        """What to write instead."""
        return (self.help,)


@frozen
class UnknownEscape(Problem):
    """A backslash in a string before a character that needs none."""

    code: ClassVar[str] = "CG010"
    title: ClassVar[str] = "`\\{character}` means nothing in a string"
    label: ClassVar[str] = 'only `\\"` and `\\\\` are escapes'

    character: str

    def fix(self) -> Fix | None:
        """The backslash itself."""
        return None if self.span is None else Fix(self.span, f"\\\\{self.character}", "write the backslash twice")


@frozen
class UnreadableFile(Problem):
    """A file that is missing or cannot be read."""

    code: ClassVar[str] = "CG011"
    title: ClassVar[str] = "cannot read {path}: {reason}"

    path: str
    reason: str


@frozen
class NotUtf8(Problem):
    """A file whose bytes are no UTF-8."""

    code: ClassVar[str] = "CG012"
    title: ClassVar[str] = "{path} is not UTF-8"
    label: ClassVar[str] = "byte 0x{byte:02x}, at offset {offset_bytes} of the file, shown as {shown}"

    path: str
    byte: int
    offset_bytes: int
    shown: str

    def helps(self) -> Sequence[str]:
        """What to do about it."""
        return ("save the file as UTF-8",)


@frozen
class FileTooLarge(Problem):
    """A file above the limit."""

    code: ClassVar[str] = "CG013"
    title: ClassVar[str] = "{path} has {size_bytes} bytes; a program has at most {limit_bytes}"

    path: str
    size_bytes: int
    limit_bytes: int

    def helps(self) -> Sequence[str]:
        """What to do about it."""
        return ("split the program and use `import`, or say repeated commands with `cgEach`",)


@frozen
class FurtherProblems(Problem):
    """Stands for the syntax errors after the first ones."""

    code: ClassVar[str] = "CG014"
    title: ClassVar[str] = "{bound}{count} more syntax errors are not shown"
    label: ClassVar[str] = "the next one is here"

    count: int
    bound: str

    def render_title(self) -> str:
        """The title, in singular or plural."""
        return f"{self.bound}{self.count} more syntax {'error is' if self.count == 1 else 'errors are'} not shown"


@frozen
class UnwritableFile(Problem):
    """A file that the formatter cannot replace."""

    code: ClassVar[str] = "CG015"
    title: ClassVar[str] = "cannot write {path}: {reason}"

    path: str
    reason: str


def describe_character(character: str) -> str:
    """A character as a message quotes it: itself where it is visible, and its Unicode name where it is no ASCII."""
    if character.isascii() and character.isprintable():
        return f"`{character}`"
    point = f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
    return f"`{character}` ({point})" if character.isprintable() and not character.isspace() else point

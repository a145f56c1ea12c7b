"""Words of a PTX text, each with its place.

Receives the text; guarantees that all of it is covered by words, comments and white space, or raises `UnreadablePtx`.
What the words mean is left to the reader.
"""

import re
from typing import NoReturn

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.ptx.problems import UnreadablePtx, UnsupportedPtx
from cgraph.source import Source, Span

_TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*.*?\*/)*
      ( "(?:[^"\\\n]|\\.)*"
      | (?:0[fF][0-9a-fA-F]{8}(?![\w$]) | 0[dD][0-9a-fA-F]{16}(?![\w$]) | 0[xX][0-9a-fA-F]+U?(?![\w$])
          | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ | \d+U?(?![\w$]))
      | [.$%_a-zA-Z][\w$.]*(?:::[\w$.]+)*
      | [{}\[\](),;:+\-!|@<>=~*/&^?]
      | \Z)""",
    re.VERBOSE | re.DOTALL,
)


class Words:
    """A cursor over the words of a text. The word after the last is the empty one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._position = 0
        end = 0
        for match in _TOKEN.finditer(source.text):
            if match.start() != end:
                break
            self._texts.append(match[1])
            self._starts.append(match.start(1))
            end = match.end()
            if not match[1]:
                return
        end += len(source.text[end:]) - len(source.text[end:].lstrip())
        raise ProblemsFound([UnreadablePtx(Span(source, end, end + 1), "a word", repr(source.text[end : end + 1]))])

    @property
    def word(self) -> str:
        """The word at the cursor; empty at the end of the text."""
        return self._texts[self._position]

    def peek(self) -> str:
        """The word after the cursor's."""
        return self._texts[min(self._position + 1, len(self._texts) - 1)]

    @property
    def start(self) -> int:
        """Where the word at the cursor begins."""
        return self._starts[self._position]

    def take(self) -> str:
        """The word at the cursor, and steps over it."""
        word = self._texts[self._position]
        if word:
            self._position += 1
        return word

    def accept(self, word: str) -> bool:
        """Steps over the word if it stands at the cursor."""
        if self._texts[self._position] != word:
            return False
        self._position += 1
        return True

    def expect(self, word: str) -> None:
        """Steps over the word, which must stand at the cursor."""
        if not self.accept(word):
            self.fail(f"`{word}`")

    def name(self, kind: str) -> str:
        """A word that may be a name."""
        word = self.word
        if not word or not (word[0].isalpha() or word[0] in "$%_"):
            self.fail(kind)
        return self.take()

    def natural(self, kind: str) -> int:
        """A non-negative integer."""
        word = self.word
        digits = word.rstrip("U")
        if not digits[:1].isdigit() or not (digits.isdigit() or digits[:2] in {"0x", "0X"}):
            self.fail(kind)
        self.take()
        return int(digits, 0) if digits[:2] in {"0x", "0X"} else int(digits)

    def span(self, start: int) -> Span:
        """From an offset to the end of the word before the cursor."""
        last = max(self._position - 1, 0)
        return Span(self.source, start, max(self._starts[last] + len(self._texts[last]), start))

    def here(self) -> Span:
        """The word at the cursor."""
        return Span(self.source, self.start, self.start + len(self.word))

    def fail(self, expected: str) -> NoReturn:
        """Reports the word at the cursor."""
        raise ProblemsFound([UnreadablePtx(self.here(), expected, f"`{self.word}`" if self.word else "the end")])

    def unsupported(self, feature: str) -> NoReturn:
        """Reports something that the emulator has not, at the cursor."""
        raise ProblemsFound([UnsupportedPtx(self.here(), feature)])

    def report(self, problem: Problem) -> NoReturn:
        """Reports a problem."""
        raise ProblemsFound([problem])

    def skip_braces(self) -> None:
        """Steps over `{ … }`, whatever is inside."""
        self.expect("{")
        depth = 1
        while depth:
            if not self.word:
                self.fail("`}`")
            depth += {"{": 1, "}": -1}.get(self.take(), 0)

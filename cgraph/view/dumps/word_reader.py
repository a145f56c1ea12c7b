"""Words of the DOT language, used one after the other.

Receives a text; guarantees a word at hand at any time, the same one again once the text has ended, and an exception of
its own where a bound is reached. What words make up is left to `statements`.
"""

from collections.abc import Iterator, Sized

from attrs import define, field

from cgraph.source import Source, Span
from cgraph.view.dumps import limits
from cgraph.view.dumps.model import DotGraph
from cgraph.view.dumps.problems_dumps import BrokenStatement, TooMuch
from cgraph.view.dumps.tokens import Word, words

TEXTS = frozenset({"name", "quoted", "html"})


class Broken(Exception):  # noqa: N818  (never leaves the reader)
    """The word at hand does not go on with the statement; says what was expected."""


class Full(Exception):  # noqa: N818  (never leaves the reader)
    """Nothing more is read; the problem is noted."""


@define
class WordReader:
    """The words of a text; `word` is the first that is not used yet, `last_stop` is behind the last used one."""

    source: Source
    graph: DotGraph
    waiting: Iterator[Word] = field(init=False)
    word: Word = field(init=False)
    last_stop: int = 0
    count: int = 0

    def __attrs_post_init__(self) -> None:
        self.go_to(0)

    def go_to(self, offset: int) -> None:
        """Goes on at an offset, with nothing open."""
        self.waiting = words(self.source.text, offset)
        self.word = next(self.waiting)

    def use(self) -> Word:
        """Uses the word at hand."""
        used = self.word
        self.last_stop = used.stop
        if used.kind not in ("end", "open"):
            self.count += 1
            if self.count > limits.MOST_WORDS:
                self.stop("words", limits.MOST_WORDS)
            self.word = next(self.waiting)
        return used

    def is_at(self, *signs: str) -> bool:
        """Whether the word at hand is one of these signs."""
        return self.word.kind == "sign" and self.word.text in signs

    def keyword(self) -> str | None:
        """The word at hand in lower case; keywords stand without quotes."""
        return self.word.text.lower() if self.word.kind == "name" else None

    def text(self, expected: str) -> Word:
        """Uses a name, a quoted text, several of them joined by `+`, or a text in angle brackets."""
        if self.word.kind not in TEXTS:
            raise Broken(expected)
        first = self.use()
        parts = [first.text]
        while first.kind == "quoted" and self.is_at("+"):
            self.use()
            if self.word.kind != "quoted":
                raise Broken("a quoted text")
            parts.append(self.use().text)
        if len(parts) == 1:
            return first
        return Word("quoted", "".join(parts)[: limits.LONGEST_TEXT], first.start, self.last_stop)

    def span(self, start: int, stop: int) -> Span:
        """A place in the text."""
        return Span(self.source, start, max(stop, start))

    def problem(self, expected: str) -> None:
        """Notes what is wrong with the word at hand."""
        kind = self.word.kind
        shown = {"end": "the end of the file", "open": "a text that does not end"}.get(kind, f"`{self.word.text[:40]}`")
        self.graph.problems.append(BrokenStatement(self.span(self.word.start, self.word.stop), expected, shown))

    def bound(self, things: Sized, what: str, most: int) -> None:
        """Stops where there would be too many of something with one more."""
        if len(things) >= most:
            self.stop(what, most)

    def stop(self, things: str, most: int) -> None:
        """Notes that a bound is reached, and ends the reading."""
        self.graph.problems.append(TooMuch(self.span(self.word.start, self.word.stop), things, most))
        raise Full

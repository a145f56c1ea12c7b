"""Statements of the DOT language: boxes, nodes and edges out of words.

Receives any text; guarantees every statement that is complete, in order, and a problem for each that is not: reading
goes on at the next line that looks like the beginning of one. What labels mean is left to others.
"""

import re
from collections.abc import Iterator, Mapping, Sized
from itertools import pairwise, product

import attrs
from attrs import define, field

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source, Span
from cgraph.view.dumps import limits
from cgraph.view.dumps.model import DotBox, DotEdge, DotGraph, DotNode
from cgraph.view.dumps.problems_dumps import BrokenStatement, CutOff, NotADump, TooMuch
from cgraph.view.dumps.tokens import Word, words

KEPT_ATTRIBUTES = frozenset({"label", "shape", "headlabel", "taillabel"})
_KEYWORDS = frozenset({"graph", "node", "edge"})
_TEXTS = frozenset({"name", "quoted", "html"})
_BEGINNING = re.compile(
    r"""^[ \t]*+(?:"[^"\n]*+"\s*+(?:\[|->)|\w++\s*+(?:\[|->)|subgraph\b|\}\s*+(?:subgraph\b|\}|\Z))""", re.MULTILINE
)


def read_statements(source: Source) -> DotGraph:
    """What a text holds, and what is wrong with it.

    Raises:
        ProblemsFound: CG890, it does not begin as a directed graph does.
    """
    reader = _Reader(source, DotGraph(source))
    reader.read()
    return reader.graph


class _Broken(Exception):  # noqa: N818  (never leaves this module)
    """The word at hand does not go on with the statement."""


class _Full(Exception):  # noqa: N818  (never leaves this module)
    """A bound is reached; the problem is noted."""


@define
class _Scope:
    """A brace that is open.

    Args:
        chain: ends of the edge statement that it is a part of, so far; None for the whole graph.
        members: nodes that are named in it, each once.
        defaults: what its nodes have where they say nothing else.
    """

    box: int | None
    chain: list[tuple[int, ...]] | None
    defaults: Mapping[str, str]
    start: int
    members: dict[int, None] = field(factory=dict)


@define
class _Reader:
    """Reads words one after the other; `word` is the first that is not used yet."""

    source: Source
    graph: DotGraph
    waiting: Iterator[Word] = field(init=False)
    word: Word = field(init=False)
    last_stop: int = 0
    ends: int = 0
    scopes: list[_Scope] = field(factory=list)
    numbers: dict[str, int] = field(factory=dict)

    def read(self) -> None:
        self._go_to(0)
        self._head()
        try:
            while self.scopes:
                start = self.word.start
                try:
                    self._statement()
                except _Broken as broken:
                    self._recover(start, str(broken))
        except _Full:
            return
        if self.word.kind != "end":
            self._problem("the end of the file")

    def _go_to(self, offset: int) -> None:
        self.waiting = words(self.source.text, offset)
        self.word = next(self.waiting)

    def _next(self) -> Word:
        """Uses the word at hand."""
        used = self.word
        self.last_stop = used.stop
        if used.kind not in ("end", "open"):
            self.word = next(self.waiting)
        return used

    def _is(self, sign: str) -> bool:
        return self.word.kind == "sign" and self.word.text == sign

    def _keyword(self) -> str | None:
        return self.word.text.lower() if self.word.kind == "name" else None

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise _Broken(f"`{sign}`")
        self._next()

    def _text(self, expected: str) -> Word:
        """A name, a quoted text, several of them joined by `+`, or one in angle brackets."""
        if self.word.kind not in _TEXTS:
            raise _Broken(expected)
        found = self._next()
        while found.kind == "quoted" and self._is("+"):
            self._next()
            if self.word.kind != "quoted":
                raise _Broken("a quoted text")
            more = self._next()
            found = Word("quoted", (found.text + more.text)[: limits.LONGEST_TEXT], found.start, more.stop)
        return found

    def _head(self) -> None:
        if self._keyword() == "strict":
            self._next()
        if self._keyword() == "graph":
            self._refuse("an edge of an undirected graph does not say which command is first")
        if self._keyword() != "digraph":
            self._refuse("it does not begin with `digraph`" if self.word.kind != "end" else "it is empty")
        start = self._next().start
        if self.word.kind in _TEXTS:
            self.graph.name = self._next().text
        if not self._is("{"):
            self._refuse("after `digraph` and its name there is no `{`")
        self._next()
        self.scopes.append(_Scope(None, None, {}, start))

    def _refuse(self, reason: str) -> None:
        span = None if self.word.kind == "end" else self._span(self.word.start, self.word.stop)
        raise ProblemsFound([NotADump(span, self.source.name, reason)])

    def _statement(self) -> None:
        keyword = self._keyword()
        if self._is(";") or self._is(","):
            self._next()
        elif self._is("}"):
            self._close()
        elif self._is("{") or keyword == "subgraph":
            self._open([])
        elif self.word.kind not in _TEXTS:
            raise _Broken("a statement or `}`")
        else:
            self._statement_of_text(keyword)

    def _statement_of_text(self, keyword: str | None) -> None:
        name = self._text("a name")
        if keyword in _KEYWORDS:
            attributes = self._attributes()[0]
            if keyword == "node":
                self.scopes[-1].defaults = {**self.scopes[-1].defaults, **attributes}
            elif keyword == "graph" and "label" in attributes:
                self._label(attributes["label"])
        elif self._is("="):
            self._next()
            value = self._text("a value").text
            if name.text.lower() == "label":
                self._label(value)
        else:
            self._port()
            if self._is("->") or self._is("--"):
                self._chain([(self._number(name),)], name.start)
            else:
                self._declare(name)

    def _label(self, label: str) -> None:
        box = self.scopes[-1].box
        if box is None:
            self.graph.label = label
        else:
            self.graph.boxes[box] = attrs.evolve(self.graph.boxes[box], label=label)

    def _open(self, chain: list[tuple[int, ...]]) -> None:
        """A subgraph begins, as the next end of a chain of edges."""
        start = self.word.start
        name = ""
        if self._keyword() == "subgraph":
            self._next()
            name = self._next().text if self.word.kind in _TEXTS else ""
        if not self._is("{"):
            raise _Broken("`{`")
        self._bound(self.graph.boxes, "graphs", limits.MOST_GRAPHS)
        place = self._span(start, self._next().stop)
        around = self.scopes[-1]
        # Only clusters are boxes; other subgraphs just name several nodes at once.
        box = around.box
        if name.startswith("cluster"):
            box = len(self.graph.boxes)
            self.graph.boxes.append(DotBox(name, None, around.box, place))
        self.scopes.append(_Scope(box, chain, around.defaults, start))

    def _close(self) -> None:
        self._next()
        scope = self.scopes.pop()
        if not self.scopes:
            return
        if scope.chain or self._is("->") or self._is("--"):
            self.ends += len(scope.members)
            if self.ends > limits.MOST_EDGES:
                self._stop("ends of dependencies", limits.MOST_EDGES)
            self._chain([*(scope.chain or ()), tuple(scope.members)], scope.start)
        around = self.scopes[-1]
        # The fewer go to the more, or boxes nested deep would cost the square of their number.
        few, many = sorted((scope.members, around.members), key=len)
        many.update(few)
        around.members = many

    def _chain(self, chain: list[tuple[int, ...]], start: int) -> None:
        """Goes on with an edge statement whose ends so far are given."""
        while self._is("->") or self._is("--"):
            self._next()
            if self._is("{") or self._keyword() == "subgraph":
                self._open(chain)
                return
            chain.append((self._number(self._text("a node")),))
            self._port()
        attributes = self._attributes()[0]
        place = self._span(start, self.last_stop)
        for left, right in pairwise(chain):
            for before, after in product(left, right):
                self._bound(self.graph.edges, "dependencies", limits.MOST_EDGES)
                self.graph.edges.append(DotEdge(before, after, attributes, self.scopes[-1].box, place))

    def _declare(self, name: Word) -> None:
        """A statement of a node on its own."""
        attributes, is_html = self._attributes()
        number = self._number(name)
        node = self.graph.nodes[number]
        self.graph.nodes[number] = attrs.evolve(
            node,
            attributes={**self.scopes[-1].defaults, **node.attributes, **attributes},
            box=node.box if node.is_declared else self.scopes[-1].box,
            place=node.place if node.is_declared else self._span(name.start, self.last_stop),
            is_html=is_html or node.is_html,
            is_declared=True,
        )

    def _number(self, name: Word) -> int:
        """The index of a node, which is made where it is named first."""
        number = self.numbers.get(name.text)
        if number is None:
            self._bound(self.graph.nodes, "commands", limits.MOST_COMMANDS)
            number = self.numbers[name.text] = len(self.graph.nodes)
            scope = self.scopes[-1]
            place = self._span(name.start, name.stop)
            self.graph.nodes.append(DotNode(name.text, scope.defaults, scope.box, place, is_declared=False))
        self.scopes[-1].members[number] = None
        return number

    def _port(self) -> None:
        """`:port:side` behind a node; drawings need it, commands do not."""
        while self._is(":"):
            self._next()
            self._text("a port")

    def _attributes(self) -> tuple[Mapping[str, str], bool]:
        """Lists in brackets, as far as anybody needs them, and whether the label is in angle brackets."""
        found: dict[str, str] = {}
        is_html = False
        while self._is("["):
            self._next()
            while not self._is("]"):
                key = self._text("an attribute or `]`").text
                value = Word("name", "true", 0, 0)
                if self._is("="):
                    self._next()
                    value = self._text("a value")
                if key in KEPT_ATTRIBUTES:
                    found[key] = value.text
                    is_html = value.kind == "html" if key == "label" else is_html
                while self._is(",") or self._is(";"):
                    self._next()
            self._next()
        return found, is_html

    def _bound(self, things: Sized, what: str, most: int) -> None:
        if len(things) >= most:
            self._stop(what, most)

    def _stop(self, things: str, most: int) -> None:
        self.graph.problems.append(TooMuch(self._span(self.word.start, self.word.stop), things, most))
        raise _Full

    def _recover(self, start: int, expected: str) -> None:
        """Notes what is wrong at the word at hand, and goes on behind the start of the statement."""
        found = _BEGINNING.search(self.source.text, start + 1)
        if found is None and self.word.kind in ("end", "open"):
            what = "this statement" if start < self.word.start or self.word.kind == "open" else "the graph"
            place = start if what == "this statement" else self.scopes[-1].start
            self.graph.problems.append(CutOff(self._span(place, len(self.source.text)), what))
            raise _Full
        self._problem(expected)
        if found is None or len(self.graph.problems) >= limits.MOST_PROBLEMS:
            raise _Full
        self._go_to(found.start())

    def _problem(self, expected: str) -> None:
        kind = self.word.kind
        shown = {"end": "the end of the file", "open": "a text that does not end"}.get(kind, f"`{self.word.text[:40]}`")
        self.graph.problems.append(BrokenStatement(self._span(self.word.start, self.word.stop), expected, shown))

    def _span(self, start: int, stop: int) -> Span:
        return Span(self.source, start, max(stop, start))

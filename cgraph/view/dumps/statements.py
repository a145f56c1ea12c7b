"""Statements of the DOT language: boxes, nodes and edges out of words.

Receives any text; guarantees every statement that is complete, in order, and a problem for each that is not: reading
goes on at the next line that looks like the beginning of one. What labels mean is left to others.
"""

import re
from collections.abc import Mapping
from itertools import pairwise, product

import attrs
from attrs import define, field

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.view.dumps import limits
from cgraph.view.dumps.model import DotBox, DotEdge, DotGraph, DotNode
from cgraph.view.dumps.problems_dumps import CutOff, NotADump
from cgraph.view.dumps.tokens import Word
from cgraph.view.dumps.word_reader import TEXTS, Broken, Full, WordReader

KEPT_ATTRIBUTES = frozenset({"label", "shape", "headlabel", "taillabel"})
_KEYWORDS = frozenset({"graph", "node", "edge"})
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
class _Reader(WordReader):
    """Makes boxes, nodes and edges; `ends` counts those that subgraphs give to edges."""

    ends: int = 0
    scopes: list[_Scope] = field(factory=list)
    numbers: dict[str, int] = field(factory=dict)

    def read(self) -> None:
        self._head()
        try:
            while self.scopes:
                start = self.word.start
                try:
                    self._statement()
                except Broken as broken:
                    self._recover(start, str(broken))
        except Full:
            return
        if self.word.kind != "end":
            self.problem("the end of the file")

    def _head(self) -> None:
        if self.keyword() == "strict":
            self.use()
        if self.keyword() == "graph":
            self._refuse("an edge of an undirected graph does not say which command is first")
        if self.keyword() != "digraph":
            self._refuse("it does not begin with `digraph`" if self.word.kind != "end" else "it is empty")
        start = self.use().start
        if self.word.kind in TEXTS:
            self.graph.name = self.use().text
        if not self.is_at("{"):
            self._refuse("after `digraph` and its name there is no `{`")
        self.use()
        self.scopes.append(_Scope(None, None, {}, start))

    def _refuse(self, reason: str) -> None:
        span = None if self.word.kind == "end" else self.span(self.word.start, self.word.stop)
        raise ProblemsFound([NotADump(span, self.source.name, reason)])

    def _statement(self) -> None:
        keyword = self.keyword()
        if self.is_at(";", ","):
            self.use()
        elif self.is_at("}"):
            self._close()
        elif self.is_at("{") or keyword == "subgraph":
            self._open([])
        elif self.word.kind not in TEXTS:
            raise Broken("a statement or `}`")
        else:
            self._statement_of_text(keyword)

    def _statement_of_text(self, keyword: str | None) -> None:
        name = self.text("a name")
        if keyword in _KEYWORDS:
            attributes, is_html = self._attributes()
            if keyword == "node":
                self.scopes[-1].defaults = {**self.scopes[-1].defaults, **attributes}
            elif keyword == "graph" and "label" in attributes:
                self._label(attributes["label"], is_html=is_html)
        elif self.is_at("="):
            self.use()
            value = self.text("a value")
            if name.text.lower() == "label":
                self._label(value.text, is_html=value.kind == "html")
        else:
            self._port()
            if self.is_at("->", "--"):
                self._chain([(self._number(name),)], name.start)
            else:
                self._declare(name)

    def _label(self, label: str, *, is_html: bool) -> None:
        box = self.scopes[-1].box
        if box is None:
            self.graph.label, self.graph.is_html = label, is_html
        else:
            self.graph.boxes[box] = attrs.evolve(self.graph.boxes[box], label=label, is_html=is_html)

    def _open(self, chain: list[tuple[int, ...]]) -> None:
        """A subgraph begins, as the next end of a chain of edges."""
        start = self.word.start
        name = ""
        if self.keyword() == "subgraph":
            self.use()
            name = self.use().text if self.word.kind in TEXTS else ""
        if not self.is_at("{"):
            raise Broken("`{`")
        self.bound(self.graph.boxes, "graphs", limits.MOST_GRAPHS)
        self.bound(self.scopes, "open braces", limits.MOST_GRAPHS)
        place = self.span(start, self.use().stop)
        around = self.scopes[-1]
        # Only clusters are boxes; other subgraphs just name several nodes at once.
        box = around.box
        if name.startswith("cluster"):
            box = len(self.graph.boxes)
            self.graph.boxes.append(DotBox(name, None, around.box, place))
        self.scopes.append(_Scope(box, chain, around.defaults, start))

    def _close(self) -> None:
        self.use()
        scope = self.scopes.pop()
        if not self.scopes:
            return
        is_end = bool(scope.chain) or self.is_at("->", "--")
        ends = tuple(scope.members) if is_end else ()
        # The fewer go to the more, or boxes nested deep would cost the square of their number.
        around = self.scopes[-1]
        few, many = sorted((scope.members, around.members), key=len)
        many.update(few)
        around.members = many
        if is_end:
            self.ends += len(ends)
            if self.ends > limits.MOST_EDGES:
                self.stop("ends of dependencies", limits.MOST_EDGES)
            self._chain([*(scope.chain or ()), ends], scope.start)

    def _chain(self, chain: list[tuple[int, ...]], start: int) -> None:
        """Goes on with an edge statement whose ends so far are given."""
        while self.is_at("->", "--"):
            self.use()
            if self.is_at("{") or self.keyword() == "subgraph":
                self._open(chain)
                return
            chain.append((self._number(self.text("a node")),))
            self._port()
        attributes = self._attributes()[0]
        self._refuse_cut()
        place = self.span(start, self.last_stop)
        for left, right in pairwise(chain):
            for before, after in product(left, right):
                self.bound(self.graph.edges, "dependencies", limits.MOST_EDGES)
                self.graph.edges.append(DotEdge(before, after, attributes, self.scopes[-1].box, place))

    def _declare(self, name: Word) -> None:
        """A statement of a node on its own."""
        attributes, is_html = self._attributes()
        self._refuse_cut()
        number = self._number(name)
        node = self.graph.nodes[number]
        self.graph.nodes[number] = attrs.evolve(
            node,
            attributes={**self.scopes[-1].defaults, **node.attributes, **attributes},
            place=node.place if node.is_declared else self.span(name.start, self.last_stop),
            is_html=is_html or node.is_html,
            is_declared=True,
        )

    def _number(self, name: Word) -> int:
        """The index of a node, which is made where it is named first."""
        if name.stop == len(self.source.text):
            self._refuse_cut()
        number = self.numbers.get(name.text)
        scope = self.scopes[-1]
        if number is None:
            self.bound(self.graph.nodes, "commands", limits.MOST_COMMANDS)
            number = self.numbers[name.text] = len(self.graph.nodes)
            place = self.span(name.start, name.stop)
            self.graph.nodes.append(DotNode(name.text, scope.defaults, scope.box, place, is_declared=False))
        elif self._is_inside(scope.box, self.graph.nodes[number].box):
            self.graph.nodes[number] = attrs.evolve(self.graph.nodes[number], box=scope.box)
        scope.members[number] = None
        return number

    def _is_inside(self, box: int | None, other: int | None) -> bool:
        """Whether a box lies in another one, None being the whole graph: a node is in the innermost that names it."""
        if box == other:
            return False
        around = box
        for _ in range(limits.DEEPEST_NESTING):
            if around is None or around == other:
                break
            around = self.graph.boxes[around].parent
        return around == other

    def _refuse_cut(self) -> None:
        """A statement at the very end may be longer where the text was cut off, unless its attributes are complete."""
        if self.word.kind == "end" and not self.source.text.endswith("]", 0, self.last_stop):
            raise Broken("`}`")

    def _port(self) -> None:
        """`:port:side` behind a node; drawings need it, commands do not."""
        while self.is_at(":"):
            self.use()
            self.text("a port")

    def _attributes(self) -> tuple[Mapping[str, str], bool]:
        """Lists in brackets, as far as anybody needs them, and whether the label is in angle brackets."""
        found: dict[str, str] = {}
        is_html = False
        while self.is_at("["):
            self.use()
            while not self.is_at("]"):
                key = self.text("an attribute or `]`").text
                value = Word("name", "true", 0, 0)
                if self.is_at("="):
                    self.use()
                    value = self.text("a value")
                if key in KEPT_ATTRIBUTES:
                    found[key] = value.text
                    is_html = value.kind == "html" if key == "label" else is_html
                while self.is_at(",", ";"):
                    self.use()
            self.use()
        return found, is_html

    def _recover(self, start: int, expected: str) -> None:
        """Notes what is wrong at the word at hand, and goes on behind the start of the statement."""
        found = _BEGINNING.search(self.source.text, start + 1)
        is_last = self.word.kind == "open" or self.word.stop == len(self.source.text)
        if found is None and is_last:
            what = "the graph" if self.word.kind == "end" and start == self.word.start else "this statement"
            place = start if what == "this statement" else self.scopes[-1].start
            self.graph.problems.append(CutOff(self.span(place, len(self.source.text)), what))
            raise Full
        self.problem(expected)
        if found is None:
            raise Full
        self.bound(self.graph.problems, "broken statements", limits.MOST_PROBLEMS)
        self.go_to(found.start())

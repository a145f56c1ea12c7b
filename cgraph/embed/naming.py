"""Gives texts to bound variables, so that no use means another binder than the Python program meant.

Receives declarations whose bound variables are told apart by identity; guarantees that a variable's text differs from
those of the variables around it, from every name that the program declares or the same declaration uses, and from the
language's words.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from attrs import evolve

from cgraph.core.trampoline import Rule, run
from cgraph.embed.expressions import BOUND
from cgraph.syntax import tree
from cgraph.syntax.builder import TreeBuilder
from cgraph.syntax.tables import build_tables
from cgraph.syntax.words import RESERVED_WORDS

Part: TypeAlias = tree.Term | tree.TypeExpression | None


@cache
def reserved_texts() -> frozenset[str]:
    """The words of the language that cannot be names in terms."""
    return frozenset(text for text, kind in build_tables(TreeBuilder).words.items() if kind in RESERVED_WORDS)


class Namer:
    """Names the variables of one program.

    Args:
        taken: names that the program declares.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken) | reserved_texts()
        self._texts: dict[tree.Name, tree.Name] = {}

    def name_variables(self, parts: Sequence[Part]) -> list[Part]:
        """The terms and types of one declaration with named variables; None stays None.

        Raises:
            ValueError: a variable is used outside the function that binds it.
        """
        used = set(_global_names(parts)) - self._taken
        self._taken |= used
        named = [part if part is None else run(self._part(part)) for part in parts]
        self._taken -= used
        return named

    def _part(self, part: tree.Term | tree.TypeExpression) -> Rule[Part]:
        return self._type(part) if isinstance(part, tree.TypeExpression) else self._term(part)

    def _term(self, term: tree.Term) -> Rule[tree.Term]:
        if isinstance(term, tree.Name):
            return self._use(term)
        if isinstance(term, tree.Apply):
            function = yield self._term(term.function)
            arguments = yield self._terms(term.arguments)
            return evolve(term, function=function, arguments=arguments)
        if isinstance(term, tree.Lambda):
            type_ = yield self._type(term.type)
            name = self._bind(term.name)
            body = yield self._term(term.body)
            self._unbind(term.name)
            return evolve(term, name=name, type=type_, body=body)
        if isinstance(term, tree.Let):
            let_type = None if term.type is None else (yield self._type(term.type))
            value = yield self._term(term.value)
            name = self._bind(term.name)
            body = yield self._term(term.body)
            self._unbind(term.name)
            return evolve(term, name=name, type=let_type, value=value, body=body)
        return term

    def _terms(self, terms: tuple[tree.Term, ...]) -> Rule[tuple[tree.Term, ...]]:
        named = list(terms)
        for place, term in enumerate(terms):
            named[place] = yield self._term(term)
        return tuple(named)

    def _type(self, type_: tree.TypeExpression) -> Rule[tree.TypeExpression]:
        if isinstance(type_, tree.PlaneTypeExpression) and type_.extent is not None:
            extent = yield self._terms(type_.extent)
            return evolve(type_, extent=extent)
        if isinstance(type_, tree.PiTypeExpression):
            domain = yield self._type(type_.domain)
            name = self._bind(type_.name)
            codomain = yield self._type(type_.codomain)
            self._unbind(type_.name)
            return evolve(type_, name=name, domain=domain, codomain=codomain)
        return type_

    def _use(self, name: tree.Name) -> tree.Name:
        if name.span is not BOUND:
            return name
        if name not in self._texts:
            raise ValueError(f"the variable {name.text} is used outside the function that binds it")
        return self._texts[name]

    def _bind(self, name: tree.Name) -> tree.Name:
        base = "".join(character for character in name.text if character.isascii()) or "x"
        text, count = base, 1
        while text in self._taken:
            count += 1
            text = f"{base}{count}"
        self._taken.add(text)
        named = evolve(name, text=text)
        self._texts[name] = named
        return named

    def _unbind(self, name: tree.Name) -> None:
        self._taken.discard(self._texts.pop(name).text)


def _global_names(parts: Iterable[Part]) -> Iterator[str]:
    """The names in terms and types that no function there binds."""
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Name):
            if part.span is not BOUND:
                yield part.text
        elif isinstance(part, tree.Apply):
            waiting += (part.function, *part.arguments)
        elif isinstance(part, tree.Lambda):
            waiting += (part.type, part.body)
        elif isinstance(part, tree.Let):
            waiting += (part.type, part.value, part.body)
        elif isinstance(part, tree.PlaneTypeExpression):
            waiting += part.extent or ()
        elif isinstance(part, tree.PiTypeExpression):
            waiting += (part.domain, part.codomain)

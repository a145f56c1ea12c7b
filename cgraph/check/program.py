"""A checked program: the value that checking gives and building takes.

Everything in it is resolved: names are found, sizes are naturals in normal form over the parameters.
"""

from collections.abc import Collection, Mapping

from attrs import frozen

from cgraph.check.terms import CheckedTerm
from cgraph.check.values import ImageValue, PhaseValue, PlaneFamily
from cgraph.core.types import Type
from cgraph.source import Span
from cgraph.syntax.tree import Module


@frozen(eq=False)
class Parameter:
    """A declared parameter; `default` is None where a build must give it."""

    name: str
    type: Type
    default: CheckedTerm | None
    documentation: str
    span: Span


@frozen(eq=False)
class CheckedDefinition:
    """A definition without problems."""

    name: str
    type: Type
    term: CheckedTerm
    documentation: str
    span: Span
    name_span: Span


@frozen(eq=False)
class CheckedProgram:
    """All declarations of a program and its imports, by name, in an order of need.

    Args:
        root: the module that was asked for; entry points are looked for in it.
        needs: for each declaration the declared names that it uses itself.
    """

    root: Module
    parameters: dict[str, Parameter]
    phases: dict[str, PhaseValue]
    planes: dict[str, PlaneFamily]
    images: dict[str, ImageValue]
    definitions: dict[str, CheckedDefinition]
    needs: Mapping[str, Collection[str]]

    @property
    def mentioned(self) -> frozenset[str]:
        """Names that some declaration uses."""
        return frozenset(name for used in self.needs.values() for name in used)

    def reachable(self, name: str) -> frozenset[str]:
        """A declaration and all that it uses, directly or through others."""
        found = {name}
        waiting = [name]
        while waiting:
            new = set(self.needs.get(waiting.pop(), ())) - found
            found |= new
            waiting.extend(new)
        return frozenset(found)

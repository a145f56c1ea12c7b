"""Problems that show when a term is evaluated, while checking or while building."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Label, Problem
from cgraph.source import Span


@frozen
class DivisionByZeroProblem(Problem):
    """A division, ceiling division or modulo by 0."""

    code: ClassVar[str] = "CG401"
    title: ClassVar[str] = "division by zero"
    label: ClassVar[str] = "the divisor of `{operation}` is 0 here"

    operation: str

    def helps(self) -> Sequence[str]:
        return ("`(naturalMaximum 1 divisor)` keeps a divisor above 0",)


@frozen
class PlaneIsNoNumber(Problem):
    """Arithmetic on a plane's address."""

    code: ClassVar[str] = "CG402"
    title: ClassVar[str] = "a plane has no number to compute with"
    label: ClassVar[str] = "`{operation}` needs a natural, but this is {found}"

    operation: str
    found: str

    def helps(self) -> Sequence[str]:
        return ("use `(cgAt plane offset)` for a part of a plane; the offset counts elements",)


@frozen
class IndexOutsideFamily(Problem):
    """An index that is not below the family's bound."""

    code: ClassVar[str] = "CG403"
    title: ClassVar[str] = "index outside the family `{family}`"
    label: ClassVar[str] = "`{family}` has {bound} planes at index `{index_name}`, so {found} is outside"

    family: str
    index_name: str
    found: str
    bound: str
    family_span: Span
    where: str = ""

    def labels(self) -> Sequence[Label]:
        return (Label(self.family_span, "the family is declared here"),)

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class OffsetOutsidePlane(Problem):
    """`cgAt` with an offset past the end of the plane."""

    code: ClassVar[str] = "CG404"
    title: ClassVar[str] = "offset outside the plane `{plane}`"
    label: ClassVar[str] = "the plane has {available} elements from here on, so offset {offset} leaves nothing"

    plane: str
    available: str
    offset: str
    where: str = ""

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class SizeIsNoFormula(Problem):
    """A size of a declaration that only an evaluation could find out."""

    code: ClassVar[str] = "CG405"
    title: ClassVar[str] = "this size is no formula over the parameters"
    label: ClassVar[str] = "it repeats something a number of times that only a build knows"

    def helps(self) -> Sequence[str]:
        return ("sizes of declarations may use the arithmetic of naturals, and `naturalFold` with a literal count",)


@frozen
class EvaluationTooLong(Problem):
    """A declaration whose types and sizes take too long to work out."""

    code: ClassVar[str] = "CG406"
    title: ClassVar[str] = "checking `{name}` takes more than {limit} steps"
    label: ClassVar[str] = "this declaration"

    name: str
    limit: int

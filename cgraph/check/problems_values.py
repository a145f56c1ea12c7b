"""Problems that show when a term is evaluated, while checking or while building."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.check.problems_origins import EvaluationProblem
from cgraph.diagnostics import Label, Problem
from cgraph.source import Span


@frozen
class DivisionByZeroProblem(EvaluationProblem):
    """A division, ceiling division or modulo by 0."""

    code: ClassVar[str] = "CG401"
    title: ClassVar[str] = "division by zero"
    label: ClassVar[str] = "a divisor is 0 in `{operation}` here"

    operation: str

    def helps(self) -> Sequence[str]:
        return ("`(naturalMaximum 1 divisor)` keeps a divisor above 0",)


@frozen
class PlaneIsNoNumber(EvaluationProblem):
    """Arithmetic on a plane's address."""

    code: ClassVar[str] = "CG402"
    title: ClassVar[str] = "a plane has no number to compute with"
    label: ClassVar[str] = "`{operation}` needs a natural, but this is {found}"

    operation: str
    found: str

    def helps(self) -> Sequence[str]:
        return ("use `(cgAt plane offset)` for a part of a plane; the offset counts elements",)


@frozen
class IndexOutsideFamily(EvaluationProblem):
    """An index that is not below the family's bound."""

    code: ClassVar[str] = "CG403"
    title: ClassVar[str] = "index outside the family `{family}`"
    label: ClassVar[str] = "index `{index_name}` is {found}, but must be less than {bound}"

    family: str
    index_name: str
    found: str
    bound: str
    family_span: Span
    where: str = ""

    def labels(self) -> Sequence[Label]:
        return (*EvaluationProblem.labels(self), Label(self.family_span, f"`{self.family}` is declared here"))

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class OffsetOutsidePlane(EvaluationProblem):
    """`cgAt` with an offset past the end of the plane."""

    code: ClassVar[str] = "CG404"
    title: ClassVar[str] = "offset outside the plane `{plane}`"
    label: ClassVar[str] = "offset {offset} is past its {available} elements"

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
    title: ClassVar[str] = "checking `{name}` takes more than {limit:,} steps"
    label: ClassVar[str] = "the limit is reached here"

    name: str
    limit: int


@frozen
class NumberTooLarge(EvaluationProblem):
    """A natural, or a formula, that has grown beyond any use."""

    code: ClassVar[str] = "CG407"
    title: ClassVar[str] = "a natural too large to compute with"
    label: ClassVar[str] = "{operation} is {what}"

    operation: str
    what: str

    def helps(self) -> Sequence[str]:
        return ("sizes count elements and bytes: none is ever beyond 2^63",)

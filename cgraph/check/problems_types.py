"""Problems with types and extents."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Fix, Label, Problem
from cgraph.source import Span

_LONGEST_LABEL = 60


@frozen
class WrongType(Problem):
    """A term of one type where another is expected."""

    code: ClassVar[str] = "CG201"
    title: ClassVar[str] = "wrong type: expected `{expected}`, found `{found}`"
    label: ClassVar[str] = "this is `{found}`"

    expected: str
    found: str
    context: str = ""
    difference: str = ""

    def render_label(self) -> str:
        return Problem.render_label(self) if len(self.found) <= _LONGEST_LABEL else "this has another type"

    def notes(self) -> Sequence[str]:
        return tuple(text for text in (self.context, self.difference) if text)

    def fix(self) -> Fix | None:
        if self.span is None or (self.expected, self.found) != ("Float", "Nat") or not self.span.text.isdecimal():
            return None
        return Fix(self.span, f"{self.span.text}.0", "write a float with a point")


@frozen
class NotAFunction(Problem):
    """An argument for something that takes none."""

    code: ClassVar[str] = "CG202"
    title: ClassVar[str] = "{function} is not a function"
    label: ClassVar[str] = "this argument has nowhere to go: {function} is `{found}`"

    function: str
    found: str


@frozen
class TooManyArguments(Problem):
    """More arguments than the function takes."""

    code: ClassVar[str] = "CG203"
    title: ClassVar[str] = "{function} takes {taken}, {given} given"
    label: ClassVar[str] = "no argument is expected here"

    function: str
    taken: str
    given: str

    def helps(self) -> Sequence[str]:
        if self.function == "`cgThen`":
            return ("write `(cgThen first (cgThen second third))` for more than two commands",)
        return ("a closing parenthesis may be missing before this argument",)


@frozen
class WrongElement(Problem):
    """A plane of another element type than expected."""

    code: ClassVar[str] = "CG204"
    title: ClassVar[str] = "wrong element type: expected `{expected}`, found `{found}`"
    label: ClassVar[str] = "this plane holds `{found}`"

    expected: str
    found: str
    context: str = ""

    def notes(self) -> Sequence[str]:
        return (self.context,) if self.context else ()

    def helps(self) -> Sequence[str]:
        if (self.expected, self.found) == ("half", "f32"):
            return ("`(cgCastDown out source n)` of the library rounds f32 to half",)
        return ()


@frozen
class WrongExtent(Problem):
    """A plane that is too small, for some or all values of the parameters."""

    code: ClassVar[str] = "CG205"
    title: ClassVar[str] = "the plane is too small"
    label: ClassVar[str] = "this has {found} elements, {needed} are needed"

    found: str
    needed: str
    where: str
    context: str = ""

    def notes(self) -> Sequence[str]:
        return tuple(text for text in (self.context, self.where) if text)


@frozen
class NumberIsNoPlane(Problem):
    """A number where a plane is expected."""

    code: ClassVar[str] = "CG206"
    title: ClassVar[str] = "a number where a plane is expected"
    label: ClassVar[str] = "this is the natural {found}, not a plane's address"

    found: str
    context: str = ""

    def notes(self) -> Sequence[str]:
        return (self.context,) if self.context else ()

    def helps(self) -> Sequence[str]:
        return ("name a plane, or a part of one as `(cgAt plane offset)`; where it lies in memory is planned later",)


@frozen
class TypeTooDeep(Problem):
    """Function types nested inside function types beyond any use."""

    code: ClassVar[str] = "CG207"
    title: ClassVar[str] = "a type with more than {limit} function types inside each other"
    label: ClassVar[str] = "the domain here is nested too deep"

    limit: int


@frozen
class NotATypeOfParameters(Problem):
    """A parameter that is neither a natural nor a float."""

    code: ClassVar[str] = "CG208"
    title: ClassVar[str] = "a parameter is a `Nat` or a `Float`"
    label: ClassVar[str] = "`{found}` cannot be given when a graph is built"

    found: str


@frozen
class GradientDiffers(Problem):
    """A gradient plane that is not shaped like the plane whose gradient it is."""

    code: ClassVar[str] = "CG209"
    title: ClassVar[str] = "`{gradient}` is not shaped like `{plane}`"
    label: ClassVar[str] = "{difference}"

    gradient: str
    plane: str
    difference: str
    plane_span: Span
    where: str = ""

    def labels(self) -> Sequence[Label]:
        return (Label(self.plane_span, f"`{self.plane}` is declared here"),)

    def notes(self) -> Sequence[str]:
        return (f"they differ {self.where}",) if self.where else ()


@frozen
class FoldIncomplete(Problem):
    """`naturalFold` without all of its arguments: it has no type of its own."""

    code: ClassVar[str] = "CG210"
    title: ClassVar[str] = "`naturalFold` needs its three arguments at once"
    label: ClassVar[str] = "{given} given"

    given: str

    def helps(self) -> Sequence[str]:
        return ("write `(naturalFold count initial step)`, with a step of an index and the value so far",)


@frozen
class WrongDomain(Problem):
    """A function that is given something else than its binder says."""

    code: ClassVar[str] = "CG211"
    title: ClassVar[str] = "`{name}` will be given `{given}`, not `{found}`"
    label: ClassVar[str] = "expected `{given}`"

    name: str
    found: str
    given: str
    where: str = ""

    def notes(self) -> Sequence[str]:
        return (f"that is too small {self.where}",) if self.where else ()


@frozen
class CopyOfAnotherSize(Problem):
    """A copy between planes that do not have equally many elements, for some or all values of the parameters."""

    code: ClassVar[str] = "CG212"
    title: ClassVar[str] = "`cgCopy` between planes of two sizes"
    label: ClassVar[str] = "this has {found} elements, the destination {needed}"

    found: str
    needed: str
    where: str

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()

    def helps(self) -> Sequence[str]:
        return ("`(cgAt plane offset)` is a part of a plane, from an offset to its end",)

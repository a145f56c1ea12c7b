"""Problems that show only when a graph is built: parameters, entry points, and what the checker had to leave open."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.check.problems_origins import EvaluationProblem
from cgraph.core.origins import Origin
from cgraph.diagnostics import Problem
from cgraph.graph.origins import origin_notes


@frozen
class UnknownParameter(Problem):
    """A value for a parameter that the program does not have."""

    code: ClassVar[str] = "CG520"
    title: ClassVar[str] = "the program has no parameter `{name}`"

    name: str
    suggestion: str | None
    names: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        return (f"its parameters are {', '.join(self.names)}" if self.names else "it has no parameters",)

    def helps(self) -> Sequence[str]:
        return () if self.suggestion is None else (f"did you mean `{self.suggestion}`?",)


@frozen
class ParameterWithoutValue(Problem):
    """A parameter that has no default and was not given."""

    code: ClassVar[str] = "CG521"
    title: ClassVar[str] = "parameter `{name}` has no value"
    label: ClassVar[str] = "declared here without a default"

    name: str

    def helps(self) -> Sequence[str]:
        return (f"give one with `--set {self.name}=…`",)


@frozen
class WrongParameterValue(Problem):
    """A value that is no natural, or no float."""

    code: ClassVar[str] = "CG522"
    title: ClassVar[str] = "{value} is no value for parameter `{name}`"
    label: ClassVar[str] = "`{name}` is a {expected}"

    name: str
    value: str
    expected: str


@frozen
class NoEntry(Problem):
    """No definition of the name that was asked for."""

    code: ClassVar[str] = "CG523"
    title: ClassVar[str] = "`{file}` has no definition `{name}` to build"

    file: str
    name: str
    commands: tuple[str, ...]

    def helps(self) -> Sequence[str]:
        if not self.commands:
            return ("define a `Command`, for example `def main = …`",)
        return (f"`--entry` takes one of {', '.join(self.commands)}",)


@frozen
class EntryIsNoCommand(Problem):
    """An entry point that is not a command."""

    code: ClassVar[str] = "CG524"
    title: ClassVar[str] = "`{name}` is no command to build"
    label: ClassVar[str] = "its type is `{type}`"

    name: str
    type: str

    def helps(self) -> Sequence[str]:
        if not self.type.startswith("(pi"):
            return ("an entry point is a `Command`",)
        name = "run" if self.name == "main" else "main"
        return (f"give it its arguments in a definition of its own: `def {name} = ({self.name} …)`",)


@frozen
class PlaneTooLarge(Problem):
    """A plane that no memory could hold."""

    code: ClassVar[str] = "CG525"
    title: ClassVar[str] = "the plane `{plane}` is too large"
    label: ClassVar[str] = "{elements} elements of {element} are more than 2^63 bytes"

    plane: str
    elements: int
    element: str


@frozen
class NoPlaneHere(EvaluationProblem):
    """A fill or copy of something that turned out not to be a plane."""

    code: ClassVar[str] = "CG531"
    title: ClassVar[str] = "`{operation}` needs a plane"
    label: ClassVar[str] = "its {what} is {found}"

    operation: str
    what: str
    found: str


@frozen
class CopyDiffers(EvaluationProblem):
    """A copy between planes that are not alike."""

    code: ClassVar[str] = "CG532"
    title: ClassVar[str] = "`cgCopy` from `{source}` to `{destination}`, which are not alike"
    label: ClassVar[str] = "the source is {source_shape}, the destination {destination_shape}"

    source: str
    destination: str
    source_shape: str
    destination_shape: str


@frozen
class TooManyCommands(Problem):
    """A program that would never end in practice."""

    code: ClassVar[str] = "CG533"
    title: ClassVar[str] = "the program builds more than {limit:,} commands and phases"
    label: ClassVar[str] = "the limit is reached here"

    origin: Origin | None
    limit: int

    def notes(self) -> Sequence[str]:
        return () if self.origin is None else origin_notes(self.origin)


@frozen
class TooManySteps(Problem):
    """An evaluation that would never end in practice."""

    code: ClassVar[str] = "CG534"
    title: ClassVar[str] = "building `{name}` takes more than {limit:,} steps"
    label: ClassVar[str] = "the limit is reached here"

    name: str
    limit: int

"""What may be wrong with a file that shall be viewed: CG880 to CG884."""

from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class NotViewable(Problem):
    """A file is none of the kinds that can be viewed."""

    code: ClassVar[str] = "CG880"
    title: ClassVar[str] = "{file} is no file that can be viewed"

    file: str

    def helps(self) -> tuple[str, ...]:
        return ("a program (.cg), a bundle (.cgb), a dump of another tool (.dot) or a view (.json) can be viewed",)


@frozen
class NotAView(Problem):
    """A JSON file is no view; `reason` says where it departs from one."""

    code: ClassVar[str] = "CG881"
    title: ClassVar[str] = "{file} is not a view in JSON"

    file: str
    reason: str

    def notes(self) -> tuple[str, ...]:
        return (self.reason,)

    def helps(self) -> tuple[str, ...]:
        return ("`cgraph view FILE -o view.json` writes one",)


@frozen
class OtherVersion(Problem):
    """A view of another version of the format."""

    code: ClassVar[str] = "CG882"
    title: ClassVar[str] = "{file} has version {version} of the view format, and this cgraph reads version {known}"

    file: str
    version: str
    known: int

    def helps(self) -> tuple[str, ...]:
        return ("write it again with this cgraph",)


@frozen
class NotTimed(Problem):
    """A trace was asked for, and nothing was measured."""

    code: ClassVar[str] = "CG883"
    title: ClassVar[str] = "there are no times to write a trace of {file} with"

    file: str

    def helps(self) -> tuple[str, ...]:
        return ("a program is measured with `cgraph view FILE --timed`",)


@frozen
class NotRunnable(Problem):
    """`--timed` was asked for what cannot be run here: a view, or a graph of others."""

    code: ClassVar[str] = "CG884"
    title: ClassVar[str] = "{file} cannot be run and timed"

    file: str

    def notes(self) -> tuple[str, ...]:
        return ("programs and bundles of programs can; a view shows the times that it was written with",)


@frozen
class Unwritable(Problem):
    """A picture that cannot be written."""

    code: ClassVar[str] = "CG885"
    title: ClassVar[str] = "cannot write `{path}`: {reason}"

    path: str
    reason: str

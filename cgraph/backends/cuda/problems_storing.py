"""What keeps kernels from being stored: CG816. Imports no CUDA package, so that the code can be listed anywhere."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class HeaderNamesCollide(Problem):
    """Two different headers are included under one name, so they cannot be stored by their names. `span` is the image.

    Args:
        file: that includes them, perhaps through others.
        header: the name.
        first, second: where the two lie.
    """

    code: ClassVar[str] = "CG816"
    title: ClassVar[str] = "{file} includes two headers as `{header}`"
    label: ClassVar[str] = "its kernel needs both"

    file: str
    header: str
    first: str
    second: str

    def notes(self) -> Sequence[str]:
        return (self.first, self.second)

    def helps(self) -> Sequence[str]:
        return ("rename one of them",)

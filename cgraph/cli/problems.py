"""What a user may meet on the command line beyond the problems of the stages: CG707."""

from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class NothingToCompareWith(Problem):
    """`--check` was asked for, and the program launches a kernel that computes in one precision only.

    Args:
        image: the kernel's; `span` is its declaration.
    """

    code: ClassVar[str] = "CG707"
    title: ClassVar[str] = "there is nothing to compare with: image {image} has no form in f64"
    label: ClassVar[str] = "its kernel is all that says what it computes"

    image: str

    def notes(self) -> tuple[str, ...]:
        return ("--check compares a program that has no reference with the same commands in f64",)

    def helps(self) -> tuple[str, ...]:
        """Both ways out."""
        return (
            "run without --check",
            "or register a NumPy function for the image with @meaning from cgraph.images.registry",
        )

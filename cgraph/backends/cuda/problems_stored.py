"""What can be wrong with stored code of kernels on the device at hand: CG830 to CG832.

Imports no CUDA package, so that the codes can be listed anywhere. `span` is the name in the image's declaration.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Problem


@frozen
class NoCodeForDevice(Problem):
    """None of a kernel file's stored code runs on a device, and the file cannot be compiled again.

    Args:
        file: the .cu file.
        architecture: of the device.
        image: one that needs it.
        reasons: why no cubin, no PTX and not the stored text.
    """

    code: ClassVar[str] = "CG830"
    title: ClassVar[str] = "no stored code of {file} runs on {architecture}"
    label: ClassVar[str] = "image {image} needs it"

    file: str
    architecture: str
    image: str
    reasons: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """All of them."""
        return self.reasons

    def helps(self) -> Sequence[str]:
        """All ways out."""
        return (
            "save the bundle with code for this device",
            "or install cgraph-lang[cuda], whose compiler makes code of the stored text",
        )


@frozen
class KernelNotStored(Problem):
    """A kernel that shall run was not stored at all. `image` launches it."""

    code: ClassVar[str] = "CG831"
    title: ClassVar[str] = "the bundle has no kernel of image {image}"
    label: ClassVar[str] = "declared here"

    image: str

    def notes(self) -> Sequence[str]:
        return ("when it was saved, only the image's NumPy function was at hand",)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (
            "replay it with --device host where that function is registered",
            "or save it again where the .cu file is",
        )


@frozen
class StoredParametersDiffer(Problem):
    """The driver says that a kernel's parameters are not those that were stored with its machine code.

    Args:
        entry: the kernel.
        stored: sizes of the parameters in bytes, as the bundle has them; loaded: as the driver has them.
    """

    code: ClassVar[str] = "CG832"
    title: ClassVar[str] = "the machine code of {entry} does not take the parameters that the bundle states"
    label: ClassVar[str] = "its image is declared here"

    entry: str
    stored: tuple[int, ...]
    loaded: tuple[int, ...]

    def notes(self) -> Sequence[str]:
        stated, found = (", ".join(map(str, sizes)) or "none" for sizes in (self.stored, self.loaded))
        return (f"stated: {stated} bytes; in the code: {found} bytes",)

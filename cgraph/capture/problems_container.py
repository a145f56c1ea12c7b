"""What is wrong with the file of a bundle, before anything in it is understood: CG800 to CG807."""

from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem

UNTOUCHED = "nothing of the file was used"


@frozen
class BundleUnreadable(Problem):
    """A bundle cannot be opened or read."""

    code: ClassVar[str] = "CG800"
    title: ClassVar[str] = "cannot read the bundle {path}: {reason}"

    path: str
    reason: str


@frozen
class BundleUnwritable(Problem):
    """A bundle cannot be written where it was asked for."""

    code: ClassVar[str] = "CG801"
    title: ClassVar[str] = "cannot write the bundle {path}: {reason}"

    path: str
    reason: str


@frozen
class NotABundle(Problem):
    """The first bytes of a file are not those of a bundle."""

    code: ClassVar[str] = "CG802"
    title: ClassVar[str] = "{path} is not a bundle: it begins with {found}"

    path: str
    found: str

    def helps(self) -> tuple[str, ...]:
        return ("`cgraph save` makes a bundle from a program",)


@frozen
class UnknownVersion(Problem):
    """The version of a bundle's format is one that this cgraph does not read."""

    code: ClassVar[str] = "CG803"
    title: ClassVar[str] = "{path} has format version {found}; this cgraph reads version {known}"

    path: str
    found: int
    known: int

    def helps(self) -> tuple[str, ...]:
        if self.found > self.known:
            return ("a newer cgraph wrote it: update, or save the program again with this one",)
        return ("save the program again",)


@frozen
class BundleSizeWrong(Problem):
    """A file is longer or shorter than what it says of itself, e.g. because it was cut off."""

    code: ClassVar[str] = "CG804"
    title: ClassVar[str] = "{path} has {found_bytes} bytes where {what} {needs} {expected_bytes}"

    path: str
    what: str
    needs: str
    found_bytes: int
    expected_bytes: int

    def notes(self) -> tuple[str, ...]:
        return (UNTOUCHED,)


@frozen
class ChecksumWrong(Problem):
    """Bytes of a bundle are not those that were written: they do not have the SHA-256 that stands in the file."""

    code: ClassVar[str] = "CG805"
    title: ClassVar[str] = "{path} is damaged: the checksum of {what} differs"

    path: str
    what: str

    def notes(self) -> tuple[str, ...]:
        return (UNTOUCHED,)


@frozen
class ManifestUnreadable(Problem):
    """The manifest of a bundle is no JSON, or JSON beyond the limits of the format."""

    code: ClassVar[str] = "CG806"
    title: ClassVar[str] = "{path}: its manifest cannot be read: {reason}"

    path: str
    reason: str


@frozen
class BlobsWrong(Problem):
    """The list of a bundle's blobs does not describe the bytes behind the manifest."""

    code: ClassVar[str] = "CG807"
    title: ClassVar[str] = "{path}: {what}: {reason}"

    path: str
    what: str
    reason: str

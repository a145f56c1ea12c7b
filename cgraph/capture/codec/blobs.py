"""The blobs that bundles of every content have: how a reader gets them, and the digests of a recorded run.

Receives blobs by name; guarantees digests of 32 bytes each, one for each command, or FieldError.
"""

from typing import Protocol

from cgraph.capture.codec.fields import FieldError

DATA, OUTPUTS, DIGESTS = "data", "outputs", "digests"  # names of blobs
DIGEST_BYTES = 32


class ReadsBlobs(Protocol):
    """The blobs of a file."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""

    def read(self, name: str) -> bytes:
        """The bytes of one, checked against their checksum."""


def read_digests(data: bytes, nodes: int) -> tuple[bytes, ...]:
    """The digests of so many commands. Raises FieldError."""
    if len(data) != DIGEST_BYTES * nodes:
        raise FieldError(DIGESTS, f"{DIGEST_BYTES} bytes for each of {nodes} nodes", f"{len(data)} bytes")
    return tuple(data[start : start + DIGEST_BYTES] for start in range(0, len(data), DIGEST_BYTES))

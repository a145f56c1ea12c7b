"""What a command left behind, as a number to compare: the SHA-256 of the bytes that it wrote.

Receives a node and its planes' memory right after it ran; the parts are taken in the order of its accesses.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from cgraph.graph.model import Access, Node

# Of a command that did not end; no bytes are known that hash to it.
UNFINISHED = bytes(32)


def digest_of(node: Node, bytes_of: Callable[[Access], NDArray[Any]]) -> bytes:
    """The digest of a command that has just ended.

    Args:
        node: the command.
        bytes_of: gives the contiguous bytes of a part of a plane.
    """
    digest = sha256()
    for access in node.accesses:
        if access.mode.writes:
            digest.update(bytes_of(access).data)
    return digest.digest()

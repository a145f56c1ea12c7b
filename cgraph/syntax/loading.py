"""Reads program files.

Receives a path; guarantees a `Source` whose text is decoded UTF-8 without a byte-order mark. Every way in which a
file can fail is a problem with its own code.
"""

from pathlib import Path

from cgraph.diagnostics.problem import ProblemsFound
from cgraph.source import Source, Span
from cgraph.syntax.problems import FileTooLarge, NotUtf8, UnreadableFile

MAXIMUM_SIZE_BYTES = 64 * 1024 * 1024
"""Size of the largest program file: about a million commands, and a limit on what a wrong path can cost."""


def load_source(path: str | Path) -> Source:
    """The source in a file; its name is the path as given.

    Raises:
        ProblemsFound: CG011 where it cannot be read, CG012 where it is not UTF-8, CG013 where it is too large.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAXIMUM_SIZE_BYTES + 1)
            size_bytes = file.seek(0, 2) if len(content) > MAXIMUM_SIZE_BYTES else len(content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProblemsFound([UnreadableFile(None, name, reason.lower())]) from error
    if size_bytes > MAXIMUM_SIZE_BYTES:
        raise ProblemsFound([FileTooLarge(None, name, size_bytes, MAXIMUM_SIZE_BYTES)])
    return decode_source(name, content)


def decode_source(name: str, content: bytes) -> Source:
    """The source in some bytes.

    Raises:
        ProblemsFound: CG012 where they are not UTF-8, CG013 where they are too many.
    """
    if len(content) > MAXIMUM_SIZE_BYTES:
        raise ProblemsFound([FileTooLarge(None, name, len(content), MAXIMUM_SIZE_BYTES)])
    try:
        return Source(name, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        shown = Source(name, content.decode("utf-8-sig", errors="replace"))
        place = shown.text.index("\ufffd", len(error.object[: error.start].decode("utf-8")))
        span = Span(shown, place, place + 1)
        byte = error.object[error.start]
        offset_bytes = len(content) - len(error.object) + error.start
        raise ProblemsFound([NotUtf8(span, name, byte, offset_bytes, "`\ufffd`")]) from error

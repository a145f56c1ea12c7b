"""Files that are there whole or not at all.

Receives a path and what the caller writes; guarantees that the path holds either what it held before or all of the new
content, also after a loss of power, and that nothing else is left behind. Telling a user why a file could not be
written is left to the caller.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of `path` where the block ends; an error in it leaves `path` alone.

    Raises:
        OSError: it cannot be made, written or put in place.
    """
    # Not the standard library's temporary files: those stay unreadable for everybody but their owner.
    temporary = path.parent / f".{path.name}.{token_hex(8)}"
    with temporary.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(temporary, path)  # noqa: PTH105  (one call that says what it does)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise

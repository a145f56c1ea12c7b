"""Compiled modules on disk, by content.

A key covers all that the code depends on, so an entry never goes stale. Several processes may read and write at once:
an entry is written beside its place and then renamed into it. An entry that is damaged counts as missing. A cache that
cannot be written to is no error: the work is only done again.
"""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from cgraph.core.replaced_files import replaced_file

# Raised whenever what an entry holds changes.
FORMAT = 1
VARIABLE = "CGRAPH_CACHE"


def cache_directory() -> Path:
    """$CGRAPH_CACHE, else `cgraph` in $XDG_CACHE_HOME, else in ~/.cache. It need not exist."""
    own = os.environ.get(VARIABLE)
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cgraph"


def key_of(parts: list[str]) -> str:
    """A name for the content of texts; it tells [`ab`, `c`] from [`a`, `bc`]."""
    digest = sha256()
    for part in (str(FORMAT), *parts):
        encoded = part.encode()
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()


def load(directory: Path, key: str) -> tuple[dict[str, Any], bytes] | None:
    """The facts and the code stored under a key; None where there is no entry or it is damaged."""
    try:
        header, code = (directory / f"{key}.kernel").read_bytes().split(b"\n", 1)
        facts = json.loads(header)
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict) or facts.pop("sha256", None) != _checksum(facts, code):
        return None
    return facts, code


def store(directory: Path, key: str, facts: dict[str, Any], code: bytes) -> None:
    """Stores facts (for JSON) and code under a key, whole or not at all."""
    header = json.dumps({**facts, "sha256": _checksum(facts, code)})
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        with replaced_file(directory / f"{key}.kernel") as file:
            file.write(header.encode() + b"\n" + code)


def _checksum(facts: dict[str, Any], code: bytes) -> str:
    digest = sha256(json.dumps(facts, sort_keys=True).encode())
    digest.update(code)
    return digest.hexdigest()

"""JSON of manifests: one text for one value, and reading that no text can turn against the reader.

Receives plain data or bytes from anywhere; guarantees that reading uses no more than a fixed number of nested calls and
memory in proportion to the bytes, and takes no key twice and no number that JSON does not have. What keys and values
mean is left to the codecs.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_DEPTH = 32
MOST_BYTES = 256 * 1024 * 1024

_OPENING, _CLOSING, _QUOTE, _BACKSLASH = b"[{", b"]}", b'"', b"\\"


class JsonTextError(ValueError):
    """A text is no JSON, or beyond the limits; the message says why."""


def write_json(value: Mapping[str, Any]) -> bytes:
    """The one text of a value: keys in their order, no spaces, UTF-8. Raises ValueError for NaN and infinities."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def read_json(data: bytes) -> dict[str, Any]:
    """The object in a text. Raises JsonTextError for anything else."""
    if len(data) > MOST_BYTES:
        raise JsonTextError(f"{len(data)} bytes, at most {MOST_BYTES} are read")
    depth = nesting_depth(data)
    if depth > MOST_DEPTH:
        raise JsonTextError(f"nested {depth} deep, at most {MOST_DEPTH} is read")
    try:
        value = json.loads(data.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except JsonTextError:
        raise
    except UnicodeDecodeError as error:
        raise JsonTextError(f"byte {error.start} is no UTF-8") from error
    except ValueError as error:
        raise JsonTextError(str(error)) from error
    if not isinstance(value, dict):
        raise JsonTextError("it is no object")
    return value


def nesting_depth(data: bytes) -> int:
    """An upper bound of how deep arrays and objects nest, exact for JSON; found without reading the text as JSON.

    Brackets inside strings do not count. In a text that is no JSON the bound holds for the part that a reader gets to.
    """
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == ord(_QUOTE))
    inside = np.zeros(len(codes) + 1, bool)
    inside[quotes[~_escaped(codes, quotes)]] = True
    outside = ~np.logical_xor.accumulate(inside)[:-1]
    opening, closing = (np.isin(codes, np.frombuffer(brackets, np.uint8)) for brackets in (_OPENING, _CLOSING))
    brackets = np.flatnonzero((opening | closing) & outside)
    return int(np.cumsum(np.where(opening[brackets], 1, -1)).max(initial=0))


def _escaped(codes: np.ndarray, quotes: np.ndarray) -> np.ndarray:
    """Whether an odd number of backslashes stands before each quote."""
    others = np.flatnonzero(codes != ord(_BACKSLASH))
    before = np.searchsorted(others, quotes) - 1  # the last byte before the quote that is no backslash
    last = np.where(before >= 0, others[before], -1) if len(others) else np.full(len(quotes), -1)
    return np.asarray((quotes - last - 1) % 2 == 1)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise JsonTextError(f"the key {name[:80]!r} stands twice in one object")
            seen.add(name)
    return value


def _refuse_constant(name: str) -> None:
    raise JsonTextError(f"{name} is no number of JSON")

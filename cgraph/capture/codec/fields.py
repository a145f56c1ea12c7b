"""Reading plain data that a stranger wrote: each function says what it expects and takes nothing else.

Receives values as JSON has them, with the place they stand at, e.g. `graph.planes.extent`; guarantees values of the
type and range that the caller named, or FieldError with place, expectation and what was found. What values mean
together is left to the codecs.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from math import inf, isfinite, nan
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=Enum)
Item = TypeVar("Item")

MOST_CHARACTERS = 1000  # of a name; a source's text may be longer
MOST_SHOWN = 60
LARGEST = 2**63 - 1  # of sizes and offsets in bytes
_NOT_FINITE = {"inf": inf, "-inf": -inf, "nan": nan}


class FieldError(ValueError):
    """A value is not what its place asks for.

    Args:
        place: names of fields and indices, joined by points.
        expected: in words.
        found: in words.
    """

    def __init__(self, place: str, expected: str, found: str) -> None:
        super().__init__(f"{place}: expected {expected}, found {found}")
        self.place = place
        self.expected = expected
        self.found = found


def wrong(place: str, expected: str, value: object) -> FieldError:
    """The error for a value, which is shown as far as it is short."""
    if isinstance(value, Mapping):
        found = f"an object with {len(value)} keys"
    elif isinstance(value, list | tuple):
        found = f"a list of {len(value)}"
    else:
        text = ascii(value) if not isinstance(value, int) or value.bit_length() < 8 * MOST_SHOWN else "a huge number"
        found = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return FieldError(place, expected, found)


def record(value: object, place: str, names: Sequence[str]) -> tuple[Any, ...]:
    """The values of an object with exactly these keys, in their order."""
    if not isinstance(value, dict) or value.keys() != set(names):
        if isinstance(value, dict):
            unknown = sorted(value.keys() - set(names))
            missing = [name for name in names if name not in value]
            found = f"a key {unknown[0][:MOST_SHOWN]!a}" if unknown else f"none of the name {missing[0]}"
            raise FieldError(place, f"an object with the keys {', '.join(names)}", found)
        raise wrong(place, "an object", value)
    return tuple(value[name] for name in names)


def listing(value: object, place: str, count: int | None = None, most: int | None = None) -> list[Any]:
    """A list, of a given length or of a bounded one."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise wrong(place, "a list" if count is None else f"a list of {count}", value)
    if most is not None and len(value) > most:
        raise wrong(place, f"a list of at most {most}", value)
    return value


def integer(value: object, place: str, low: int = 0, high: int = LARGEST) -> int:
    """An int in `low … high`, both included."""
    if type(value) is not int or not low <= value <= high:
        raise wrong(place, _range(low, high), value)
    return value


def integers(value: object, place: str, low: int = 0, high: int = LARGEST, count: int | None = None) -> list[int]:
    """A list of ints in `low … high`, both included, perhaps of a given length."""
    column = listing(value, place, count)
    if column and (set(map(type, column)) != {int} or min(column) < low or max(column) > high):
        for index, item in enumerate(column):
            integer(item, f"{place}.{index}", low, high)
    return column


def number_lists(value: object, place: str, count: int) -> list[tuple[int, ...]]:
    """So many lists of naturals."""
    rows = listing(value, place, count)
    if set(map(type, rows)) <= {list}:
        flat = [item for row in rows for item in row]
        if set(map(type, flat)) <= {int} and min(flat, default=0) >= 0 and max(flat, default=0) <= LARGEST:
            return [tuple(row) for row in rows]
    return [tuple(integers(row, f"{place}.{index}")) for index, row in enumerate(rows)]


def number(value: object, place: str) -> int | float:
    """An int, or a float as `number_data` writes it."""
    return value if type(value) is int else real(value, place)


def real(value: object, place: str) -> float:
    """A float as `number_data` writes it. Ints are none: a float has a point or an exponent."""
    if type(value) is float and isfinite(value):
        return value
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    raise wrong(place, "a finite float, `inf`, `-inf` or `nan`", value)


def reals(value: object, place: str, count: int | None = None) -> list[float]:
    """A list of floats."""
    return [real(item, f"{place}.{index}") for index, item in enumerate(listing(value, place, count))]


def number_data(value: float) -> int | float | str:
    """An int or a float as it stands in a manifest: JSON has no infinities and no NaN. Every NaN is one."""
    if isinstance(value, int) or isfinite(value):
        return value
    return "nan" if value != value else "inf" if value > 0 else "-inf"  # noqa: PLR0124  (only a NaN differs from itself)


def flag(value: object, place: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise wrong(place, "true or false", value)
    return value


def text(value: object, place: str, most: int | None = None) -> str:
    """A text that UTF-8 can write, perhaps of a bounded length."""
    if not isinstance(value, str) or (most is not None and len(value) > most):
        raise wrong(place, "a text" if most is None else f"a text of at most {most} characters", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise wrong(place, "a text of whole characters", value) from error
    return value


def name(value: object, place: str) -> str:
    """A text that can be printed on one line: not empty, not long, without control characters."""
    if not isinstance(value, str) or not 0 < len(value) <= MOST_CHARACTERS or not value.isprintable():
        raise wrong(place, f"a name of 1 to {MOST_CHARACTERS} printable characters", value)
    return value


def file_name(value: object, place: str) -> str:
    """The name of a file, perhaps in folders, that does not lead out of the folder at hand."""
    known = name(value, place)
    if known.startswith("/") or "\\" in known or ":" in known or {"", ".", ".."} & set(known.split("/")):
        raise wrong(place, "the name of a file that leads nowhere else", value)
    return known


def texts(value: object, place: str, check: Callable[[object, str], str], count: int | None = None) -> list[str]:
    """A list of texts, each by `name`, `file_name` or `text`."""
    return [check(item, f"{place}.{index}") for index, item in enumerate(listing(value, place, count))]


def exactly(value: object, place: str, expected: str) -> None:
    """One text and no other."""
    if value != expected:
        raise wrong(place, f"`{expected}`", value)


def choice(kind: type[Kind], value: object, place: str, among: Collection[Kind] | None = None) -> Kind:
    """A member of an enumeration by its value."""
    members = list(kind) if among is None else list(among)
    for member in members:
        if type(member.value) is type(value) and member.value == value:
            return member
    raise wrong(place, f"one of {', '.join(str(member.value) for member in members)}", value)


def choices(
    kind: type[Kind], value: object, place: str, count: int, among: Collection[Kind] | None = None
) -> list[Kind]:
    """A list of members of an enumeration by their values, which are texts."""
    members = {member.value: member for member in (kind if among is None else among)}
    column = listing(value, place, count)
    if not all(isinstance(item, str) and item in members for item in column):
        for index, item in enumerate(column):
            choice(kind, item, f"{place}.{index}", among)
    return [members[item] for item in column]


def distinct(values: Sequence[str], place: str, what: str) -> None:
    """Each text stands once."""
    if len(set(values)) < len(values):
        seen: set[str] = set()
        for index, item in enumerate(values):
            if item in seen:
                raise wrong(f"{place}.{index}", f"a name that no other {what} has", item)
            seen.add(item)


def _range(low: int, high: int) -> str:
    if high == LARGEST:
        return f"an int of at least {low}" if low else "a natural number below 2^63"
    return f"an int from {low} to {high}" if low <= high else "nothing, for there is nothing to name"

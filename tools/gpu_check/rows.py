"""What a step found: rows, each with a name, a status, a few words and numbers, and their form in JSON."""

import json
from enum import Enum
from typing import Any

from attrs import field, frozen


class Status(Enum):
    """How a row ended. A note is for information; only `FAILED` fails the whole check."""

    OK = "ok"
    FAILED = "FAILED"
    SKIPPED = "skipped"
    NOTE = "note"


@frozen
class Row:
    """One finding.

    Args:
        name: what was looked at.
        detail: what was found, in words.
        numbers: the same for programs; names have units.
    """

    name: str
    status: Status
    detail: str = ""
    numbers: dict[str, Any] = field(factory=dict)


def judged(name: str, passed: bool, detail: str = "", **numbers: Any) -> Row:
    """A row that is ok or failed."""
    return Row(name, Status.OK if passed else Status.FAILED, detail, numbers)


def to_json(row: Row) -> str:
    """A row on one line. Numbers that JSON does not know, such as infinity, become text."""
    numbers = {name: _plain(value) for name, value in row.numbers.items()}
    return json.dumps({"name": row.name, "status": row.status.value, "detail": row.detail, "numbers": numbers})


def from_json(line: str) -> Row:
    """The row of a line that `to_json` wrote. Raises ValueError for any other."""
    data = json.loads(line)
    return Row(data["name"], Status(data["status"]), data["detail"], data["numbers"])


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not -1e300 < value < 1e300:
        return str(value)
    return value

"""Which scratch planes lie on the same bytes of the arena.

Receives a view with a memory plan; a view without one has nothing to tell. Names of one family are told together.
"""

from collections.abc import Sequence

from cgraph.view.explaining.model import Table, table
from cgraph.view.model import View

MOST_NAMES = 6


def scratch_table(view: View, planes: Sequence[int]) -> tuple[Table, ...]:
    """For each of some planes that lie in the arena: where, and who shares its bytes."""
    rows = []
    for plane in planes:
        offset = view.planes[plane].offset
        if offset is not None:
            others = sharers(view, plane)
            rows.append(
                (
                    view.planes[plane].name,
                    f"{offset} to {offset + view.planes[plane].size_bytes}",
                    names_text(view, others) if others else "nobody",
                )
            )
    return table("places in the arena", ("plane", "bytes", "shared with"), rows)


def sharers(view: View, plane: int) -> list[int]:
    """The other planes that use some of a plane's bytes at other times."""
    mine = view.planes[plane]
    if mine.offset is None:
        return []
    stop = mine.offset + mine.size_bytes
    return [
        number
        for number, other in enumerate(view.planes)
        if number != plane
        and other.offset is not None
        and other.offset < stop
        and mine.offset < other.offset + other.size_bytes
    ]


def names_text(view: View, planes: Sequence[int]) -> str:
    """Names of planes; those of one family, of which there are several, as `family (3 planes)`."""
    families: dict[str, list[str]] = {}
    for plane in planes:
        families.setdefault(view.planes[plane].family, []).append(view.planes[plane].name)
    texts = [names[0] if len(names) == 1 else f"{family} ({len(names)} planes)" for family, names in families.items()]
    more = f" and {len(texts) - MOST_NAMES} more" if len(texts) > MOST_NAMES else ""
    return ", ".join(texts[:MOST_NAMES]) + more

"""Byte ranges of planes: what is missing, what they overlap in, and how they are printed."""

from collections.abc import Iterable, Iterator

from cgraph.graph.model import Plane

Range = tuple[int, int]


def missing_ranges(start: int, stop: int, covered: Iterable[Range]) -> Iterator[Range]:
    """The maximal ranges of `start … stop` that no covered range reaches, in order."""
    reached = start
    for first, end in sorted(covered):
        if reached >= stop:
            return
        if first > reached:
            yield reached, min(first, stop)
        reached = max(reached, end)
    if reached < stop:
        yield reached, stop


def overlap(first: Range, second: Range) -> Range | None:
    """The bytes that both ranges hold, or None."""
    start, stop = max(first[0], second[0]), min(first[1], second[1])
    return (start, stop) if start < stop else None


def describe_range(plane: Plane, start: int, stop: int) -> str:
    """Half-open elements and bytes, as `elements [4, 8), bytes [16, 32)`; an element counts if any of it does."""
    size = plane.element.size_bytes
    return f"elements [{start // size}, {-(-stop // size)}), bytes [{start}, {stop})"

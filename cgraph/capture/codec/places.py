"""Sources, spans and origins as tables: each source and each step of an origin stands once.

Receives spans and origins as commands hold them; guarantees that equal graphs give equal tables (rows stand in the
order of first use), and when read, that spans lie inside their sources and that every step's parent stands before it,
so that no chain has a cycle. A source is stored by its base name: where its file lay is nobody's business.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import define, field, frozen

from cgraph.capture.codec import fields
from cgraph.core.origins import Origin
from cgraph.source import Source, Span

SOURCE_KEYS = ("name", "text")
SPAN_PARTS = ("source", "start", "stop")
ORIGIN_KEYS = ("source", "start", "stop", "text", "parent")
NOTHING = -1  # stands for no parent, no phase, no plane
# A span from its parts without a call in Python: a bundle has many thousands.
_SPAN_OF: Callable[[tuple[Source, int, int]], Span] = partial(tuple.__new__, Span)


@define(eq=False)
class PlacesWriter:
    """Collects places and gives their rows."""

    _sources: dict[int, int] = field(factory=dict)
    _kept: list[Source] = field(factory=list)
    _texts: dict[str, int] = field(factory=dict)
    _origins: dict[int, int] = field(factory=dict)
    _rows: tuple[list[int], ...] = field(factory=lambda: tuple([] for _ in ORIGIN_KEYS))

    def span(self, span: Span) -> list[int]:
        """Row of the source, start and stop."""
        source = span.source
        row = self._sources.get(id(source))
        if row is None:
            row = self._sources[id(source)] = len(self._kept)
            self._kept.append(source)
        return [row, span.start, span.stop]

    def origin(self, origin: Origin) -> int:
        """Row of the last step; the steps before it get rows first."""
        steps = []
        step: Origin | None = origin
        while step is not None and id(step) not in self._origins:
            steps.append(step)
            step = step.parent
        row = NOTHING if step is None else self._origins[id(step)]
        for new in reversed(steps):
            text = self._texts.setdefault(new.text, len(self._texts))
            for column, value in zip(self._rows, (*self.span(new.span), text, row), strict=True):
                column.append(value)
            row = self._origins[id(new)] = len(self._rows[0]) - 1
        return row

    def data(self) -> dict[str, Any]:
        """The tables `sources`, `texts` and `origins`, once all places were given."""
        return {
            "sources": [{"name": base_name(source.name), "text": source.text} for source in self._kept],
            "texts": list(self._texts),
            "origins": dict(zip(ORIGIN_KEYS, self._rows, strict=True)),
        }


@frozen(eq=False)
class Places:
    """Tables that were read."""

    sources: tuple[Source, ...] = field(repr=False)
    origins: tuple[Origin, ...] = field(repr=False)

    def span(self, value: object, place: str) -> Span:
        """A span by row of its source, start and stop. Raises FieldError."""
        row, start, stop = fields.listing(value, place, 3)
        source = self.sources[fields.integer(row, f"{place}.0", 0, len(self.sources) - 1)]
        fields.integer(stop, f"{place}.2", 0, len(source.text))
        return Span(source, fields.integer(start, f"{place}.1", 0, stop), stop)

    def column(self, value: object, place: str, count: int) -> list[Span]:
        """A list of so many spans. Raises FieldError."""
        rows = fields.number_lists(value, place, count)
        known = len(self.sources)
        lengths = [len(source.text) for source in self.sources]
        for index, row in enumerate(rows):
            if len(row) != len(SPAN_PARTS) or row[0] >= known or not row[1] <= row[2] <= lengths[row[0]]:
                self.span(list(row), f"{place}.{index}")
        return [Span(self.sources[source], start, stop) for source, start, stop in rows]


def read_places(source_rows: object, text_rows: object, origin_rows: object, place: str) -> Places:
    """The tables `sources`, `texts` and `origins` of the object at a place. Raises FieldError."""
    sources = []
    for index, row in enumerate(fields.listing(source_rows, f"{place}.sources")):
        here = f"{place}.sources.{index}"
        name, text = fields.record(row, here, SOURCE_KEYS)
        sources.append(Source(_source_name(name, f"{here}.name"), fields.text(text, f"{here}.text")))
    texts = fields.texts(text_rows, f"{place}.texts", fields.text)
    return Places(tuple(sources), _read_origins(origin_rows, f"{place}.origins", sources, texts))


def base_name(name: str) -> str:
    """The last part of a path."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def _source_name(value: object, place: str) -> str:
    name = fields.name(value, place)
    if base_name(name) != name:
        raise fields.wrong(place, "a name without a folder", value)
    return name


def _read_origins(value: object, place: str, sources: list[Source], texts: list[str]) -> tuple[Origin, ...]:
    columns = fields.record(value, place, ORIGIN_KEYS)
    count = len(fields.listing(columns[0], f"{place}.source"))
    limits = (len(sources) - 1, fields.LARGEST, fields.LARGEST, len(texts) - 1, count - 1)
    source_rows, starts, stops, text_rows, parents = (
        fields.integers(column, f"{place}.{key}", NOTHING if key == "parent" else 0, limit, count)
        for key, column, limit in zip(ORIGIN_KEYS, columns, limits, strict=True)
    )
    lengths = [len(source.text) for source in sources]
    for row, (source, start, stop) in enumerate(zip(source_rows, starts, stops, strict=True)):
        if not start <= stop <= lengths[source]:
            raise fields.wrong(f"{place}.stop.{row}", f"a place in a text of {lengths[source]} characters", stop)
    late = next((row for row, parent in enumerate(parents) if parent >= row), None)
    if late is not None:
        raise fields.wrong(f"{place}.parent.{late}", "an earlier step", parents[late])
    made: list[Origin] = []
    spans = map(_SPAN_OF, zip([sources[row] for row in source_rows], starts, stops, strict=True))
    for span, text, parent in zip(spans, text_rows, parents, strict=True):
        made.append(Origin(span, texts[text], None if parent == NOTHING else made[parent]))
    return tuple(made)

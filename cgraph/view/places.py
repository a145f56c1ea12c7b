"""Collects the texts that a graph comes from, and the ways to its commands, as tables.

Receives spans and origins one after the other; guarantees that each is in the tables once, parents before children.
Names of texts are base names, with as many folders before them as tell them apart, so that a view does not say where a
program lies on somebody's disk.
"""

from cgraph.core.origins import Origin
from cgraph.source import Source, Span
from cgraph.view.model import ViewOrigin, ViewSource


class Places:
    """Tables that grow while a view is made."""

    def __init__(self) -> None:
        self._sources: dict[Source, int] = {}
        self._origins: dict[Origin, int] = {}
        self._rows: list[ViewOrigin] = []

    def origin(self, origin: Origin) -> int:
        """The index of an origin; its parents come before it."""
        missing: list[Origin] = []
        step: Origin | None = origin
        while step is not None and step not in self._origins:
            missing.append(step)
            step = step.parent
        parent = None if step is None else self._origins[step]
        for new in reversed(missing):
            parent = self._origins[new] = self._add(parent, new.span, new.text)
        return self._origins[origin]

    def declaration(self, span: Span, text: str) -> int:
        """The index of an origin for one place alone."""
        return self._add(None, span, text)

    def _add(self, parent: int | None, span: Span, text: str) -> int:
        source = self._sources.setdefault(span.source, len(self._sources))
        stop = Span(span.source, span.stop, span.stop)
        self._rows.append(ViewOrigin(parent, source, span.line, span.column, stop.line, stop.column, text))
        return len(self._rows) - 1

    @property
    def sources(self) -> tuple[Source, ...]:
        """The texts, by index."""
        return tuple(self._sources)

    def tables(self) -> tuple[tuple[ViewSource, ...], tuple[ViewOrigin, ...]]:
        """The texts and the origins."""
        names = short_names([source.name for source in self._sources])
        sources = tuple(ViewSource(name, source.text) for name, source in zip(names, self._sources, strict=True))
        return sources, tuple(self._rows)


def short_names(names: list[str]) -> list[str]:
    """The shortest ends of paths, from a folder's name on, that differ where the paths do."""
    parts = [name.replace("\\", "/").split("/") for name in names]
    lengths = [1] * len(names)
    while True:
        shown = ["/".join(path[-length:]) for path, length in zip(parts, lengths, strict=True)]
        users: dict[str, set[str]] = {}
        for short, name in zip(shown, names, strict=True):
            users.setdefault(short, set()).add(name)
        longer = [
            place for place, short in enumerate(shown) if len(users[short]) > 1 and lengths[place] < len(parts[place])
        ]
        if not longer:
            return shown
        for place in longer:
            lengths[place] += 1

"""Names of an imported graph's planes.

Receives the allocations and the names that the caller gave to addresses; guarantees a plane for each allocation and
for each named part. A name without a size at an allocation's first byte names all of it; elsewhere it reaches to the
next named address, or to the allocation's end.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from cgraph.backends.cuda.imported.model import ImportedPlane, MemoryKind
from cgraph.backends.cuda.imported.problems_imported import NameUnfit
from cgraph.backends.cuda.imported.reading_memory import MemoryTable
from cgraph.diagnostics import Problem

Names: TypeAlias = Mapping[int, str | tuple[str, int]]


MOST_CHARACTERS = 1000


def name_planes(table: MemoryTable, names: Names) -> tuple[tuple[ImportedPlane, ...], tuple[Problem, ...]]:
    """The planes, and the names that do not fit (CG857)."""
    problems: list[Problem] = []
    named: dict[int, dict[int, tuple[str, int | None]]] = defaultdict(dict)
    for address, given in names.items():
        name, size_bytes = (given, None) if isinstance(given, str) else given
        if not 0 < len(name) <= MOST_CHARACTERS or not name.isprintable():
            problems.append(NameUnfit(None, name, f"a name has 1 to {MOST_CHARACTERS} printable characters"))
            continue
        try:
            place = table.place(int(address))
        except KeyError:
            problems.append(NameUnfit(None, name, "the graph touches no allocation at its address"))
            continue
        block = table.blocks[place.allocation]
        if size_bytes is not None and not 0 < size_bytes <= block.size_bytes - place.offset:
            reason = f"{size_bytes} bytes from byte {place.offset} of an allocation of {block.size_bytes}"
            problems.append(NameUnfit(None, name, reason))
            continue
        named[place.allocation][place.offset] = (name, size_bytes)
    wholes, parts = [], []
    for number, block in enumerate(table.blocks):
        words = "allocation" if block.memory is MemoryKind.DEVICE else f"{block.memory.value} allocation"
        whole = f"{words} {number} ({block.size_bytes} bytes)"
        offsets = sorted(named[number])
        for offset, following in zip(offsets, [*offsets, block.size_bytes][1:], strict=True):
            name, size_bytes = named[number][offset]
            if offset == 0 and size_bytes in (None, block.size_bytes):
                whole = name
            else:
                parts.append(ImportedPlane(name, number, offset, size_bytes or following - offset))
        wholes.append(ImportedPlane(whole, number, 0, block.size_bytes))
    planes = (*wholes, *parts)
    counts = Counter(plane.name for plane in planes)
    problems.extend(NameUnfit(None, name, "it is given twice") for name, count in counts.items() if count > 1)
    return planes, tuple(problems)

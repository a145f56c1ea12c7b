"""Whether a device has the memory that a planned graph needs, before any of it is asked for.

Receives a graph, its memory plan and what a device has; guarantees a problem that names the largest planes where it is
too little. A system that promises more memory than it has is not asked: it would end the process at the first use.
"""

import os
from collections.abc import Iterator, Mapping
from heapq import nlargest
from operator import itemgetter
from pathlib import Path

from cgraph.backends.problems_memory import NotEnoughMemory
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan

MOST_NAMED = 4
# The emulated device knows of every byte of its memory whether it was written, in another byte.
HOST_BYTES_PER_EMULATED_BYTE = 2
_KIB = 1024
_INFO = Path("/proc/meminfo")
# Limits of a container, under the two versions of Linux's control groups; `max` or a huge number for none.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def check_memory(graph: CommandGraph, plan: MemoryPlan, device: str, available_bytes: int | None) -> None:
    """Raises ProblemsFound (CG718) where a graph needs more than there is.

    Args:
        graph: whose planes will be allocated.
        plan: of the graph.
        device: its name, e.g. `host`.
        available_bytes: what may be allocated there now; None where nobody knows.
    """
    problem = not_enough_memory(graph, plan, device, available_bytes)
    if available_bytes is not None and problem.asked_bytes > available_bytes:
        raise ProblemsFound([problem])


def not_enough_memory(
    graph: CommandGraph, plan: MemoryPlan, device: str, available_bytes: int | None
) -> NotEnoughMemory:
    """The problem, at the declaration of the largest plane; arguments as of `check_memory`."""
    outside = (plane.size_bytes for plane, offset in zip(graph.planes, plan.offsets, strict=True) if offset is None)
    largest = nlargest(MOST_NAMED, graph.planes, key=lambda plane: plane.size_bytes)
    return NotEnoughMemory(
        largest[0].span if largest else None,
        plan.size_bytes + sum(outside),
        device,
        available_bytes,
        tuple((plane.name, plane.size_bytes) for plane in largest),
        plan.size_bytes,
        len(graph.planes),
    )


def check_sizes(sizes_bytes: Mapping[str, int], device: str, available_bytes: int | None) -> None:
    """As `check_memory`, for planes of no program: sizes by name. Raises ProblemsFound (CG718)."""
    asked_bytes = sum(sizes_bytes.values())
    if available_bytes is not None and asked_bytes > available_bytes:
        largest = tuple(nlargest(MOST_NAMED, sizes_bytes.items(), key=itemgetter(1)))
        problem = NotEnoughMemory(None, asked_bytes, device, available_bytes, largest, 0, len(sizes_bytes))
        raise ProblemsFound([problem])


def emulated_available_bytes() -> int | None:
    """Memory that this machine can lend to an emulated device; None where the system doesn't say."""
    available_bytes = host_available_bytes()
    return None if available_bytes is None else available_bytes // HOST_BYTES_PER_EMULATED_BYTE


def host_available_bytes() -> int | None:
    """Memory of this machine that new work may take without swapping others out; None where the system doesn't say."""
    found = [*_from_linux(), *(limit for path in _LIMITS if (limit := _read_limit(path)) is not None)]
    if found:
        return min(found)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _from_linux() -> Iterator[int]:
    """Available memory and free swap space together."""
    try:
        lines = _INFO.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if rest.split()}
    if "MemAvailable" in sizes:
        yield _KIB * (sizes["MemAvailable"] + sizes.get("SwapFree", 0))


def _read_limit(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdecimal() else None

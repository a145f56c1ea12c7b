"""The text form of a memory plan: one line a plane in the arena, by offset.

Receives a graph and its plan; guarantees the same text for the same plan.
"""

from collections.abc import Iterator

from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan


def memory_text(graph: CommandGraph, plan: MemoryPlan) -> str:
    """The sizes, in bytes, then every plane with its half-open range in the arena."""
    return "".join(f"{line}\n" for line in _lines(graph, plan))


def _lines(graph: CommandGraph, plan: MemoryPlan) -> Iterator[str]:
    yield (
        f"arena {plan.size_bytes} bytes, lower bound {plan.lower_bound_bytes}, without sharing {plan.unshared_bytes}, "
        f"outside {plan.persistent_bytes}"
    )
    placed = [(offset, plane) for plane, offset in enumerate(plan.offsets) if offset is not None]
    for offset, plane in sorted(placed):
        yield f"plane {plane} {graph.planes[plane].name} at [{offset}:{offset + graph.planes[plane].size_bytes}]"

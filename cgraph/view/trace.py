"""A timed run as a trace for Perfetto and Chrome: phases as nested slices, in them the commands.

Receives a timed view; guarantees the Trace Event Format ("JSON Object Format", complete events `X`), times in
microseconds. Commands stand one behind the other in the view's sequence, as a backend that measures each one runs them,
so a phase takes exactly the sum of what is in it: times are summed in whole nanoseconds. Source of the format: Google's
document "Trace Event Format".
"""

import json
from collections.abc import Iterator
from typing import Any

from attrs import define

from cgraph.diagnostics import ProblemsFound
from cgraph.view.captions import argument_text, headline, line, place_text
from cgraph.view.model import View
from cgraph.view.problems import NotTimed

PROCESS, THREAD = 1, 1
NAME_LENGTH = 200


def trace_text(view: View) -> str:
    """The trace as JSON.

    Raises:
        ProblemsFound: the view has no measured times (CG883).
    """
    if not view.timed:
        raise ProblemsFound([NotTimed(None, line(view.title))])
    data = {"displayTimeUnit": "ns", "otherData": {"title": headline(view)}, "traceEvents": list(_events(view))}
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


@define(eq=False)
class _Running:
    """A phase that has begun."""

    phase: int
    start_ns: int


def _events(view: View) -> Iterator[dict[str, Any]]:
    yield _fact("process_name", headline(view))
    yield _fact("thread_name", f"commands in {view.order} order" if view.order else "commands")
    now_ns = 0
    running: list[_Running] = []
    changes = _memory_changes(view)
    in_use_bytes = 0
    for position, number in enumerate(view.sequence):
        node = view.nodes[number]
        if position in changes:
            in_use_bytes += changes[position]
            yield {
                "name": "scratch in use",
                "ph": "C",
                "ts": now_ns / 1e3,
                "pid": PROCESS,
                "args": {"bytes": in_use_bytes},
            }
        chain = _chain(view, node.phase)
        kept = 0
        while kept < min(len(chain), len(running)) and running[kept].phase == chain[kept]:
            kept += 1
        yield from _ended(view, running, kept, now_ns)
        running += [_Running(phase, now_ns) for phase in chain[kept:]]
        if node.elapsed_ms is not None:
            length_ns = round(1e6 * node.elapsed_ms)
            yield _slice(f"{number} {node.label}", "command", now_ns, length_ns, _arguments(view, number))
            now_ns += length_ns
    yield from _ended(view, running, 0, now_ns)


def _ended(view: View, running: list[_Running], kept: int, now_ns: int) -> Iterator[dict[str, Any]]:
    """Ends the phases inside the first `kept` ones, innermost first."""
    while len(running) > kept:
        ended = running.pop()
        phase = view.phases[ended.phase]
        facts = {"phase": line(phase.name, NAME_LENGTH)}
        yield _slice(phase.title or phase.name, "phase", ended.start_ns, now_ns - ended.start_ns, facts)


def _chain(view: View, phase: int | None) -> list[int]:
    """The phases around a node, outermost first."""
    chain = []
    while phase is not None:
        chain.append(phase)
        phase = view.phases[phase].parent
    return chain[::-1]


def _memory_changes(view: View) -> dict[int, int]:
    """By how much the bytes in use of planes in the arena change before each position of the sequence."""
    changes: dict[int, int] = {}
    for lifetime in view.lifetimes:
        plane = view.planes[lifetime.plane]
        if plane.offset is not None:
            changes[lifetime.first] = changes.get(lifetime.first, 0) + plane.size_bytes
            changes[lifetime.last + 1] = changes.get(lifetime.last + 1, 0) - plane.size_bytes
    return changes


def _arguments(view: View, number: int) -> dict[str, Any]:
    """What a click on a command's slice shows."""
    node = view.nodes[number]
    found: dict[str, Any] = {
        "grid": node.grid,
        "block": node.block,
        "read bytes": node.read_bytes,
        "written bytes": node.written_bytes,
        "operations": node.operations,
        "estimate µs": node.cost_us,
        "from": None if node.origin is None else place_text(view, node.origin),
        "arguments": [line(argument_text(view, argument), NAME_LENGTH) for argument in node.arguments],
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


def _slice(name: str, category: str, start_ns: int, length_ns: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": line(name, NAME_LENGTH),
        "cat": category,
        "ph": "X",
        "ts": start_ns / 1e3,
        "dur": length_ns / 1e3,
        "pid": PROCESS,
        "tid": THREAD,
        "args": arguments,
    }


def _fact(kind: str, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": PROCESS, "tid": THREAD, "args": {"name": name}}

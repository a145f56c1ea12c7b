"""What `cgraph run` says: what ran, time per phase, memory, norms, and the error against a reference.

Receives values and gives tables; nothing here runs or computes planes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from rich.table import Table

from cgraph.graph.model import CommandGraph, Phase
from cgraph.memory.model import MemoryPlan
from cgraph.pipeline import Compiled

UNPHASED = "(no phase)"


@frozen
class PhaseTime:
    """Time spent in one phase, over all its runs and without the phases inside it."""

    title: str
    depth: int
    commands: int
    elapsed_ms: float


def phase_times(graph: CommandGraph, elapsed_ms: Sequence[float]) -> tuple[PhaseTime, ...]:
    """Times by declared phase in the order of first entry; phases with one name at one depth are added up.

    Args:
        graph: that ran.
        elapsed_ms: of each node, by index.
    """
    keys: dict[tuple[str, int], list[float]] = {}
    key_of = {phase.index: (phase.title, _depth(graph, phase)) for phase in graph.phases}
    for phase in graph.phases:
        keys.setdefault(key_of[phase.index], [])
    for node in graph.nodes:
        key = (UNPHASED, 0) if node.phase is None else key_of[node.phase]
        keys.setdefault(key, []).append(elapsed_ms[node.index])
    return tuple(PhaseTime(title, depth, len(times), sum(times)) for (title, depth), times in keys.items())


def _depth(graph: CommandGraph, phase: Phase) -> int:
    depth = 0
    parent = phase.parent
    while parent is not None:
        depth += 1
        parent = graph.phases[parent].parent
    return depth


def headline(file: str, compiled: Compiled, runs: int) -> str:
    """One line on what ran."""
    graph = compiled.graph
    times = "" if runs == 1 else f", {runs} runs"
    return (
        f"{file}: {graph.entry}, {len(graph.nodes)} commands on {len(graph.planes)} planes, "
        f"half = {graph.half.value}, {compiled.schedule.order.value} order{times}"
    )


def parameter_line(graph: CommandGraph) -> str:
    """All parameters of the build."""
    return ", ".join(f"{name} = {value}" for name, value in graph.parameters)


def memory_line(plan: MemoryPlan) -> str:
    """Peak, bound and what sharing saved."""
    return (
        f"memory: scratch {megabytes(plan.size_bytes)} (lower bound {megabytes(plan.lower_bound_bytes)}, "
        f"without sharing {megabytes(plan.unshared_bytes)}), other planes {megabytes(plan.persistent_bytes)}"
    )


def megabytes(size_bytes: int) -> str:
    """A size for people, in binary units."""
    return f"{size_bytes / 2**20:.2f} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:.1f} KiB"


def time_table(times: Iterable[PhaseTime], total_ms: float) -> Table:
    """Phases, indented as they nest, with their share of the time of all commands."""
    table = _table("phase", "commands", "ms", "%")
    for row in times:
        share = 100 * row.elapsed_ms / total_ms if total_ms else 0.0
        commands = str(row.commands) if row.commands else ""
        elapsed = f"{row.elapsed_ms:.3f}" if row.commands else ""
        table.add_row("  " * row.depth + row.title, commands, elapsed, f"{share:.1f}" if row.commands else "")
    table.add_row("all commands", "", f"{total_ms:.3f}", "")
    return table


def norm_table(results: Mapping[str, NDArray[Any]]) -> Table:
    """Euclidean norm of each result, computed in f64."""
    table = _table("result", "elements", "norm")
    for name, array in results.items():
        wide = array.astype(np.float64)
        table.add_row(name, str(array.size), f"{float(np.linalg.norm(wide)):.6g}")
    return table


def error_table(rows: Iterable[tuple[str, float, float]]) -> Table:
    """Relative error of each result against its reference, beside the bound that it must keep."""
    table = _table("result", "relative error", "bound", "")
    for name, error, bound in rows:
        table.add_row(name, f"{error:.3g}", f"{bound:.3g}", "ok" if error <= bound else "TOO LARGE")
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table

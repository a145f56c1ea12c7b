"""What `cgraph run` says: what ran, time per phase, memory, norms, and the error against a reference.

Receives values and gives tables; nothing here runs or computes planes.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cgraph.graph.model import CommandGraph, Phase
from cgraph.memory.model import MemoryPlan
from cgraph.models.comparison import Comparison
from cgraph.schedule.model import Schedule

UNPHASED = "(no phase)"


class Built(Protocol):
    """A planned graph: a compiled program or a bundle."""

    @property
    def graph(self) -> CommandGraph:
        """What ran."""

    @property
    def schedule(self) -> Schedule:
        """In which order."""

    @property
    def plan(self) -> MemoryPlan:
        """In which memory."""


@frozen(eq=False)
class RunReport:
    """What there is to say about a run.

    Args:
        built: what ran. repeat: how often.
        elapsed_ms: of each node, by index.
        results: arrays by plane name. forward: the program that was run first, if one was.
        comparisons: of results with `reference`, which is in words; empty where nothing was compared.
        out: the file that results were written to.
    """

    file: str
    built: Built
    repeat: int
    elapsed_ms: tuple[float, ...]
    results: Mapping[str, NDArray[Any]]
    forward: str | None
    comparisons: tuple[Comparison, ...]
    reference: str
    out: str | None


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


def headline(report: RunReport) -> str:
    """One line on what ran."""
    graph = report.built.graph
    times = "" if report.repeat == 1 else f", medians of {report.repeat} runs"
    return (
        f"{report.file}: {graph.entry}, {len(graph.nodes)} commands on {len(graph.planes)} planes, "
        f"half = {graph.half.value}, {report.built.schedule.order.value} order{times}"
    )


def memory_line(plan: MemoryPlan) -> str:
    """Peak, bound and what sharing saved."""
    return (
        f"memory: scratch {megabytes(plan.size_bytes)} (lower bound {megabytes(plan.lower_bound_bytes)}, "
        f"without sharing {megabytes(plan.unshared_bytes)}), other planes {megabytes(plan.persistent_bytes)}"
    )


def megabytes(size_bytes: int) -> str:
    """A size for people, in binary units."""
    return f"{size_bytes / 2**20:.2f} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:.1f} KiB"


def print_report(console: Console, report: RunReport) -> None:
    """The report as text and tables."""
    graph = report.built.graph
    console.print(headline(report), markup=False)
    console.print("  " + ", ".join(f"{name} = {value}" for name, value in graph.parameters), markup=False)
    if report.forward is not None:
        console.print(f"  saved planes from {report.forward}, which was run first", markup=False)
    console.print()
    console.print(_time_table(phase_times(graph, report.elapsed_ms), sum(report.elapsed_ms)))
    console.print()
    console.print(memory_line(report.built.plan), markup=False)
    console.print()
    console.print(_result_table(report))
    if report.comparisons:
        bound = max(row.bound for row in report.comparisons)
        kept = "all within" if all(row.holds for row in report.comparisons) else "NOT all within"
        verdict = "" if math.isinf(bound) else f": {kept} the bound {bound:.3g}"
        console.print(f"compared with {report.reference}{verdict}", markup=False)
    if report.out is not None:
        console.print(f"{len(report.results)} results written to {report.out}", markup=False)


def report_data(report: RunReport) -> dict[str, Any]:
    """The report as plain data."""
    graph, plan = report.built.graph, report.built.plan
    errors = {row.name: row for row in report.comparisons}
    return {
        "file": report.file,
        "entry": graph.entry,
        "half": graph.half.value,
        "order": report.built.schedule.order.value,
        "parameters": dict(graph.parameters),
        "commands": len(graph.nodes),
        "forward": report.forward,
        "repeat": report.repeat,
        "elapsed_ms": sum(report.elapsed_ms),
        "phases": [
            {"title": row.title, "depth": row.depth, "commands": row.commands, "elapsed_ms": row.elapsed_ms}
            for row in phase_times(graph, report.elapsed_ms)
        ],
        "memory": {
            "scratch_bytes": plan.size_bytes,
            "lower_bound_bytes": plan.lower_bound_bytes,
            "unshared_bytes": plan.unshared_bytes,
            "persistent_bytes": plan.persistent_bytes,
        },
        "results": [
            {
                "name": name,
                "shape": list(array.shape),
                "norm": _finite(_norm(array)),
                "relative_error": _finite(errors[name].error) if name in errors else None,
                "bound": _finite(errors[name].bound) if name in errors else None,
            }
            for name, array in report.results.items()
        ],
        "reference": report.reference or None,
    }


def _time_table(times: Iterable[PhaseTime], total_ms: float) -> Table:
    """Phases, indented as they nest, with their share of the time of all commands."""
    table = _table("phase", "commands", "ms", "%")
    for row in times:
        share = 100 * row.elapsed_ms / total_ms if total_ms else 0.0
        cells = (str(row.commands), f"{row.elapsed_ms:.3f}", f"{share:.1f}") if row.commands else ("", "", "")
        table.add_row("  " * row.depth + escape(row.title), *cells)
    table.add_row("all commands", "", f"{total_ms:.3f}", "")
    return table


def _result_table(report: RunReport) -> Table:
    """Norm of each result, and its error where it was compared."""
    errors = {row.name: row for row in report.comparisons}
    table = _table("result", "elements", "norm", *(("relative error", "") if errors else ()))
    for name, array in report.results.items():
        cells = [str(array.size), f"{_norm(array):.6g}"]
        if errors:
            row = errors.get(name)
            verdict = "" if row is None or math.isinf(row.bound) else "ok" if row.holds else "TOO LARGE"
            cells += ["" if row is None else f"{row.error:.2e}", verdict]
        table.add_row(escape(name), *cells)
    return table


def _norm(array: NDArray[Any]) -> float:
    """Euclidean, in f64."""
    return float(np.linalg.norm(array.astype(np.float64).ravel()))


def _finite(number: float) -> float | None:
    """JSON has no infinity and no NaN."""
    return number if math.isfinite(number) else None


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table

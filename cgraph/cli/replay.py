"""`cgraph replay`: runs a bundle and says what it did; compares it with the recorded run."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import click
from attrs import frozen
from rich.console import Console

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture.imported.recording import find_imported_difference
from cgraph.capture.model import Bundle, Recording
from cgraph.capture.problems_replay import NoRecording, PlanesWithoutContents
from cgraph.capture.recording import record
from cgraph.capture.replay import Replay
from cgraph.capture.tolerances import derived_tolerance
from cgraph.capture.verification import find_difference, same_kind
from cgraph.cli.options import EXIT_PROBLEMS, exit_with, report_problems
from cgraph.cli.run import PIPED_COLUMNS, measure, read_device
from cgraph.cli.run_report import RunReport, print_report, report_data
from cgraph.core.roles import Role
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.report import to_data
from cgraph.graph.purposes import given_planes
from cgraph.models.comparison import Comparison, compare
from cgraph.models.inputs import Arrays, fit_inputs
from cgraph.models.plane_files import load_planes, save_planes


@click.command(
    epilog="Exit code 0: it ran; 1: errors, or it differs from the recording; 2: wrong usage, or a file cannot be read."
)
@click.argument("file")
@click.option("--device", "on", default="host", show_default=True, help="host, emulated, cuda or cuda:N.")
@click.option("--inputs", metavar="FILE", help="Other values of planes, .safetensors or .npz.")
@click.option("--out", metavar="FILE", help="Where the results go, .safetensors or .npz.")
@click.option(
    "--times",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs; times are medians, of an imported graph means.",
)
@click.option("--verify", is_flag=True, help="Compare with the recorded run: bit for bit on the same kind of device.")
@click.option(
    "--tolerance", type=click.FloatRange(min=0), help="Relative error that --verify allows. [default: from the types]"
)
@click.option("--record", "kept", metavar="FILE", help="Write the last run as a bundle of its own, for --verify.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def replay(
    file: str,
    on: str,
    inputs: str | None,
    out: str | None,
    times: int,
    verify: bool,
    tolerance: float | None,
    kept: str | None,
    as_json: bool,
) -> None:
    """Run the bundle FILE, which `cgraph save` or a recording made. Neither the program nor a compiler is needed.

    Planes begin with the bundle's contents. With --verify the run is compared with the recorded one; on another kind of
    device than it was recorded on, or with --tolerance, by the relative error of each result.
    """
    device = read_device(on)
    if verify and inputs is not None:
        raise click.UsageError("--verify compares a run of the recorded inputs: leave --inputs out")
    if tolerance is not None and not verify:
        raise click.UsageError("--tolerance belongs to --verify")
    try:
        arrays = {} if inputs is None else load_planes(Path(inputs))
        with Replay(file, str(device)) as running:
            bundle = running.bundle
            if isinstance(bundle, ImportedGraph):
                compared = _verify_imported(running, bundle, file, tolerance) if verify else None
                _replay_imported(running, bundle, file, arrays, out, times, kept, compared, as_json=as_json)
                return
            warnings = _fill(running, bundle, file, arrays)
            verdict = _verify(running, bundle, file, tolerance) if verify else None
            if verdict is not None:
                running.reset()
            with _recorded(kept):
                elapsed_ms = measure(running, len(bundle.graph.nodes), times)
            results = running.results()
        if out is not None:
            save_planes(Path(out), results)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    if warnings:
        report_problems(warnings)
    rows, reference = ((), "") if verdict is None else (verdict.comparisons, verdict.reference)
    report = RunReport(file, bundle, times, tuple(elapsed_ms), results, None, rows, reference, out)
    _print(report, verdict, as_json=as_json)
    if verdict is not None and not verdict.holds:
        sys.exit(EXIT_PROBLEMS)


@frozen
class _Verdict:
    """What a comparison with the recording gave. `problem` is the first difference of bits."""

    reference: str
    bits: bool
    problem: Problem | None = None
    comparisons: tuple[Comparison, ...] = ()

    @property
    def holds(self) -> bool:
        return self.problem is None and all(row.holds for row in self.comparisons)


def _fill(running: Replay, bundle: Bundle, file: str, arrays: Arrays) -> tuple[Problem, ...]:
    """Sets the planes that are given; gives warnings. Raises ProblemsFound where a plane has no contents."""
    fitted, warnings = fit_inputs(bundle.graph, arrays)
    for name, array in fitted.items():
        running.set(name, array)
    # A state begins as zeros, as in a first run.
    missing = tuple(
        plane.name
        for plane in given_planes(bundle.graph)
        if plane.role is not Role.STATE and plane.name not in fitted and plane.name not in bundle.data
    )
    if missing:
        raise ProblemsFound([PlanesWithoutContents(None, file, len(missing), missing)])
    return warnings


@contextmanager
def _recorded(kept: str | None) -> Iterator[None]:
    """Writes the last run inside to a file, if one is named. Raises ProblemsFound."""
    if kept is None:
        yield
        return
    with record() as recording:
        yield
    recording.save(kept)


def _verify(running: Replay, bundle: Bundle, file: str, tolerance: float | None) -> _Verdict:
    """Runs and compares. Raises ProblemsFound (CG834) where there is nothing to compare with."""
    recording = bundle.recording
    if recording is None:
        raise ProblemsFound([NoRecording(None, file)])
    reference = f"the recording on {recording.device}"
    if tolerance is None and same_kind(running, recording):
        return _Verdict(reference, bits=True, problem=find_difference(running, bundle, recording))
    running.reset()
    running.run()
    bound = derived_tolerance(bundle.graph, bundle.schedule) if tolerance is None else tolerance
    return _Verdict(reference, bits=False, comparisons=_compared(running, recording, bound))


def _compared(running: Replay, recording: Recording, bound: float) -> tuple[Comparison, ...]:
    return compare(recording.outputs, {name: running.get(name) for name in recording.outputs}, bound)


def _print(report: RunReport, verdict: _Verdict | None, *, as_json: bool) -> None:
    if verdict is not None and verdict.problem is not None:
        report_problems([verdict.problem])
    if as_json:
        click.echo(json.dumps({**report_data(report), **_verdict_data(verdict)}, indent=2))
        return
    print_report(Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False), report)
    if verdict is not None and verdict.bits and verdict.holds:
        commands = len(report.built.graph.nodes)
        click.echo(f"verified: all {commands} commands and all results have the bits of {verdict.reference}")


def _verdict_data(verdict: _Verdict | None) -> dict[str, object]:
    if verdict is None:
        return {}
    problem = None if verdict.problem is None else to_data(verdict.problem)
    return {"verified": {"holds": verdict.holds, "bit_for_bit": verdict.bits, "difference": problem}}


def _replay_imported(
    running: Replay,
    graph: ImportedGraph,
    file: str,
    arrays: Arrays,
    out: str | None,
    times: int,
    kept: str | None,
    verdict: _Verdict | None,
    *,
    as_json: bool,
) -> None:
    """Runs a graph that others made: its planes are bytes."""
    for name, array in arrays.items():
        running.set(name, array)
    start = perf_counter()
    with _recorded(kept):
        running.run_many(times)
        elapsed_ms = 1e3 * (perf_counter() - start) / times
    if out is not None:
        save_planes(Path(out), running.results())
    nodes = sum(len(level.nodes) for level in graph.levels)
    facts = {"file": file, "nodes": nodes, "planes": len(graph.planes), "times": times, "elapsed_ms": elapsed_ms}
    if as_json:
        click.echo(json.dumps({**facts, "remarks": list(graph.remarks), **_verdict_data(verdict)}, indent=2))
    else:
        click.echo(f"{file}: an imported graph, {nodes} nodes on {len(graph.planes)} planes")
        click.echo(f"{elapsed_ms:.3f} ms a run" + (f", the mean of {times}" if times > 1 else ""))
        if out is not None:
            click.echo(f"{len(graph.planes)} planes written to {out}")
        if verdict is not None and verdict.holds:
            own = len(graph.levels[0].nodes)
            click.echo(f"verified: all {own} nodes and all memory have the bits of {verdict.reference}")
    if verdict is not None and not verdict.holds:
        sys.exit(EXIT_PROBLEMS)


def _verify_imported(running: Replay, graph: ImportedGraph, file: str, tolerance: float | None) -> _Verdict:
    """Runs and compares bytes, whatever the device; planes begin anew. Raises ProblemsFound (CG834)."""
    if tolerance is not None:
        raise click.UsageError("--tolerance: planes of an imported graph are bytes, compared as such")
    if graph.recording is None:
        raise ProblemsFound([NoRecording(None, file)])
    problem = find_imported_difference(running, graph, graph.recording)
    running.reset()
    if problem is not None:
        report_problems([problem])
    return _Verdict(f"the recording on {graph.recording.device}", bits=True, problem=problem)

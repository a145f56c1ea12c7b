"""`cgraph run`: builds a program, fills its planes, runs it and says what it did."""

import json
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cgraph.backends.devices import HOST, Device, device_parameters, parse_device
from cgraph.backends.protocol import Executable
from cgraph.cli.layer_oracle import layer_bound, layer_expectations
from cgraph.cli.options import (
    EXIT_PROBLEMS,
    exit_with,
    parse_settings,
    program_options,
    read_source,
    report_problems,
)
from cgraph.cli.pairing import compile_forward
from cgraph.cli.problems import NothingToCompareWith
from cgraph.cli.run_report import (
    RunReport,
    print_report,
    report_data,
)
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import LaunchNode
from cgraph.graph.purposes import result_planes
from cgraph.images.registry import find_meaning
from cgraph.models.comparison import Comparison, compare
from cgraph.models.forward import find_forward, run_forward
from cgraph.models.inputs import Arrays, fit_inputs
from cgraph.models.pairs import missing_saved
from cgraph.models.plane_files import load_planes, save_planes
from cgraph.models.problems_files import SavedWithoutValue
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled, check, compile_checked, compile_program, lower, parse
from cgraph.schedule.model import Order

PIPED_COLUMNS = 160


@click.command(
    epilog="Exit code 0: it ran; 1: errors, or a result fails --check; 2: wrong usage, or a file cannot be read."
)
@program_options
@click.option("--device", "on", default="host", show_default=True, help="host, emulated, cuda or cuda:N.")
@click.option("--inputs", metavar="FILE", help="Values of planes, .safetensors or .npz; the others are random.")
@click.option("--out", metavar="FILE", help="Where the results go, .safetensors or .npz.")
@click.option(
    "--forward", "named", metavar="FILE[:ENTRY]", help="Fills planes that a forward pass saves. [default: beside FILE]"
)
@click.option("--check", "compared", is_flag=True, help="Compare with the float64 reference.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random values.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Runs; times are medians.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def run(
    file: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    on: str,
    inputs: str | None,
    out: str | None,
    named: str | None,
    compared: bool,
    seed: int,
    repeat: int,
    as_json: bool,
) -> None:
    """Run the program FILE.

    Planes of role input, weight and gradient of an output come from --inputs, or else are random. Planes that a forward
    pass saves come from --inputs too, or else the forward program is run first.
    """
    values = parse_settings(settings)
    device = read_device(on)
    try:
        arrays = {} if inputs is None else load_planes(Path(inputs))
        with paused_collection():
            checked = check(parse(read_source(file)))
            values = device_parameters(checked[0].parameters, values, device)
            compiled = compile_checked(checked, values, entry=entry, half=Element(half), order=Order(order))
        planes, forward, warnings = fill(compiled, file, named, arrays, seed)
        executable = prepare(compiled, planes, device)
        elapsed_ms = measure(executable, len(compiled.graph.nodes), repeat)
        results = {plane.name: executable.get(plane.name) for plane in result_planes(compiled.graph)}
        comparisons, reference = check_results(compiled, planes, results) if compared else ((), "")
        if out is not None:
            save_planes(Path(out), results)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    if compiled.warnings or warnings:
        report_problems([*compiled.warnings, *warnings])
    report = RunReport(file, compiled, repeat, tuple(elapsed_ms), results, forward, comparisons, reference, out)
    if as_json:
        click.echo(json.dumps(report_data(report), indent=2))
    else:
        print_report(Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False), report)
    if not all(row.holds for row in comparisons):
        sys.exit(EXIT_PROBLEMS)


def fill(
    compiled: Compiled, file: str, named: str | None, arrays: Arrays, seed: int
) -> tuple[Arrays, str | None, tuple[Problem, ...]]:
    """Values for every plane that must be given, the forward program that was run for them, and warnings.

    Raises:
        ProblemsFound: an array does not fit, or a saved plane has no value and there is no forward program.
    """
    graph = compiled.graph
    fitted, warnings = fit_inputs(graph, arrays)
    planes = {**random_planes((graph,), seed), **fitted}
    missing = [name for name in missing_saved(graph) if name not in fitted]
    if not missing:
        return planes, None, warnings
    try:
        forward = find_forward(file, named)
    except ProblemsFound as stopped:
        spans = {plane.name: plane.span for plane in graph.planes}
        raise ProblemsFound([SavedWithoutValue(spans[name], name) for name in missing]) from stopped
    other = compile_forward(forward, compiled)
    given, _ = fit_inputs(other.graph, arrays)
    kept = run_forward(
        other.graph,
        lower(other.graph, other.schedule, other.plan),
        {**random_planes((other.graph,), seed), **given},
    )
    lost = [plane for plane in graph.planes if plane.name in missing and plane.name not in kept]
    if lost:
        raise ProblemsFound([SavedWithoutValue(plane.span, plane.name) for plane in lost])
    return {**planes, **{name: kept[name] for name in missing}}, forward.file, warnings


def read_device(text: str) -> Device:
    """A device by its name. Raises click.BadParameter for any other text."""
    try:
        return parse_device(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--device") from error


def prepare(compiled: Compiled, planes: Arrays, device: Device = HOST) -> Executable:
    """The program ready to run on a device, its planes filled."""
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, device)
    names = {plane.name for plane in compiled.graph.planes}
    for name, array in planes.items():
        if name in names:
            executable.set(name, array)
    return executable


def measure(executable: Executable, nodes: int, repeat: int) -> list[float]:
    """Runs the program; gives the median time of each node in milliseconds. Shows progress on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = console.is_terminal and sys.stdout.isatty()
    times: list[list[float]] = [[] for _ in range(nodes)]
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("commands", total=nodes * repeat)
        last_shown = perf_counter()

        def note(index: int, elapsed_ms: float) -> None:
            nonlocal last_shown
            times[index].append(elapsed_ms)
            if shown and perf_counter() - last_shown > 0.1:
                last_shown = perf_counter()
                progress.update(task, completed=sum(map(len, times)))

        for _ in range(repeat):
            executable.run(note)
    return [median(of_node) for of_node in times]


def check_results(compiled: Compiled, planes: Arrays, results: Arrays) -> tuple[tuple[Comparison, ...], str]:
    """Each result beside its reference, and in words what that is.

    The library's layer programs have an independent float64 reference. Any other program is compared with itself in
    f64: that shows its rounding, not its logic, for which there is `cgraph gradcheck`.
    """
    expected = layer_expectations(compiled.graph, planes)
    bound = layer_bound(compiled.graph)
    if expected is not None and bound is not None:
        return compare(expected, results, bound), "the float64 reference of the layer"
    graph = compiled.graph
    launched = dict.fromkeys(node.image.signature for node in graph.nodes if isinstance(node, LaunchNode))
    unknown = [image for image in launched if find_meaning(image.file, image.entry) is None]
    if unknown:
        raise ProblemsFound([NothingToCompareWith(image.span, image.name) for image in unknown])
    wide = compile_program(
        compiled.module.source, dict(graph.parameters), entry=graph.entry, half=Element.F64, order=Order.SERIAL
    )
    executable = prepare(wide, {name: _widened(array) for name, array in planes.items()})
    executable.run()
    same = {name: executable.get(name) for name in results}
    return compare(same, results, float("inf")), "the same commands in f64 (which shows rounding, not logic)"


def _widened(array: np.ndarray) -> np.ndarray:
    return array if array.dtype.kind in "iu" else array.astype(np.float64)

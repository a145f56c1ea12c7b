"""`cgraph gradcheck`: the gradients of a backward program against differences of its forward program."""

import json
import math
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from cgraph.cli.options import EXIT_PROBLEMS, EXIT_USAGE, parse_settings, read_source, report_problems
from cgraph.cli.pairing import compile_pair
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.models.differences import GradientRow
from cgraph.models.forward import ForwardProgram, find_forward
from cgraph.models.gradients import GradientCheck, Verdict, check_pair, count_comparisons, verdict
from cgraph.models.inputs import Arrays, fit_inputs
from cgraph.models.pairs import Pair, pair_graphs
from cgraph.models.plane_files import load_planes
from cgraph.models.problems_files import InputWithoutPlane
from cgraph.pipeline import Compiled, lower

# Wide enough for the table with long plane names where no terminal says how wide it may be.
PIPED_COLUMNS = 160
COLOURS = {Verdict.OK: "green", Verdict.MISMATCH: "bold red", Verdict.UNRESOLVED: "yellow"}


@click.command(epilog="Exit code 0: no gradient disagrees; 1: one does; 2: wrong usage, or errors in a program.")
@click.argument("file")
@click.option("--forward", "named", metavar="FILE[:ENTRY]", help="The forward program. [default: beside FILE]")
@click.option("--forward-entry", metavar="NAME", help="The forward definition; alone, it stands in FILE itself.")
@click.option("--entry", metavar="NAME", help="The definition to build; main where it is not given.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter's value, for both programs.")
@click.option("--inputs", metavar="FILE", help="Values of planes, .safetensors or .npz; the others are random.")
@click.option("--samples", type=click.IntRange(min=1), default=48, show_default=True, help="Elements moved per plane.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of values and samples.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-6,
    show_default=True,
    help="Largest relative error that passes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def gradcheck(
    file: str,
    named: str | None,
    forward_entry: str | None,
    entry: str | None,
    settings: tuple[str, ...],
    inputs: str | None,
    samples: int,
    seed: int,
    tolerance: float,
    as_json: bool,
) -> None:
    """Compare the gradients of the backward program FILE with differences of its forward program.

    Both run in f64 with random inputs and weights, and zeros for planes of i32: only the program knows which integers
    it can use, so give ids and the like with --inputs. Planes of the two belong together by name. A plane passes if
    single elements and a step through the whole plane agree with its gradient up to the tolerance. Noise is what
    rounding in the forward program may add to an error; it is taken off, so an error of 0 means 0 up to the noise.
    Where it exceeds the tolerance, the verdict is `unresolved`.
    """
    values = parse_settings(settings)
    try:
        forward = find_forward(file, named, forward_entry)
        if forward_entry is not None and forward.entry != forward_entry:
            raise click.BadParameter(f"--forward names `{forward.entry}` already", param_hint="--forward-entry")
        programs = compile_pair(read_source(file), entry, forward, values, Element.F64)
        pair = pair_graphs(programs[0].graph, programs[1].graph)
        arrays, warnings = _read_inputs(pair, inputs)
        result = _check(pair, programs, samples, seed, arrays)
    except ProblemsFound as stopped:
        report_problems(stopped.problems)
        sys.exit(EXIT_USAGE)
    if as_json:
        data = {"file": file, "forward": forward.file, "samples": samples, "seed": seed, "tolerance": tolerance}
        click.echo(json.dumps({**data, **_as_data(pair, result, tolerance)}, indent=2))
    else:
        _print(pair, forward, result, tolerance)
    if warnings or result.problems:
        report_problems([*warnings, *result.problems])
    if any(verdict(row, tolerance) is Verdict.MISMATCH for row in result.rows):
        sys.exit(EXIT_PROBLEMS)


def _read_inputs(pair: Pair, inputs: str | None) -> tuple[Arrays, tuple[Problem, ...]]:
    """Values from a file for the planes of either program, and warnings.

    Raises:
        ProblemsFound: the file cannot be read, or an array does not fit.
    """
    if inputs is None:
        return {}, ()
    arrays = load_planes(Path(inputs))
    fitted, warnings = fit_inputs(pair.forward, arrays)
    of_backward, others = fit_inputs(pair.backward, arrays)
    # A plane that one of the two lacks is no surprise; what both say is said once.
    both = [problem for problem in warnings if problem in others or not isinstance(problem, InputWithoutPlane)]
    more = [problem for problem in others if problem not in warnings and not isinstance(problem, InputWithoutPlane)]
    return {**fitted, **of_backward}, (*both, *more)


def _check(pair: Pair, programs: tuple[Compiled, Compiled], samples: int, seed: int, arrays: Arrays) -> GradientCheck:
    forward, backward = (lower(program.graph, program.schedule, program.plan) for program in programs)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = console.is_terminal and sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=count_comparisons(pair, samples))

        def advance(name: str, _done: int, _total: int) -> None:
            progress.update(task, advance=1, description=name)

        return check_pair(pair, forward, backward, samples=samples, seed=seed, inputs=arrays, on_progress=advance)


def _print(pair: Pair, forward: ForwardProgram, result: GradientCheck, tolerance: float) -> None:
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
    console.print(_table(result, tolerance))
    for note in _notes(pair, result):
        console.print(note, markup=False, soft_wrap=True)
    verdicts = [verdict(row, tolerance) for row in result.rows]
    counts = ", ".join(f"{verdicts.count(kind)} {kind.value}" for kind in Verdict if kind in verdicts)
    entry = pair.forward.entry
    console.print(
        f"{counts} of {len(verdicts)} gradients against {forward.file}: {entry}, in f64", markup=False, soft_wrap=True
    )


def _table(result: GradientCheck, tolerance: float) -> Table:
    """Fits into 80 columns, and puts the verdict where a narrow terminal shows it too."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("plane", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for name in ("elements", "checked", "element\nerror", "direction\nerror", "noise", "gradient\nnorm"):
        table.add_column(name, justify="right", no_wrap=True)
    if any(row.finding for row in result.rows):
        table.add_column("finding", overflow="fold")
    for row in result.rows:
        kind = verdict(row, tolerance)
        numbers = (row.element_error, row.direction_error, row.resolution, row.norm)
        counts = (str(row.elements), str(row.checked))
        shown = (*counts, *(f"{number:.3g}" for number in numbers), *([row.finding] if row.finding else []))
        table.add_row(Text(row.name), Text(kind.value, style=COLOURS[kind]), *map(Text, shown))
    return table


def _notes(pair: Pair, result: GradientCheck) -> list[str]:
    """What the table leaves out."""
    notes = (
        ("no gradient in the backward program", result.without_gradient),
        ("given zeros, as integers are", result.zeros),
        ("not part of the loss, for no gradient enters", result.without_weight),
        ("gradients of planes that cannot be moved", pair.inner),
    )
    return [f"{text}: {', '.join(names)}" for text, names in notes if names]


def _as_data(pair: Pair, result: GradientCheck, tolerance: float) -> dict[str, object]:
    return {
        "entry": pair.backward.entry,
        "forward_entry": pair.forward.entry,
        "parameters": {**dict(pair.forward.parameters), **dict(pair.backward.parameters)},
        "ok": all(verdict(row, tolerance) is not Verdict.MISMATCH for row in result.rows),
        "planes": [_row_data(row, tolerance) for row in result.rows],
        "without_gradient": result.without_gradient,
        "zeros": result.zeros,
        "outside_loss": result.without_weight,
        "not_moved": pair.inner,
    }


def _row_data(row: GradientRow, tolerance: float) -> dict[str, object]:
    """A row as plain data; null stands for an error that is infinite."""
    numbers = {
        "element_error": row.element_error,
        "direction_error": row.direction_error,
        "resolution": row.resolution,
        "norm": row.norm,
    }
    return {
        "plane": row.name,
        "elements": row.elements,
        "checked": row.checked,
        **{name: number if math.isfinite(number) else None for name, number in numbers.items()},
        "finding": row.finding,
        "verdict": verdict(row, tolerance).value,
    }

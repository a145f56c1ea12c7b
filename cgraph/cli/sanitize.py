"""`cgraph sanitize`: executes a program's kernels with every check on. Needs NVRTC, but no GPU."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from cgraph.backends.cuda_modules import cuda_module
from cgraph.cli.options import EXIT_PROBLEMS, EXIT_USAGE, options_of_programs, parse_settings, read_source
from cgraph.cli.options import report_problems as print_problems
from cgraph.cli.run import fill
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.report import summarise, to_data
from cgraph.models.inputs import Arrays
from cgraph.models.plane_files import load_planes
from cgraph.pipeline import Compiled, compile_program
from cgraph.schedule.model import Order

HALVES = (Element.F16, Element.BF16)
FACTS = ("kernel", "block", "thread", "threads", "access", "memory", "offset", "element", "index", "command", "rival")


@click.command(epilog="Exit code 0: nothing is wrong; 1: findings; 2: wrong usage, or errors in the program or a file.")
@options_of_programs(HALVES, Element.F16, "What `half` stands for.")
@click.option("--inputs", metavar="FILE", help="Values of planes, .safetensors or .npz; the others are random.")
@click.option(
    "--forward", "named", metavar="FILE[:ENTRY]", help="Fills planes that a forward pass saves. [default: beside FILE]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random values.")
@click.option("--fail-fast", is_flag=True, help="End behind the first command with findings.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def sanitize(
    file: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    inputs: str | None,
    named: str | None,
    seed: int,
    fail_fast: bool,
    as_json: bool,
) -> None:
    """Execute the kernels of the program FILE on the emulated device and report what they do wrong.

    Found are accesses out of bounds, misaligned, to freed memory, of bytes that nothing wrote, or that a launch does
    not declare; races in shared memory, between blocks and between commands; barriers that a part of a block misses.
    """
    values = parse_settings(settings)
    try:
        arrays = {} if inputs is None else load_planes(Path(inputs))
        compiled = compile_program(read_source(file), values, entry=entry, half=Element(half), order=Order(order))
        planes, _forward, warnings = fill(compiled, file, named, arrays, seed)
        report = _execute(compiled, planes, fail_fast)
    except ProblemsFound as stopped:
        print_problems(stopped.problems)
        sys.exit(EXIT_USAGE)
    shown = [*compiled.warnings, *warnings, *(() if as_json else report.findings)]
    if shown:
        print_problems(shown)
    click.echo(json.dumps(_data(report), indent=2) if as_json else _summary(report))
    if report.findings:
        sys.exit(EXIT_PROBLEMS)


def _execute(compiled: Compiled, planes: Arrays, fail_fast: bool) -> Any:
    """Runs the program by the CUDA backend's parts, which are imported only now. Raises ProblemsFound (CG748, …)."""
    sanitizing = cuda_module("sanitizing.run")
    console = Console(stderr=True)
    shown = console.is_terminal and sys.stdout.isatty()
    graph = compiled.graph
    with Progress(console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("commands", total=len(graph.nodes))
        return sanitizing.sanitize_graph(
            graph,
            compiled.schedule,
            compiled.plan,
            planes,
            fail_fast=fail_fast,
            on_command=lambda: progress.advance(task),
        )


def _summary(report: Any) -> str:
    found = "nothing found" if not report.findings else f"{summarise(report.findings)} found"
    more = f", {report.left_out} more reports left out" if report.left_out else ""
    return (
        f"{found}{more}; checked {report.launches} launch{'' if report.launches == 1 else 'es'},"
        f" {report.transfers} fills and copies, {report.thread_instructions:,} thread instructions,"
        f" {report.accessed_bytes:,} bytes of accesses"
    )


def _data(report: Any) -> dict[str, object]:
    return {
        "findings": [_finding(problem) for problem in report.findings],
        "left_out": report.left_out,
        "checked": {
            "launches": report.launches,
            "fills_and_copies": report.transfers,
            "thread_instructions": report.thread_instructions,
            "accessed_bytes": report.accessed_bytes,
        },
    }


def _finding(problem: Problem) -> dict[str, object]:
    """A problem as data, with what is known of the thread, the plane and the command."""
    facts = {name: getattr(problem, name) for name in FACTS if hasattr(problem, name)}
    origin = getattr(problem, "origin", None)
    way = [] if origin is None else [{"text": step.text, "place": step.span.place} for step in origin.chain()]
    return {**to_data(problem), **facts, "origin": way}

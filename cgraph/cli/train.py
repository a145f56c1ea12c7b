"""`cgraph train`: trains a program's weights on a text."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
import click
from rich.console import Console

from cgraph.cli.options import exit_with, parse_settings, read_source, report_problems
from cgraph.cli.problems_train import MatplotlibMissing, UnknownPlotKind
from cgraph.cli.run import PIPED_COLUMNS, read_device
from cgraph.cli.stop_signals import StopRequest, stop_requests
from cgraph.cli.train_display import TrainingDisplay, closing_lines
from cgraph.cli.train_options import train_options
from cgraph.cli.train_report import TrainRequest, opening_lines, report_data
from cgraph.cli.train_setup import (
    compile_entries,
    derive_parameters,
    first_planes,
    new_settings,
    prepare_entries,
    require_parameters,
    resumed_progress,
    resumed_settings,
)
from cgraph.core.collection import paused_collection
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.report import arrange
from cgraph.models.plane_files import DESCRIBED_KINDS
from cgraph.models.problems_files import UnknownFileKind, UnwritablePlanes
from cgraph.models.training.checkpoints import fit_planes, load_checkpoint
from cgraph.models.training.contract import EVALUATE, PREDICT, STEP_ENTRIES
from cgraph.models.training.events import Sampled
from cgraph.models.training.logs import open_log
from cgraph.models.training.loop import start
from cgraph.models.training.loop import train as training
from cgraph.models.training.problems_training import UnwritableReport
from cgraph.models.training.run import Progress, Run
from cgraph.models.training.sampling import Sampling
from cgraph.models.training.texts import encode_prompt, read_text, split, tokenise
from cgraph.pipeline import check, parse

PLOT_KINDS = (".svg", ".png")
CURVE_COLUMNS = 80
NO_FOLDER = "its folder does not exist"


@click.command(
    epilog="Exit code 0: all steps are done; 1: errors; 2: wrong usage, or a program that cannot be read; 130 and 143: "
    "a signal ended it, after the step at hand and a checkpoint."
)
@train_options
def train(
    file: str,
    texts: tuple[str, ...],
    more_texts: tuple[str, ...],
    parameters: tuple[str, ...],
    on: str,
    prompt: str,
    temperature: float,
    sample_every: int,
    sample_length: int,
    checkpoint: str | None,
    resume: str | None,
    plots: tuple[str, ...],
    log: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Train the program FILE on the text in one or more files.

    The program has the entries step (or stepSgd), evaluate and predict, as programs/gpt.cg has. Its weights start from
    random values, or with --resume from a checkpoint, which also holds every setting that is not given. Losses are in
    nats per token.
    """
    if resume == "" and checkpoint is None:
        raise click.BadParameter("it names no file, and there is no --checkpoint", param_hint="--resume")
    if not math.isfinite(temperature):
        raise click.BadParameter(f"expected a finite number, got {temperature}", param_hint="--temperature")
    resumed = None if resume is None else resume or checkpoint
    kept = checkpoint or resumed
    request = TrainRequest(
        file,
        tuple(Path(name) for name in (*texts, *more_texts)),
        parse_settings(parameters),
        read_device(on),
        prompt,
        temperature,
        sample_every,
        sample_length,
        None if kept is None else Path(kept),
        None if resumed is None else Path(resumed),
        tuple(Path(plot) for plot in plots),
        None if log is None else Path(log),
    )
    # A model may write what the encoding of the output lacks.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    given = {name: value for name, value in settings.items() if value is not None}
    try:
        run, progress, warnings = _prepare(request, given)
        if warnings:
            report_problems(warnings)
        stopped_by = _train(request, run, progress, as_json=as_json)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    sys.exit(stopped_by.exit_code)


def _prepare(request: TrainRequest, given: Mapping[str, Any]) -> tuple[Run, Progress, Sequence[Problem]]:
    """A run that can start, how far it is, and warnings.

    Raises:
        ProblemsFound: a file, the text, the program or the checkpoint does not fit.
    """
    _check_names(request)
    resumed = None if request.resumed is None else (request.resumed, load_checkpoint(request.resumed))
    text = read_text(request.texts)
    try:
        if resumed is None:
            settings = new_settings(given, request.parameters, request.device)
        else:
            settings = resumed_settings(*resumed, given, request.parameters, text)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    tokeniser, tokens = tokenise(text, settings.tokens, None if resumed is None else resumed[1].tokeniser)
    prompt = encode_prompt(tokeniser, request.prompt, tokens) if request.sample_length else tokens[:1]
    with paused_collection():
        checked = check(parse(read_source(request.file)))
        if resumed is not None:
            require_parameters(*resumed, checked[0])
        parameters = derive_parameters(checked[0], settings.parameters, tokeniser)
        settings = attrs.evolve(settings, parameters=parameters)
        compiled, settings = compile_entries(
            checked, request.file, settings, request.device, samples=request.sample_length > 0
        )
    entries = prepare_entries(compiled, tokeniser, request.device)
    step = entries[STEP_ENTRIES[settings.optimizer]]
    run = Run(
        settings,
        step,
        entries.get(EVALUATE),
        entries.get(PREDICT),
        split(tokens, settings.evaluation_share, step.sizes["cgSeq"]),
        tokeniser,
        text.digest,
        Sampling(prompt, request.sample_length, request.temperature, request.sample_every),
        request.checkpoint,
    )
    if resumed is None:
        progress = Progress()
        start(run, first_planes(step, settings))
    else:
        fit_planes(*resumed, step.graph)
        progress = resumed_progress(resumed[1])
        start(run, resumed[1].planes)
    return run, progress, arrange(warning for entry in compiled.values() for warning in entry.warnings)


def _check_names(request: TrainRequest) -> None:
    """Finds out before hours of training that a result has no place to go.

    Raises:
        ProblemsFound: CG720 and CG722 for the checkpoint, CG794 to CG796 for a plot.
    """
    kept = {path for path in (request.checkpoint, request.resumed) if path is not None}
    problems: list[Problem] = [
        UnknownFileKind(None, str(path), " or ".join(DESCRIBED_KINDS))
        for path in sorted(kept)
        if path.suffix not in DESCRIBED_KINDS
    ]
    if request.checkpoint is not None and not request.checkpoint.parent.is_dir():
        problems.append(UnwritablePlanes(None, str(request.checkpoint), NO_FOLDER))
    for plot in request.plots:
        if plot.suffix not in PLOT_KINDS:
            problems.append(UnknownPlotKind(None, str(plot), " or ".join(PLOT_KINDS)))
        elif not plot.parent.is_dir():
            problems.append(UnwritableReport(None, "plot", str(plot), NO_FOLDER))
        elif find_spec("matplotlib") is None:
            problems.append(MatplotlibMissing(None, str(plot)))
    if problems:
        raise ProblemsFound(problems)


def _train(request: TrainRequest, run: Run, progress: Progress, *, as_json: bool) -> StopRequest:
    """Trains and reports. Raises ProblemsFound as the loop does, and for what cannot be written."""
    live = sys.stdout.isatty() and sys.stderr.isatty()
    console = Console(stderr=live or as_json, width=None if live else PIPED_COLUMNS, highlight=False)
    sizes, unit = run.step.sizes, f"nats per {run.tokeniser.token_name}"
    tokens = sizes["cgMicrobatches"] * sizes["cgSeq"] * sizes["cgBatch"]
    display = TrainingDisplay(console, live, run.settings.steps, progress.step, tokens, unit)
    samples: list[Sampled] = []
    with ExitStack() as stack:
        log = None if request.log is None else stack.enter_context(open_log(request.log, progress.step))
        stopping = stack.enter_context(stop_requests())
        stack.enter_context(display)
        for line in opening_lines(request, run, progress, tokens):
            display.line(line)
        for event in training(run, progress, lambda: stopping.number is not None):
            display.show(event)
            if log is not None:
                log.write(event)
            if isinstance(event, Sampled):
                samples.append(event)
    for plot in request.plots:
        title = f"{Path(request.file).name}, {progress.step} steps"
        import_module("cgraph.cli.loss_plot").save_plot(
            plot, progress.losses, progress.evaluations, unit=unit, title=title
        )
    if as_json:
        click.echo(json.dumps(report_data(request, run, progress, display, samples), indent=2))
    else:
        out = Console(width=None if live else PIPED_COLUMNS, highlight=False)
        for line in closing_lines(display, progress.losses, progress.evaluations, min(CURVE_COLUMNS, out.width)):
            out.print(line, markup=False, soft_wrap=True)
    if stopping.number is not None and progress.step < run.settings.steps:
        kept = "no checkpoint was asked for" if run.checkpoint is None else f"go on with --resume {run.checkpoint}"
        click.echo(f"stopped by a signal after step {progress.step}; {kept}", err=True)
        return stopping
    return StopRequest()

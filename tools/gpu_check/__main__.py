"""Checks cgraph on a GPU, in one command and a few minutes: python tools/gpu_check. See README.md beside this file.

Each step runs in a process of its own, so that a kernel that loses the device's context, a crash or a hang is one
finding and the rest goes on. A step writes its rows as it finds them; what it had found before it ended badly counts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from time import monotonic

from report import StepResult, print_step, print_summary, report_json
from rich.console import Console
from rows import Row, Status, from_json, to_json
from session import Session
from steps import STEPS, Step

from cgraph.backends.devices import DeviceKind, parse_device
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render

PIPED_COLUMNS = 140
LEAST_S = 5.0  # a step that would get less is not started
TAIL_CHARACTERS = 1500


def main() -> int:
    """Runs all steps, or one of them; gives the exit code."""
    options = read_options()
    if options.step is not None:
        run_step(options)
        return 0
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
    start = monotonic()
    results = []
    for step in STEPS:
        if step.shown and (not options.only or step.name in options.only):
            left_s = 60 * options.minutes - (monotonic() - start)
            results.append(run_apart(step, options, left_s))
            print_step(console, results[-1])
    elapsed_s = monotonic() - start
    print_summary(console, results, elapsed_s)
    if options.json is not None:
        data = report_json(results, options.device, elapsed_s, reduced=options.reduced)
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 1 if any(result.failed for result in results) else 0


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="gpu_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit code 0: nothing failed; 1: something failed or did not come to an end; 2: wrong usage.",
    )  # fmt: skip
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or emulated (which is always reduced)")
    parser.add_argument("--json", metavar="FILE", help="where to write all findings and numbers")
    parser.add_argument("--minutes", type=float, default=5.0, help="the most that all steps together may take")
    parser.add_argument("--reduced", action="store_true", help="small sizes, few repetitions")
    names = [step.name for step in STEPS]
    parser.add_argument("--only", action="append", choices=names, metavar="STEP", help=", ".join(names))
    parser.add_argument("--step", choices=names, help=argparse.SUPPRESS)
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        device = parse_device(options.device)
    except ValueError as error:
        parser.error(str(error))
    if device.kind is DeviceKind.HOST:
        parser.error("the host is what the device is compared with")
    options.reduced = options.reduced or device.kind is DeviceKind.EMULATED
    return options


def run_apart(step: Step, options: argparse.Namespace, left_s: float) -> StepResult:
    """Runs a step in a process of its own."""
    if left_s < LEAST_S:
        return StepResult(step.name, (Row(step.name, Status.FAILED, "not run: the time is over"),), 0.0)
    start = monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        rows.touch()
        command = [sys.executable, str(Path(__file__).parent), "--device", options.device]
        command += ["--step", step.name, "--rows", str(rows), *(["--reduced"] if options.reduced else [])]
        limit_s = left_s if options.reduced else min(step.limit_s, left_s)
        ended = ""
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)  # noqa: S603
            if process.returncode != 0:
                ended = f"the process ended with {process.returncode}: {process.stderr[-TAIL_CHARACTERS:].strip()}"
        except subprocess.TimeoutExpired:
            ended = f"not ended after {limit_s:.0f} s"
        found = [from_json(line) for line in rows.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    if ended or not found:
        found.append(Row(step.name, Status.FAILED, ended or "nothing was found"))
    return StepResult(step.name, tuple(found), monotonic() - start)


def run_step(options: argparse.Namespace) -> None:
    """Runs a step here and writes its rows, one to a line, to a file or to standard output."""
    step = next(step for step in STEPS if step.name == options.step)
    session = Session(parse_device(options.device), reduced=options.reduced)

    def write(row: Row) -> None:
        if options.rows is None:
            print(to_json(row), flush=True)
            return
        with Path(options.rows).open("a", encoding="utf-8") as file:
            file.write(to_json(row) + "\n")

    try:
        for row in step.function(session):
            write(row)
    except ProblemsFound as stopped:
        write(Row(step.name, Status.FAILED, render(stopped.problems, colour=False, width=PIPED_COLUMNS)))
    except Exception:  # noqa: BLE001  (whatever it is, it is one finding)
        write(Row(step.name, Status.FAILED, traceback.format_exc()[-TAIL_CHARACTERS:].strip()))


if __name__ == "__main__":
    sys.exit(main())

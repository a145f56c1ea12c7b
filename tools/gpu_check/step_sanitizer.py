"""A small run under compute-sanitizer, where that is installed: its four tools, each in a process of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Row, Status, from_json, judged
from session import Session

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
PLACES = ("/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/local/cuda/compute-sanitizer")
FOUND = 86  # exit code of the tool where it found something
LIMIT_S = 60
MOST_LINES = 6
MOST_CHARACTERS = 500


def check_sanitizer(session: Session) -> Iterator[Row]:
    """A row for each tool."""
    if session.emulated:
        yield Row("compute-sanitizer", Status.SKIPPED, "an emulated device watches every access itself")
        return
    tool = shutil.which("compute-sanitizer", path=os.pathsep.join((os.environ.get("PATH", ""), *PLACES)))
    if tool is None:
        yield Row("compute-sanitizer", Status.SKIPPED, "it is not installed")
        return
    step = [sys.executable, str(Path(__file__).parent), "--device", str(session.device), "--step", "small layer"]
    for name in TOOLS:
        command = [tool, "--tool", name, "--error-exitcode", str(FOUND), *step]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            yield Row(name, Status.FAILED, f"not ended after {LIMIT_S} s")
            continue
        lines = ended.stdout.splitlines()
        reports = [line for line in lines if line.startswith("=========")]
        wrong = [row.detail for row in map(from_json, filter(_is_row, lines)) if row.status is Status.FAILED]
        passed = ended.returncode == 0 and not wrong
        shown = reports[-1:] if passed else wrong or reports[:MOST_LINES] or [ended.stderr[-MOST_CHARACTERS:]]
        yield judged(name, passed, "\n".join(shown), exit_code=ended.returncode)


def _is_row(line: str) -> bool:
    return line.startswith("{")

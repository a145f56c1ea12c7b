"""What was found, as tables for a terminal and as one JSON object for a file."""

import json
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rows import Row, Status, to_json

VERSION = 1
STYLES = {Status.OK: "green", Status.FAILED: "bold red", Status.SKIPPED: "yellow", Status.NOTE: ""}


@frozen
class StepResult:
    """The rows of a step and the time that it took, with its process."""

    name: str
    rows: tuple[Row, ...]
    elapsed_s: float

    @property
    def failed(self) -> int:
        """How many rows failed."""
        return sum(row.status is Status.FAILED for row in self.rows)


def print_step(console: Console, result: StepResult) -> None:
    """One table for a step."""
    title = f"{result.name} ({result.elapsed_s:.1f} s)"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_column(overflow="fold")
    for row in result.rows:
        table.add_row(Text(row.status.value, STYLES[row.status]), Text(row.name), Text(row.detail))
    console.print(table)
    console.print()


def print_summary(console: Console, results: list[StepResult], elapsed_s: float) -> None:
    """One line for the whole."""
    counts = {status: sum(row.status is status for result in results for row in result.rows) for status in Status}
    words = ", ".join(f"{count} {status.value}" for status, count in counts.items() if status is not Status.NOTE)
    style = STYLES[Status.FAILED if counts[Status.FAILED] else Status.OK]
    console.print(Text(f"{words}, in {elapsed_s:.0f} s", style))
    for result in results:
        for row in result.rows:
            if row.status is Status.FAILED:
                console.print(Text(f"FAILED {result.name}: {row.name}", STYLES[Status.FAILED]))


def report_json(results: list[StepResult], device: str, elapsed_s: float, *, reduced: bool) -> dict[str, Any]:
    """Everything, for a file."""
    return {
        "version": VERSION,
        "device": device,
        "reduced": reduced,
        "passed": not any(result.failed for result in results),
        "elapsed_s": elapsed_s,
        "steps": [
            {
                "name": result.name,
                "elapsed_s": result.elapsed_s,
                "failed": result.failed,
                "rows": [json.loads(to_json(row)) for row in result.rows],
            }
            for result in results
        ],
    }

"""`cgraph fmt`: programs in the one layout that `cgraph.syntax.printer` describes."""

import os
import sys
import tempfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import click

from cgraph.cli.options import EXIT_PROBLEMS, EXIT_USAGE, UNREADABLE_CODES, read_source, report_problems
from cgraph.core.collection import paused_collection
from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.syntax.parser import parse
from cgraph.syntax.printer import print_module
from cgraph.syntax.problems import UnwritableFile


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; name the files that are not formatted.")
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; print what would change.")
def fmt(files: tuple[str, ...], only_check: bool, as_diff: bool) -> None:
    """Format programs in place; `-` formats standard input to standard output.

    \b
    Exit code 0: done; 1: a syntax error, or with --check a file that is not formatted;
    2: wrong usage, or a file that cannot be read or written.
    """  # noqa: D301  (click reads the backspace character)
    codes = [_format_one(file, only_check, as_diff) for file in files]
    sys.exit(max(codes))


def _format_one(file: str, only_check: bool, as_diff: bool) -> int:
    """Formats one file; gives its exit code."""
    try:
        source = read_source(file)
        with paused_collection():
            formatted = print_module(parse(source))
        changed = formatted != source.text
        if as_diff:
            click.echo("".join(_diff(source, formatted)), nl=False)
        if only_check and changed:
            click.echo(f"{source.name} is not formatted", err=True)
        if not (only_check or as_diff):
            _write(file, formatted, changed)
    except ProblemsFound as stopped:
        report_problems(stopped.problems)
        unreadable = any(problem.code in (*UNREADABLE_CODES, UnwritableFile.code) for problem in stopped.problems)
        return EXIT_USAGE if unreadable else EXIT_PROBLEMS
    return EXIT_PROBLEMS if only_check and changed else 0


def _diff(source: Source, formatted: str) -> Iterator[str]:
    before, after = (text.splitlines(keepends=True) for text in (source.text, formatted))
    for line in unified_diff(before, after, source.name, f"{source.name} (formatted)"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _write(file: str, text: str, changed: bool) -> None:
    """Puts the text where it belongs: on standard output, or in the file, in one step and with the file's mode."""
    if file == "-":
        click.echo(text, nl=False)
    elif changed:
        try:
            _replace(Path(file).resolve(), text.encode("utf-8"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ProblemsFound([UnwritableFile(None, file, reason)]) from error


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(path.stat().st_mode)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise

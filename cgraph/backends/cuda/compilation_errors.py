"""Turns NVRTC's log into a problem that shows each error at its line of the .cu file."""

import re

from cgraph.backends.cuda.headers import find_cuda_headers
from cgraph.backends.cuda.problems_compiler import CompilationFailed
from cgraph.backends.cuda.sources import KernelSource
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Label
from cgraph.source import Source, Span

MOST_ERRORS = 5

_ERROR = re.compile(r"^(?P<file>.+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<message>.*)$")
_NO_HEADER = re.compile(r"cannot open source file|could not open source file")


def explain_failure(source: KernelSource, signature: Signature, log: str) -> CompilationFailed:
    """The problem for a failed compilation.

    Args:
        source: what was compiled.
        signature: of an image that needs it.
        log: as NVRTC wrote it.
    """
    errors = []
    for line in log.splitlines():
        match = _ERROR.match(line)
        if match is not None and match["file"] in source.sources:
            errors.append(Label(line_span(source.sources[match["file"]], int(match["line"])), match["message"]))
    tried = () if _NO_HEADER.search(log) is None else find_cuda_headers().tried
    file = str(source.path)
    return CompilationFailed(signature.span, signature.name, file, tuple(errors[:MOST_ERRORS]), log, tried)


def line_span(source: Source, line: int) -> Span:
    """The text of a 1-based line, without the blanks before it."""
    number = min(line, len(source.line_starts)) - 1
    start, text = source.line_starts[number], source.line_text(number)
    return Span(source, start + len(text) - len(text.lstrip()), start + len(text.rstrip()))

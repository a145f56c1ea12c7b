"""Problems in order, and as data for tools.

Receives problems of any stage; guarantees an order by place, each problem once. Printing for people is in
`renderer.py`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cgraph.diagnostics.problem import Problem, Severity
from cgraph.source import Span


def arrange(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems ordered by source name, place and code, each once; those without a place come first."""
    kept: dict[tuple[object, ...], Problem] = {}
    for problem in problems:
        span = problem.span
        place = (None, 0, 0) if span is None else (id(span.source), span.start, span.stop)
        kept.setdefault((problem.code, *place, problem.render_title(), problem.render_label()), problem)
    return tuple(sorted(kept.values(), key=_order))


def summarise(problems: Sequence[Problem]) -> str:
    """`2 errors and 1 warning`; "" where there are none."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    return " and ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count)


def to_json(problems: Iterable[Problem]) -> str:
    """A JSON array with one object for each problem, in the order of `arrange`; see `to_data` for its fields."""
    return json.dumps([to_data(problem) for problem in arrange(problems)], indent=2)


def to_data(problem: Problem) -> dict[str, Any]:
    """One problem as plain data: code, severity, title, label, place, labels, notes, helps, fix.

    A place has the source's name, 0-based half-open offsets `start` and `stop`, and 1-based `line`, `column`,
    `end_line` and `end_column` of both ends, in characters. `place` and `fix` are null where there is none.
    """
    fix = problem.fix()
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "title": problem.render_title(),
        "label": problem.render_label(),
        "place": None if problem.span is None else _place(problem.span),
        "labels": [{"text": label.text, "place": _place(label.span)} for label in problem.labels()],
        "notes": list(problem.notes()),
        "helps": list(problem.helps()),
        "fix": fix and {"text": fix.text, "replacement": fix.replacement, "place": _place(fix.span)},
    }


def _place(span: Span) -> dict[str, str | int]:
    end = Span(span.source, span.stop, span.stop)
    return {
        "source": span.source.name,
        "start": span.start,
        "stop": span.stop,
        "line": span.line,
        "column": span.column,
        "end_line": end.line,
        "end_column": end.column,
    }


def _order(problem: Problem) -> tuple[str, int, int, str]:
    span = problem.span
    return ("", -1, -1, problem.code) if span is None else (span.source.name, span.start, span.stop, problem.code)

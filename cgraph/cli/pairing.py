"""Compiles a backward program and its forward program for the same sizes."""

from collections.abc import Mapping

from cgraph.check.program import CheckedProgram
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem
from cgraph.models.forward import ForwardProgram
from cgraph.pipeline import Compiled, check, compile_checked, parse
from cgraph.source import Source
from cgraph.syntax.loading import load_source

Values = Mapping[str, int | float]
Checked = tuple[CheckedProgram, tuple[Problem, ...]]


def compile_pair(
    source: Source, entry: str | None, forward: ForwardProgram, settings: Values, half: Element
) -> tuple[Compiled, Compiled]:
    """The forward program and the backward program, compiled with the same parameters.

    Args:
        source: the backward program's file.
        entry: the definition to build in it, as for `build`.
        forward: the other program.
        settings: values of parameters; each program takes those that it has.
        half: what `half` stands for in both.

    Raises:
        ProblemsFound: of either program; also if neither has a parameter of `settings`.
    """
    with paused_collection():
        backward = check(parse(source))
        other = check(parse(load_source(forward.file)))
        elsewhere = other[0].parameters.keys() - backward[0].parameters.keys()
        own = {name: value for name, value in settings.items() if name not in elsewhere}
        compiled = compile_checked(backward, own, entry=entry, half=half)
        shared = {**settings, **dict(compiled.graph.parameters)}
        return _compile_forward(other, shared, forward.entry, half), compiled


def compile_forward(forward: ForwardProgram, backward: Compiled) -> Compiled:
    """The forward program of a compiled backward program, with the same parameters and the same `half`.

    Raises:
        ProblemsFound: of the forward program.
    """
    graph = backward.graph
    with paused_collection():
        other = check(parse(load_source(forward.file)))
        return _compile_forward(other, dict(graph.parameters), forward.entry, graph.half)


def _compile_forward(checked: Checked, values: Values, entry: str | None, half: Element) -> Compiled:
    known = {name: value for name, value in values.items() if name in checked[0].parameters}
    return compile_checked(checked, known, entry=entry, half=half)

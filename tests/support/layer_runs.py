"""Runs of the library's layer programs through every stage; each program is parsed and checked once."""

from functools import cache
from typing import Any

from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.protocol import Executable
from cgraph.check.program import CheckedProgram
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem
from cgraph.graph.model import CommandGraph
from cgraph.pipeline import Compiled, check, compile_checked, lower, parse
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source

Planes = dict[str, NDArray[Any]]


@frozen(eq=False)
class Prepared:
    """A graph, and an executable of it."""

    graph: CommandGraph
    executable: Executable

    def run(self, values: Planes) -> Planes:
        """Every plane outside the arena after a run with these values; those of other planes are not used."""
        for plane in self.graph.planes:
            if plane.name in values:
                self.executable.set(plane.name, values[plane.name])
        self.executable.run()
        return self.planes()

    def planes(self) -> Planes:
        """Every plane outside the arena as it is now."""
        kept = (plane.name for plane in self.graph.planes if plane.role.value not in ("scratch", "input", "weight"))
        return {name: self.executable.get(name) for name in kept}


def prepare(name: str, parameters: dict[str, int | float], half: Element, order: Order = Order.DATAFLOW) -> Prepared:
    """`layer_forward` or `layer_backward`, built, verified, scheduled, planned and lowered."""
    program = compiled(name, parameters, half, order)
    return Prepared(program.graph, lower(program.graph, program.schedule, program.plan))


def compiled(
    name: str,
    parameters: dict[str, int | float],
    half: Element,
    order: Order = Order.DATAFLOW,
    entry: str | None = None,
) -> Compiled:
    """A program of the programs' folder, built, verified, scheduled and planned."""
    return compile_checked(_checked(name), parameters, entry=entry, half=half, order=order)


@cache
def _checked(name: str) -> tuple[CheckedProgram, tuple[Problem, ...]]:
    return check(parse(load_source(programs_directory() / f"{name}.cg")))

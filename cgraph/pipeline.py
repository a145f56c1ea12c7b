"""The stages from text to planes, in order, on one page.

    text ─parse→ Module ─check→ CheckedProgram ─build→ CommandGraph ─schedule→ Schedule
         ─plan→ MemoryPlan ─lower→ Executable ─run→ planes
                       └─ make_bundle, save_bundle (cgraph.capture) → a file that runs without the text

Each arrow is a plain function from frozen values to a frozen value. A stage that finds errors raises ProblemsFound
with all of them; warnings travel in `Compiled.warnings`. `compile_program` runs all stages up to the memory plan.
"""

from collections.abc import Mapping

from attrs import field, frozen

from cgraph.backends.devices import HOST, Device, prepare
from cgraph.backends.protocol import Executable
from cgraph.build.builder import build_graph
from cgraph.check.checker import check_modules
from cgraph.check.modules import load_modules
from cgraph.check.program import CheckedProgram
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.core.notebooks import ShownInNotebooks
from cgraph.diagnostics import Problem, ProblemsFound, Severity
from cgraph.graph.hazards import Hazard, find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.graph.verify import verify as verify_graph
from cgraph.memory.model import MemoryPlan
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order, Schedule
from cgraph.schedule.orders import make_schedule
from cgraph.source import Source
from cgraph.syntax.parser import parse as parse_source
from cgraph.syntax.tree import Module


@frozen(eq=False)
class Compiled(ShownInNotebooks):
    """Every value on the way from a text to a memory plan."""

    module: Module = field(repr=False)
    program: CheckedProgram = field(repr=False)
    graph: CommandGraph
    schedule: Schedule
    plan: MemoryPlan
    warnings: tuple[Problem, ...]


def parse(source: Source) -> Module:
    """Text to a syntax tree. Imports are not followed yet."""
    return parse_source(source)


def check(module: Module) -> tuple[CheckedProgram, tuple[Problem, ...]]:
    """A module and its imports to a checked program, for all sizes at once, and warnings."""
    result = check_modules(load_modules(module, parse_source))
    if result.program is None:
        raise ProblemsFound(result.problems)
    return result.program, result.problems


def build(
    program: CheckedProgram, parameters: Mapping[str, int | float], *, entry: str | None, half: Element
) -> CommandGraph:
    """A checked program and sizes to a graph of commands."""
    return build_graph(program, parameters, entry=entry, half=half)


def verify(program: CheckedProgram, graph: CommandGraph, hazards: tuple[Hazard, ...]) -> tuple[Problem, ...]:
    """The warnings of a graph without errors. Planes of the program's own file should all be used."""
    root = program.root.source
    touched = {plane.family for plane in graph.planes}
    mentioned = program.mentioned
    declared = [
        (family.name, family.span)
        for family in program.planes.values()
        if family.span.source is root and family.name not in mentioned and family.name not in touched
    ]
    problems = verify_graph(graph, hazards, declared, root)
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ProblemsFound(problems)
    return problems


def schedule(graph: CommandGraph, hazards: tuple[Hazard, ...], order: Order) -> Schedule:
    """A graph and its hazards to a partial order of its commands."""
    return make_schedule(graph, hazards, order)


def plan(graph: CommandGraph, order: Schedule) -> MemoryPlan:
    """A graph and its order to places of its scratch planes in memory."""
    return plan_memory(graph, order)


def lower(graph: CommandGraph, order: Schedule, memory: MemoryPlan, device: Device = HOST) -> Executable:
    """A planned graph to something that runs: on this machine's processors, a GPU or an emulated one."""
    return prepare(graph, order, memory, device)


def compile_program(
    source: Source,
    parameters: Mapping[str, int | float] | None = None,
    *,
    entry: str | None = None,
    half: Element = Element.F32,
    order: Order = Order.DATAFLOW,
) -> Compiled:
    """All stages up to the memory plan.

    Args:
        source: the program's own file.
        parameters: values by name; defaults of the program stand for the rest.
        entry: the definition to build; `main` where none is named.
        half: the element type that `half` stands for.
        order: how much freedom the schedule leaves.

    Raises:
        ProblemsFound: with every error of the first stage that has any.
    """
    with paused_collection():
        return compile_checked(check(parse(source)), parameters or {}, entry=entry, half=half, order=order)


def compile_checked(
    checked: tuple[CheckedProgram, tuple[Problem, ...]],
    parameters: Mapping[str, int | float],
    *,
    entry: str | None = None,
    half: Element = Element.F32,
    order: Order = Order.DATAFLOW,
) -> Compiled:
    """The stages after `check`, whose result it takes; otherwise as `compile_program`."""
    program, warnings = checked
    with paused_collection():
        graph = build(program, parameters, entry=entry, half=half)
        hazards = find_hazards(graph)
        warnings += verify(program, graph, hazards)
        ordered = schedule(graph, hazards, order)
        return Compiled(program.root, program, graph, ordered, plan(graph, ordered), warnings)

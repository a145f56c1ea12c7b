"""Evaluates an entry point into the commands of a graph.

Receives a checked program, parameter values and the element type of `half`. Walks the entry's command on an explicit
stack, so nesting and length are limited by memory alone. Whatever the checker had to leave open is checked here, by
the same rules with ints for sizes; then `graph.verify` looks at the graph as a whole.
"""

from collections.abc import Iterator

from attrs import define, field, frozen

from cgraph.build.emitting import Emitter
from cgraph.build.parameters import MAX_STEPS, Given, build_world
from cgraph.build.planes import PlaneTable
from cgraph.build.problems import EntryIsNoCommand, NoEntry, TooManyCommands, TooManySteps
from cgraph.check.machine import STEPS_OF_CALL, apply, evaluate
from cgraph.check.primitives import choose_plane
from cgraph.check.problems_origins import blame
from cgraph.check.program import CheckedDefinition, CheckedProgram
from cgraph.check.values import (
    Closure,
    CopyCommand,
    EachCommand,
    FillCommand,
    InPhase,
    LaunchCommand,
    Partial,
    PhaseValue,
    PlaneFamily,
    PlaneValue,
    Then,
    Value,
)
from cgraph.check.world import OutOfSteps, World
from cgraph.core.elements import Element
from cgraph.core.naturals import Natural
from cgraph.core.origins import Origin
from cgraph.core.roles import Role
from cgraph.core.types import BaseType, render_type
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph, Phase
from cgraph.source import Span

# Phases count as commands here: a phase without commands costs as much.
MAX_COMMANDS = 1_000_000
MAX_PROBLEMS = 200
DEFAULT_ENTRY = "main"


def build_graph(
    program: CheckedProgram, parameters: Given, *, entry: str | None = None, half: Element = Element.F32
) -> CommandGraph:
    """The graph of one entry point.

    Args:
        program: from the checker.
        parameters: values by name; defaults stand for the rest.
        entry: a definition of type Command in the program's own file; `main`, or else the only one, where none is
            named.
        half: what `half` stands for. With f64, f32 planes are f64 too.

    Raises:
        ProblemsFound: with every problem met on the way.
    """
    problems: list[Problem] = []
    definition = find_entry(program, entry)
    source = program.root.source
    world, values = build_world(program, parameters, lambda problem: problems.append(blame(problem, source)))
    if problems:
        raise ProblemsFound(problems)
    table = PlaneTable(half, problems)
    walk = _Walk(world, Emitter(table, source, problems), problems, definition.name_span)
    try:
        entry_origin = Origin(definition.name_span, definition.name)
        walk.run(evaluate(world, world.definitions[definition.name], None, entry_origin))
    except OutOfSteps as stopped:
        problems.append(TooManySteps(stopped.span, definition.name, MAX_STEPS))
    if problems:
        raise ProblemsFound(problems)
    for value in _unmentioned_results(world, program):
        table.plane(value)
    used = program.reachable(definition.name)
    planes = table.finished(lambda family, indices: _find_plane(world, family, indices))
    if problems:
        raise ProblemsFound(problems)
    return CommandGraph(
        entry=definition.name,
        parameters=tuple((name, value) for name, value in values.items() if name in used),
        half=half,
        planes=planes,
        phases=tuple(walk.phases),
        nodes=tuple(walk.emitter.nodes),
    )


def find_entry(program: CheckedProgram, name: str | None) -> CheckedDefinition:
    """The definition to build: the one named, else `main`, else the only command of the program's own file.

    Raises:
        ProblemsFound: there is none, or it is no command.
    """
    source = program.root.source
    own = [definition for definition in program.definitions.values() if definition.span.source is source]
    commands = [definition.name for definition in own if definition.type is BaseType.COMMAND]
    if name is None:
        name = commands[0] if len(commands) == 1 and DEFAULT_ENTRY not in commands else DEFAULT_ENTRY
    definition = program.definitions.get(name)
    if definition is None:
        raise ProblemsFound([NoEntry(None, source.name, name, tuple(commands))])
    if definition.type is not BaseType.COMMAND:
        raise ProblemsFound([EntryIsNoCommand(definition.name_span, name, render_type(definition.type))])
    return definition


def _find_plane(world: World, family: str, indices: tuple[Natural, ...]) -> PlaneValue | None:
    value = world.values[family]
    if isinstance(value, PlaneValue):
        return value
    if isinstance(value, Partial) and isinstance(value.target, PlaneFamily):
        found = choose_plane(world, value.target, indices, value.target.span, None)
        return found if isinstance(found, PlaneValue) else None
    return None


def _unmentioned_results(world: World, program: CheckedProgram) -> Iterator[PlaneValue]:
    """Outputs that the program's own file declares and no definition mentions: they will be reported as not written."""
    mentioned = program.mentioned
    for family in program.planes.values():
        own = family.span.source is program.root.source
        if own and family.role is Role.OUTPUT and not family.symbols and family.name not in mentioned:
            value = world.values[family.name]
            if isinstance(value, PlaneValue):
                yield value


@frozen(eq=False)
class _LeavePhase:
    """On the stack: the phase of the commands below."""

    phase: int | None


@define(eq=False)
class _Loop:
    """On the stack: a loop with the indices that are left."""

    body: Value
    name: str
    span: Span
    origin: Origin | None
    indices: Iterator[int]


@define(eq=False)
class _Walk:
    """Goes through a command value in program order."""

    world: World
    emitter: Emitter
    problems: list[Problem]
    entry: Span
    phases: list[Phase] = field(factory=list)

    def run(self, command: Value) -> None:
        """Emits a node for each launch, fill and copy. Raises OutOfSteps."""
        stack: list[Value | _LeavePhase | _Loop] = [command]
        emitter = self.emitter
        world = self.world
        while stack and len(self.problems) < MAX_PROBLEMS:
            item = stack.pop()
            if world.steps_left <= 0:
                raise OutOfSteps(self.entry)
            world.steps_left -= 1
            if isinstance(item, Then):
                stack.append(item.second)
                stack.append(item.first)
            elif isinstance(item, LaunchCommand | FillCommand | CopyCommand):
                emitter.emit(item)
            elif isinstance(item, InPhase):
                stack.append(_LeavePhase(emitter.phase))
                stack.append(item.command)
                self._enter_phase(item.phase)
            elif isinstance(item, _LeavePhase):
                emitter.phase = item.phase
            elif isinstance(item, EachCommand):
                self._start_loop(item, stack)
            elif isinstance(item, _Loop):
                self._next_turn(item, stack)
            if len(emitter.nodes) + len(self.phases) > MAX_COMMANDS:
                last = emitter.nodes[-1].origin if emitter.nodes else None
                span = self.entry if last is None else last.span
                self.problems.append(TooManyCommands(span, last, MAX_COMMANDS))
                return

    def _enter_phase(self, phase: Value) -> None:
        if isinstance(phase, PhaseValue):
            index = len(self.phases)
            self.phases.append(Phase(index, phase.name, phase.title, self.emitter.phase))
            self.emitter.phase = index

    def _start_loop(self, each: EachCommand, stack: "list[Value | _LeavePhase | _Loop]") -> None:
        if isinstance(each.count, int):
            if each.count * STEPS_OF_CALL > self.world.steps_left:
                raise OutOfSteps(each.origin.span)
            name = each.body.function.name if isinstance(each.body, Closure) else "index"
            indices = range(each.count - 1, -1, -1) if each.down else range(each.count)
            stack.append(_Loop(each.body, name, each.origin.span, each.origin.parent, iter(indices)))

    def _next_turn(self, loop: _Loop, stack: "list[Value | _LeavePhase | _Loop]") -> None:
        index = next(loop.indices, None)
        if index is not None:
            stack.append(loop)
            origin = Origin(loop.span, f"{loop.name} = {index}", loop.origin)
            stack.append(apply(self.world, loop.body, (index,), loop.span, origin))

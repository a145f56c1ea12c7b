"""Checks a program: a parsed module with its imports becomes a CheckedProgram, or all its problems.

First every declaration is typed, in an order of need; then, where nothing was wrong, every definition's launches are
surveyed. Sizes stay symbolic: a program is checked once for all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field, frozen

from cgraph.check.declarations import (
    declare_definition,
    declare_image,
    declare_parameter,
    declare_phase,
    declare_plane,
)
from cgraph.check.dependencies import Declared, find_needs, order_declarations
from cgraph.check.names import PRIMITIVES
from cgraph.check.problems_names import DeclaredTwice, NameOfTheLanguage
from cgraph.check.problems_origins import blame
from cgraph.check.problems_values import EvaluationTooLong
from cgraph.check.program import CheckedDefinition, CheckedProgram
from cgraph.check.rules import Rules
from cgraph.check.scope import Scope
from cgraph.check.survey import survey
from cgraph.check.values import Unknown
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.origins import Origin
from cgraph.core.trampoline import run
from cgraph.core.types import POISON
from cgraph.diagnostics import Problem, Severity
from cgraph.source import Source
from cgraph.syntax import tree


@frozen(eq=False)
class CheckResult:
    """What checking found; `program` is None where a problem is an error."""

    program: CheckedProgram | None
    problems: tuple[Problem, ...]


# Steps for the sizes and types of one declaration, for the survey of one definition, and for both of all of them.
# A program of 100,000 commands needs less; one that needs more is of exponential size.
DECLARATION_STEPS = 1_000_000
SURVEY_STEPS = 2_000_000
ALL_STEPS = 8_000_000
FEWEST_STEPS = 10_000


@define(eq=False)
class _Findings:
    """Problems in the order in which they were found, each once, shown in the root file where the way leads there."""

    root: Source
    problems: list[Problem] = field(factory=list)
    _seen: set[tuple[object, ...]] = field(factory=set)

    def report(self, problem: Problem) -> None:
        """Keeps a problem; the same one may be met again with other values, which says nothing new."""
        problem = blame(problem, self.root)
        place = None if problem.span is None else (id(problem.span.source), problem.span.start, problem.span.stop)
        key = (problem.code, place, problem.render_title())
        if key not in self._seen:
            self._seen.add(key)
            self.problems.append(problem)


@define(eq=False)
class _Budget:
    """Steps that are left for all declarations together."""

    world: World
    left: int = ALL_STEPS

    @contextmanager
    def limit(self, steps: int) -> Iterator[None]:
        """No more than so many steps inside; a few are always given."""
        given = max(min(steps, self.left), FEWEST_STEPS)
        self.world.steps_left = given
        try:
            yield
        finally:
            self.left -= given - max(self.world.steps_left, 0)


def check_modules(modules: tuple[tree.Module, ...]) -> CheckResult:
    """Checks modules whose imports come before them; the last one is the program's own."""
    findings = _Findings(modules[-1].source)
    declared = _collect(modules, findings)
    needs = find_needs(declared)
    order, circles = order_declarations(needs)
    for problem in circles:
        findings.report(problem)
    world = World({}, {}, findings.report, 0)
    budget = _Budget(world)
    rules = Rules(world, {})
    for name in declared.keys() - set(order):
        rules.types[name] = POISON
        world.values[name] = UNKNOWN
    program = CheckedProgram(modules[-1], {}, {}, {}, {}, {}, needs)
    endless: set[str] = set()  # definitions whose survey took too many steps, and those that need them
    for name in order:
        found_before = len(findings.problems)
        try:
            with budget.limit(DECLARATION_STEPS):
                rules.origin = Origin(declared[name].name.span, name)
                _declare(rules, program, declared[name])
        except OutOfSteps as stopped:
            findings.report(EvaluationTooLong(stopped.span, name, DECLARATION_STEPS))
            rules.scope = Scope()
            rules.types[name] = POISON
            world.values[name] = UNKNOWN
            continue
        definition = program.definitions.get(name)
        if definition is None:
            continue
        if len(findings.problems) > found_before:
            # Its type still helps to check others, its value does not.
            world.values[name] = Unknown(definition.type)
            del world.definitions[name]
        elif endless.isdisjoint(needs[name]):
            with budget.limit(SURVEY_STEPS):
                ends = survey(world, name, definition.term, definition.type, definition.name_span)
            if not ends:
                endless.add(name)
        else:
            endless.add(name)
    failed = any(problem.severity is Severity.ERROR for problem in findings.problems)
    return CheckResult(None if failed else program, tuple(findings.problems))


def _collect(modules: tuple[tree.Module, ...], findings: _Findings) -> dict[str, Declared]:
    """All declarations by name; the first of two with one name stands."""
    declared: dict[str, Declared] = {}
    for module in modules:
        for declaration in module.declarations:
            if isinstance(declaration, tree.Import):
                continue
            name = declaration.name
            if name.text in PRIMITIVES:
                findings.report(NameOfTheLanguage(name.span, name.text))
            elif name.text in declared:
                findings.report(DeclaredTwice(name.span, name.text, declared[name.text].name.span))
            else:
                declared[name.text] = declaration
    return declared


def _declare(rules: Rules, program: CheckedProgram, declaration: Declared) -> None:
    name = declaration.name.text
    if isinstance(declaration, tree.Definition):
        term = run(declare_definition(rules, declaration))
        program.definitions[name] = CheckedDefinition(
            name, rules.types[name], term, declaration.documentation, declaration.span, declaration.name.span
        )
    elif isinstance(declaration, tree.PlaneDeclaration):
        program.planes[name] = run(declare_plane(rules, declaration))
    elif isinstance(declaration, tree.ImageDeclaration):
        program.images[name] = run(declare_image(rules, declaration))
    elif isinstance(declaration, tree.ParameterDeclaration):
        program.parameters[name] = run(declare_parameter(rules, declaration))
    else:
        declare_phase(rules, declaration)
        program.phases[name] = rules.world.values[name]  # type: ignore[assignment]  # just declared

"""Checks a program: a parsed module with its imports becomes a CheckedProgram, or all its problems.

First every declaration is typed, in an order of need; then, where nothing was wrong, every definition's launches are
surveyed. Sizes stay symbolic: a program is checked once for all of them.
"""

from attrs import define, field, frozen

from cgraph.check.declarations import (
    declare_definition,
    declare_image,
    declare_parameter,
    declare_phase,
    declare_plane,
)
from cgraph.check.dependencies import Declared, find_needs, order_declarations
from cgraph.check.problems_names import DeclaredTwice, NameOfTheLanguage
from cgraph.check.problems_values import EvaluationTooLong
from cgraph.check.program import CheckedDefinition, CheckedProgram
from cgraph.check.rules import PRIMITIVES, Rules
from cgraph.check.scope import Scope
from cgraph.check.survey import SURVEY_STEPS, survey
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.trampoline import run
from cgraph.core.types import POISON
from cgraph.diagnostics import Problem, Severity
from cgraph.syntax import tree


@frozen(eq=False)
class CheckResult:
    """What checking found; `program` is None where a problem is an error."""

    program: CheckedProgram | None
    problems: tuple[Problem, ...]


@define(eq=False)
class _Findings:
    """Problems in the order in which they were found, each once."""

    problems: list[Problem] = field(factory=list)
    _seen: set[tuple[object, ...]] = field(factory=set)

    def report(self, problem: Problem) -> None:
        place = None if problem.span is None else (id(problem.span.source), problem.span.start, problem.span.stop)
        key = (problem.code, place)
        if key not in self._seen:
            self._seen.add(key)
            self.problems.append(problem)


def check_modules(modules: tuple[tree.Module, ...]) -> CheckResult:
    """Checks modules whose imports come before them; the last one is the program's own."""
    findings = _Findings()
    declared = _collect(modules, findings)
    needs = find_needs(declared)
    order, circles = order_declarations(declared, needs)
    for problem in circles:
        findings.report(problem)
    world = World({}, {}, findings.report, SURVEY_STEPS)
    rules = Rules(world, {})
    for name in declared.keys() - set(order):
        rules.types[name] = POISON
        world.values[name] = UNKNOWN
    mentioned = frozenset(name for used in needs.values() for name in used)
    program = CheckedProgram(modules[-1], {}, {}, {}, {}, {}, mentioned)
    for name in order:
        found_before = len(findings.problems)
        world.steps_left = SURVEY_STEPS
        try:
            _declare(rules, program, declared[name])
        except OutOfSteps:
            findings.report(EvaluationTooLong(declared[name].name.span, name, SURVEY_STEPS))
            rules.scope = Scope()
            rules.types[name] = POISON
            world.values[name] = UNKNOWN
            continue
        definition = program.definitions.get(name)
        if definition is None:
            continue
        if len(findings.problems) > found_before:
            # Its type still helps to check others, its value does not.
            world.values[name] = UNKNOWN
            del world.definitions[name]
        else:
            survey(world, definition.term, definition.type, definition.name_span, modules[-1].source)
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

"""Laws of the checker: what it accepts builds, what it rejects is wrong, usages are those of the theory."""

import re
from itertools import product
from random import Random

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from cgraph.check.text import program_text
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.pipeline import build, check, parse
from cgraph.source import Source
from tests.support.random_programs import ALL, FORMULAS, POLYNOMIAL, RandomProgram, random_programs
from tests.support.random_terms import HELPERS, Term, faults, terms, text_of

LAUNCH_CODES = {"CG404", "CG236", "CG237"}
SIZES = [{"m": m, "n": n} for m, n in product((1, 2, 3, 7, 40), repeat=2)]
LAW = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def problems_of(text: str) -> tuple[Problem, ...]:
    try:
        return check(parse(Source("random.cg", text)))[1]
    except ProblemsFound as stopped:
        return stopped.problems


def build_codes(text: str, sizes: dict[str, int]) -> set[str]:
    program, _ = check(parse(Source("random.cg", text)))
    try:
        build(program, sizes, entry="main", half=Element.F32)
    except ProblemsFound as stopped:
        return {problem.code for problem in stopped.problems}
    return set()


@LAW
@given(random_programs(POLYNOMIAL))
def test_what_is_accepted_is_right_for_all_sizes(program: RandomProgram) -> None:
    if problems_of(program.text()):
        event("rejected")
        return
    event("accepted")
    assert [sizes for sizes in SIZES if program.faults(sizes)] == []


@LAW
@given(random_programs(FORMULAS))
def test_what_is_rejected_is_wrong_for_the_sizes_that_are_named(program: RandomProgram) -> None:
    found = problems_of(program.text())
    assert {problem.code for problem in found} <= LAUNCH_CODES
    for problem in found:
        where = str(getattr(problem, "where", ""))
        sizes = {"m": 1, "n": 1, **{name: int(value) for name, value in re.findall(r"\b([mn]) = (\d+)", where)}}
        # A loop's body is looked at even where the loop never runs.
        assert problem.code in program.faults(sizes, fewest_turns=1)


@LAW
@given(random_programs(FORMULAS, ALL), st.sampled_from(SIZES))
def test_what_the_checker_leaves_open_the_build_finds(program: RandomProgram, sizes: dict[str, int]) -> None:
    text = program.text()
    if not problems_of(text):
        expected = program.faults(sizes)
        event(f"wrong for these sizes: {bool(expected)}")
        found = build_codes(text, sizes)
        # One launch may have several faults, of which the build reports the first kind.
        assert found <= expected
        assert bool(found) == bool(expected)


@LAW
@given(random_programs(FORMULAS), st.randoms(use_true_random=False))
def test_the_order_of_declarations_does_not_matter(program: RandomProgram, random: Random) -> None:
    text = program.text()
    declarations = re.split(r"\n(?=plane|parameter|image|def)", text.strip())
    random.shuffle(declarations)
    shuffled = "\n".join(declarations) + "\n"
    assert _reported(shuffled) == _reported(text)
    if not problems_of(text):
        texts = [program_text(check(parse(Source("random.cg", order)))[0]) for order in (text, shuffled)]
        assert sorted(texts[0].splitlines()) == sorted(texts[1].splitlines())


@LAW
@given(terms())
def test_usages_are_those_of_quantitative_type_theory(term: Term) -> None:
    expected = faults(term)
    event(f"faults: {min(len(expected), 3)}")
    found = problems_of(f"{HELPERS}def main = {text_of(term)}\n")
    assert {(problem.code, str(getattr(problem, "name", ""))) for problem in found} == expected


def _reported(text: str) -> set[tuple[str, str, str]]:
    return {
        (problem.code, problem.render_title(), "" if problem.span is None else problem.span.text)
        for problem in problems_of(text)
    }

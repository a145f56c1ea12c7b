"""Programs that would take for ever, or more memory than there is, end early and say why."""

import pytest

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.pipeline import check, compile_program, parse
from cgraph.source import Source

BEFORE = """
parameter rows : Nat = 4
phase part
plane out : f32 [rows] output
plane many (l : Nat < rows) : f32 [rows] output
"""
STEP = "(lambda unrestricted i : Nat . (lambda unrestricted n : Nat . {}))"


def problems(text: str, **parameters: int) -> tuple[Problem, ...]:
    with pytest.raises(ProblemsFound) as stopped:
        compile_program(Source("huge.cg", BEFORE + text), parameters)
    return stopped.value.problems


def codes(text: str, **parameters: int) -> list[str]:
    return [problem.code for problem in problems(text, **parameters)]


def doubled(first: str, following: str, levels: int = 60) -> str:
    """Definitions d0 … of which each stands for twice as much as the one before."""
    lines = [f"def d0 = {first}", *(f"def d{level} = {following}" for level in range(1, levels + 1))]
    return "\n".join(line.replace("BEFORE", f"d{number - 1}") for number, line in enumerate(lines)) + "\n"


def loops(body: str) -> str:
    for name in "abc":
        body = f"(cgEach 1000 (lambda unrestricted {name} : Nat . {body}))"
    return body


def test_commands_doubled_sixty_times() -> None:
    text = doubled("(cgFill out 0.0)", "(cgThen BEFORE BEFORE)") + "def main = d60"
    check(parse(Source("huge.cg", BEFORE + text)))
    assert codes(text) == ["CG533"]


@pytest.mark.slow
def test_nothing_doubled_sixty_times() -> None:
    assert codes(doubled("cgNothing", "(cgThen BEFORE BEFORE)") + "def main = d60") == ["CG534"]


def test_calls_doubled_sixty_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgraph.build.parameters.MAX_STEPS", 1_000_000)
    first, following = (
        f"(lambda unrestricted k : Nat . {body})" for body in ("(cgFill out 0.0)", "(cgThen (BEFORE k) (BEFORE k))")
    )
    assert codes(doubled(first, following) + "def main = (d60 1)") == ["CG534"]


def test_naturals_doubled_sixty_times_in_a_size() -> None:
    text = doubled(
        "(lambda unrestricted k : Nat . (naturalAdd k 1))", "(lambda unrestricted k : Nat . (BEFORE (BEFORE k)))"
    )
    after = "plane huge : f32 [(d60 1)] scratch\nplane small : f32 [(naturalAdd rows 1)] output\n"
    # What comes after the steps are used up is still checked: the small plane is fine.
    assert codes(f"{text}{after}def main = (cgFill small 0.0)") == ["CG406"]


def test_lists_of_slots_doubled_by_folds() -> None:
    step = "(lambda unrestricted i : Nat . (lambda unrestricted s : Slots . (cgNatural (cgArgument i) 1 s)))"
    image = 'image tick = kernel "tick.cu" "tick" { block 1 }\n'
    text = f"{image}def main = (cgLaunch tick 1 1 1 (naturalFold 1000000000000 cgNoSlots {step}))"
    assert codes(text) == ["CG534"]


@pytest.mark.parametrize("word", ["cgEach", "cgEachDown"])
@pytest.mark.parametrize("body", ["cgNothing", "(cgFill out 0.0)"])
def test_a_loop_of_a_million_million_turns(word: str, body: str) -> None:
    text = f"def main = ({word} 1000000000000 (lambda unrestricted i : Nat . {body}))"
    (problem,) = problems(text)
    assert problem.code == "CG534"
    assert problem.span is not None
    assert problem.span.text == f"({word} 1000000000000"


def test_loops_of_a_thousand_turns_inside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgraph.build.parameters.MAX_STEPS", 1_000_000)
    assert codes(f"def main = {loops('cgNothing')}") == ["CG534"]


def test_a_fold_of_a_million_million_steps() -> None:
    fold = f"(naturalFold 1000000000000 1 {STEP.format('n')})"
    assert codes(f"def main = (cgFill (cgAt out {fold}) 0.0)") == ["CG534"]
    assert codes(f"plane huge : f32 [{fold}] scratch\ndef main = (cgFill huge 0.0)") == ["CG406"]


def test_folds_in_the_step_of_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgraph.build.parameters.MAX_STEPS", 1_000_000)
    text = "n"
    for _ in range(40):
        text = f"(naturalFold 2 1 {STEP.format(text)})"
    assert codes(f"def main = (cgEach {text} (lambda unrestricted i : Nat . (cgFill out 0.0)))") == ["CG534"]


GROWING = {
    "a number": "10",
    "a formula of many terms": "(naturalAdd rows 1)",
    "a formula of a high degree": "rows",
}


@pytest.mark.parametrize("start", GROWING.values(), ids=GROWING.keys())
def test_squares_of_squares(start: str) -> None:
    size = f"(naturalFold 60 {start} {STEP.format('(naturalMultiply n n)')})"
    assert codes(f"plane huge : f32 [{size}] scratch\ndef main = (cgFill huge 0.0)") == ["CG407"]
    assert codes(f"def main = (cgFill (cgAt out {size}) 0.0)") == ["CG407"]


def test_squares_that_only_the_build_computes() -> None:
    size = f"(naturalFold turns start {STEP.format('(naturalMultiply n n)')})"
    text = f"parameter turns : Nat = 60\nparameter start : Nat = 10\ndef main = (cgFill (cgAt out {size}) 0.0)"
    assert codes(text) == ["CG407"]


def test_a_plane_of_two_thousand_dimensions() -> None:
    extent = ", ".join(["rows"] * 2_000)
    assert codes(f"plane huge : f32 [{extent}] scratch\ndef main = (cgFill huge 0.0)") == ["CG407"]


def test_a_plane_that_no_memory_holds() -> None:
    text = "def main = (cgThen (cgFill out 0.0) (cgEach rows (lambda unrestricted l : Nat . (cgFill (many l) 0.0))))"
    assert codes(text, rows=2**62) == ["CG525", "CG534"]
    assert codes("def main = (cgFill out 0.0)", rows=2**62) == ["CG525"]


def test_parameters_beyond_all_numbers() -> None:
    assert codes("def main = (cgFill out 0.0)", rows=10**100_000) == ["CG522"]
    assert codes("def main = (cgFill out 0.0)", rows=-(10**100_000)) == ["CG522"]


def test_a_literal_of_many_digits() -> None:
    (problem,) = problems(f"plane huge : f32 [{'9' * 5_000}] scratch\ndef main = cgNothing")
    assert problem.code == "CG008"


def test_sizes_that_share_their_parts() -> None:
    text = doubled("rows", "(naturalDivide (naturalAdd BEFORE BEFORE) (naturalAdd BEFORE 1))", 300)
    plane = "plane z : f32 [(naturalAdd d300 1)] output\n"
    main = "def main = (cgThen (cgFill out 0.0) (cgFill z 0.0))"
    compiled = compile_program(Source("shared.cg", BEFORE + text + plane + main))
    assert compiled.graph.planes[1].extent == (2,)

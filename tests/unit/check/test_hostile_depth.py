"""Programs that nest deeper than Python's stack, or are longer than anybody writes: all stages take them."""

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import Compiled, compile_program
from cgraph.source import Source

pytestmark = pytest.mark.slow
DEEP = 100_000
BEFORE = """
parameter rows : Nat = 4
phase part "A part"
plane out : f32 [rows] output
image tick = kernel "tick.cu" "tick" { block 1 }
"""
FILL = "(cgFill out 0.0)"
LAMBDA = "(lambda unrestricted x : Nat . "
PLANE_LAMBDA = "(lambda unrestricted x : Nat . (lambda unrestricted p : Plane f32 [x] . "


def nested(left: str, middle: str, right: str, depth: int = DEEP) -> str:
    return left * depth + middle + right * depth


def build(text: str) -> Compiled:
    return compile_program(Source("deep.cg", BEFORE + text))


def codes(text: str) -> list[str]:
    with pytest.raises(ProblemsFound) as stopped:
        build(text)
    return [problem.code for problem in stopped.value.problems]


def launch(grid: str) -> str:
    return f"\ndef main = (cgThen {FILL} (cgLaunch tick {grid} 1 1 cgNoSlots))\n"


COMMANDS = {
    "parentheses": (nested("(", FILL, ")"), 1),
    "then to the right": (nested(f"(cgThen {FILL} ", FILL, ")"), DEEP + 1),
    "then to the left": (nested("(cgThen ", FILL, f" {FILL})"), DEEP + 1),
    "phases": (nested("(cgPhase part ", FILL, ")"), 1),
    "lets in the body": (nested("(let unrestricted x = rows in ", FILL, ")"), 1),
    "loops": (nested("(cgEach 1 (lambda unrestricted i : Nat . ", FILL, "))", 5_000), 1),
    "parts of parts": (f"(cgFill {nested('(cgAt ', 'out', ' 0)')} 0.0)", 1),
    "folds of commands": (
        nested("(naturalFold 1 ", FILL, f" {LAMBDA}(lambda unrestricted c : Command . c)))", 10_000),
        1,
    ),
}


@pytest.mark.parametrize(("command", "nodes"), COMMANDS.values(), ids=COMMANDS.keys())
def test_deep_commands_build(command: str, nodes: int) -> None:
    assert len(build(f"def main = {command}").graph.nodes) == nodes


# What the grid of the launch comes to, worked out by hand.
NATURALS = {
    "argument on the right": ("", nested("(naturalAdd 1 ", "1", ")"), DEEP + 1),
    "argument on the left": ("", nested("(naturalAdd ", "1", " 1)"), DEEP + 1),
    "calls": (f"def next = {LAMBDA}(naturalAdd x 1))\n", nested("(next ", "0", ")"), DEEP),
    "calls that know their size": (
        f"def sized = {PLANE_LAMBDA}x))\n",
        nested("(sized ", "1", " (cgAt out 0))", 1_500),
        1,
    ),
    "lets in the value": ("", nested("(let unrestricted x = ", "1", " in (naturalAdd x 1))"), DEEP + 1),
    "partial applications": (
        f"def many = {nested(LAMBDA, 'x', ')', 3_000)}\n",
        nested("(", "many", " 7)", 3_000),
        7,
    ),
    "folds": ("", nested("(naturalFold 1 ", "6", f" {LAMBDA}(lambda unrestricted n : Nat . n)))", 10_000), 6),
    "quotients": ("", nested("(naturalDivide (naturalAdd rows ", "4", ") 2)", 20_000), 4),
}


@pytest.mark.parametrize(("before", "grid", "value"), NATURALS.values(), ids=NATURALS.keys())
def test_deep_naturals_are_computed(before: str, grid: str, value: int) -> None:
    node = build(before + launch(grid)).graph.nodes[-1]
    assert getattr(node, "grid", None) == (value, 1, 1)


def test_a_chain_of_lets_whose_names_are_near_and_far() -> None:
    lets = "".join(f"(let unrestricted x{i + 1} = (naturalMaximum x{i} far) in " for i in range(DEEP // 2))
    text = f"(let unrestricted far = 5 in (let unrestricted x0 = 1 in {lets}x{DEEP // 2}{')' * (DEEP // 2 + 2)}"
    assert getattr(build(launch(text)).graph.nodes[-1], "grid", None) == (5, 1, 1)


TYPES = {
    "lambda": f"def f = {nested(LAMBDA, 'x', ')')}",
    "lambda with a type": (
        f"def f : {nested('(pi unrestricted x : Nat . ', 'Nat', ')', DEEP // 2)}"
        f" = {nested(LAMBDA, 'x', ')', DEEP // 2)}"
    ),
    "lambda of planes": f"def f = {nested(PLANE_LAMBDA, 'x', '))', DEEP // 5)}",
    "lambda of planes with a type": (
        f"def f : {nested('(pi unrestricted x : Nat . (pi unrestricted p : Plane f32 [x] . ', 'Nat', '))', DEEP // 5)}"
        f" = {nested(PLANE_LAMBDA, 'x', '))', DEEP // 5)}"
    ),
}


@pytest.mark.parametrize("definition", TYPES.values(), ids=TYPES.keys())
def test_deep_functions_are_checked(definition: str) -> None:
    assert len(build(f"{definition}\ndef main = {FILL}").graph.nodes) == 1


def test_a_deep_codomain_that_does_not_fit() -> None:
    assert codes(f"def f : {nested('(pi unrestricted x : Nat . ', 'Nat', ')')} = 3\ndef main = {FILL}") == ["CG201"]


def test_a_deep_domain_is_refused() -> None:
    assert codes(f"def f : {nested('(pi unrestricted x : ', 'Nat', ' . Nat)')} = 3\ndef main = {FILL}") == ["CG207"]


def test_many_slots_that_the_image_lacks() -> None:
    slots = "".join(f"(cgNatural (cgArgument {i}) 1 " for i in range(20_000)) + "cgNoSlots" + ")" * 20_000
    assert codes(f"def main = (cgLaunch tick 1 1 1 {slots})") == ["CG233"] * 20_000


def test_many_arguments() -> None:
    assert codes(f"def main = (cgThen {'cgNothing ' * DEEP})") == ["CG203"]


def test_many_names_that_do_not_exist() -> None:
    names = "".join(f"def d{i} = cgNothng{i}\n" for i in range(20_000))
    assert codes(names) == ["CG101"] * 20_000


def test_many_definitions_that_need_each_other() -> None:
    circle = "".join(f"def d{i} = (cgThen d{(i + 1) % 20_000} d0)\n" for i in range(20_000))
    assert codes(circle) == ["CG104"]


def test_an_error_near_the_end_of_ten_megabytes() -> None:
    comment = "-- " + "what this size is about, in so many words, " * 5 + "\n"
    sizes = "".join(f"{comment}def size{i} = (naturalAdd rows {i})\n" for i in range(40_000))
    text = f"{BEFORE}{sizes}def wrong = (naturalAdd rows cgNothing)\ndef main = {FILL}\n"
    assert len(text) > 10_000_000
    with pytest.raises(ProblemsFound) as stopped:
        compile_program(Source("long.cg", text))
    (problem,) = stopped.value.problems
    assert problem.code == "CG201"
    assert problem.span is not None
    assert problem.span.line == BEFORE.count("\n") + 80_001
    assert problem.span.text == "cgNothing"


def test_a_hundred_thousand_launches() -> None:
    planes = "plane a : f32 [4] scratch\nplane b : f32 [4] input\nplane c : f32 [4] output\n"
    chain = nested("(cgThen (cgBinary cgImageAdd a a b 4) ", "(cgCopy c a)", ")")
    text = f'import "operations.cg"\n{planes}def main = (cgThen (cgCopy a b) {chain})\n'
    compiled = compile_program(Source("chain.cg", text))
    assert len(compiled.graph.nodes) == DEEP + 2
    assert sum(map(len, compiled.schedule.predecessors)) == DEEP + 1

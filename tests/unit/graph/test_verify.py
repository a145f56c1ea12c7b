"""Every rule finds its mistake, says where it is, and leaves sound graphs alone."""

import pytest

from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import Problem, Severity
from cgraph.graph.model import Access
from cgraph.graph.problems import CommandProblem
from cgraph.graph.verify import verify
from tests.support.graphs import GraphMaker


def _problems(maker: GraphMaker) -> list[Problem]:
    return list(verify(maker.graph()))


def _codes(maker: GraphMaker) -> list[str]:
    return [problem.code for problem in verify(maker.graph())]


def _only(maker: GraphMaker) -> Problem:
    problems = verify(maker.graph())
    assert len(problems) == 1, problems
    return problems[0]


def _sink(maker: GraphMaker, plane: int) -> None:
    """Read a plane, so that what was written to it is not dead."""
    maker.launch(maker.read(plane))


def test_a_sound_graph_has_no_problems() -> None:
    maker = GraphMaker()
    x, y = maker.plane("x", 8, Role.INPUT), maker.plane("y", 8, Role.OUTPUT)
    t = maker.plane("t", 8)
    maker.copy(maker.write(t), maker.read(x))
    maker.copy(maker.write(y, 0, 4), maker.read(t, 4, 8))
    maker.copy(maker.write(y, 4, 8), maker.read(t, 0, 4))
    assert _problems(maker) == []


def test_reading_scratch_that_nothing_wrote() -> None:
    maker = GraphMaker()
    t, y = maker.plane("t", 8), maker.plane("y", 8, Role.OUTPUT)
    maker.fill(t, 0, 3)
    maker.copy(maker.write(y), maker.read(t))
    maker.fill(t, 5, 8)
    _sink(maker, t)
    first = _problems(maker)[0]
    assert first.code == "CG501"
    assert "elements [3, 8), bytes [12, 32)" in first.render_label()
    assert first.span == maker.span(1)
    assert [label.span for label in first.labels()] == [maker.span(t), maker.span(2)]


def test_the_first_hole_between_two_writes_is_named() -> None:
    maker = GraphMaker()
    t, y = maker.plane("t", 8), maker.plane("y", 8, Role.OUTPUT)
    maker.fill(t, 0, 3)
    maker.fill(t, 5, 8)
    maker.copy(maker.write(y), maker.read(t))
    assert "elements [3, 5), bytes [12, 20)" in _only(maker).render_label()


def test_a_command_does_not_feed_itself() -> None:
    maker = GraphMaker()
    t = maker.plane("t", 8)
    maker.launch(maker.write(t), maker.read(t), aliases={0: (1,)})
    _sink(maker, t)
    assert _codes(maker) == ["CG501"]


@pytest.mark.parametrize(
    ("role", "filled"),
    [
        (Role.INPUT, True),
        (Role.WEIGHT, True),
        (Role.SAVED, True),
        (Role.STATE, True),
        (Role.SCRATCH, False),
        (Role.OUTPUT, False),
    ],
)
def test_who_holds_data_from_the_start(role: Role, filled: bool) -> None:
    maker = GraphMaker()
    a, y = maker.plane("a", 4, role), maker.plane("y", 4, Role.SAVED)
    maker.copy(maker.write(y), maker.read(a))
    assert ("CG501" not in _codes(maker)) is filled


@pytest.mark.parametrize(("of", "filled"), [(Role.OUTPUT, True), (Role.INPUT, False), (Role.WEIGHT, False)])
def test_the_gradient_of_an_output_is_given_and_others_are_not(of: Role, filled: bool) -> None:
    maker = GraphMaker()
    base = maker.plane("base", 4, of)
    gradient = maker.plane("gradient", 4, Role.GRADIENT, gradient_of=base)
    y = maker.plane("y", 4, Role.SAVED)
    maker.copy(maker.write(y), maker.read(gradient))
    assert _codes(maker) == ([] if filled else ["CG501", "CG502"])


def test_a_saved_plane_that_the_graph_writes_holds_nothing_before() -> None:
    maker = GraphMaker()
    saved, y = maker.plane("saved", 4, Role.SAVED), maker.plane("y", 4, Role.SAVED)
    maker.copy(maker.write(y), maker.read(saved))
    maker.fill(saved)
    assert _codes(maker) == ["CG501"]


def test_an_output_written_in_part() -> None:
    maker = GraphMaker()
    y = maker.plane("y", 8, Role.OUTPUT)
    maker.fill(y, 1, 3)
    maker.fill(y, 5, 8)
    problem = _only(maker)
    assert problem.code == "CG502"
    assert problem.render_label() == "never written: elements [0, 1), bytes [0, 4); elements [3, 5), bytes [12, 20)"
    assert problem.span == maker.span(y)


@pytest.mark.parametrize("of", [Role.INPUT, Role.WEIGHT])
def test_a_declared_gradient_that_is_never_written(of: Role) -> None:
    maker = GraphMaker()
    base = maker.plane("base", 4, of)
    maker.plane("gradient", 4, Role.GRADIENT, gradient_of=base)
    assert _codes(maker) == ["CG502"]


def test_an_output_that_only_its_gradient_refers_to_need_not_be_written() -> None:
    maker = GraphMaker()
    y = maker.plane("y", 4, Role.OUTPUT)
    gradient = maker.plane("gradient", 4, Role.GRADIENT, gradient_of=y)
    t = maker.plane("t", 4, Role.SAVED)
    maker.copy(maker.write(t), maker.read(gradient))
    assert _codes(maker) == []


@pytest.mark.parametrize("role", [Role.INPUT, Role.WEIGHT])
def test_given_planes_are_not_written(role: Role) -> None:
    maker = GraphMaker()
    x = maker.plane("x", 4, role)
    maker.fill(x, 1, 2)
    problem = _only(maker)
    assert (problem.code, problem.render_label()) == ("CG503", "writes elements [1, 2), bytes [4, 8)")


def test_a_plane_too_small() -> None:
    maker = GraphMaker()
    x, y = maker.plane("x", 8, Role.INPUT), maker.plane("y", 4, Role.SAVED, Element.F16)
    maker.launch(maker.write(y, 0, 9), maker.read(x))
    problem = _only(maker)
    assert problem.code == "CG504"
    assert problem.render_title() == "`y` is too small: 9 elements are needed, it has 4"


def test_bytes_past_the_end_are_not_also_called_unwritten() -> None:
    maker = GraphMaker()
    t, y = maker.plane("t", 4), maker.plane("y", 9, Role.SAVED)
    maker.fill(t)
    maker.launch(maker.write(y), maker.read(t, 0, 9))
    assert _codes(maker) == ["CG504"]


def test_a_part_that_starts_inside_an_element() -> None:
    maker = GraphMaker()
    y = maker.plane("y", 8, Role.SAVED)
    aligned = maker.write(y, 0, 4)
    maker.launch(Access(y, 2, 18, aligned.mode))
    assert _codes(maker) == ["CG505"]


def test_two_slots_race_where_the_signature_does_not_allow_an_alias() -> None:
    maker = GraphMaker()
    y = maker.plane("y", 8, Role.SAVED)
    maker.fill(y)
    maker.launch(maker.write(y), maker.read(y))
    problem = _only(maker)
    assert problem.code == "CG506"
    assert problem.render_title() == "slots `s0` and `s1` race for bytes of `y`"
    assert problem.notes()[0] == "the signature does not say that the two may alias"


@pytest.mark.parametrize("allowing", [0, 1])
def test_an_alias_is_the_very_same_bytes_or_an_error(allowing: int) -> None:
    maker = GraphMaker()
    y = maker.plane("y", 8, Role.SAVED)
    maker.fill(y)
    maker.launch(maker.write(y), maker.read(y), aliases={allowing: (1 - allowing,)})
    assert _codes(maker) == []
    maker.launch(maker.write(y, 0, 4), maker.read(y, 2, 6), aliases={allowing: (1 - allowing,)})
    problem = _only(maker)
    assert problem.code == "CG506"
    assert "elements [2, 4)" in problem.render_label()
    assert "overlap in part" in problem.notes()[0]


def test_two_slots_may_read_the_same_bytes_and_parts_may_touch() -> None:
    maker = GraphMaker()
    x, y = maker.plane("x", 8, Role.INPUT), maker.plane("y", 8, Role.SAVED)
    maker.launch(maker.write(y, 0, 4), maker.read(x), maker.read(x, 2, 5), maker.write(y, 4, 8))
    assert _codes(maker) == []


def test_a_copy_onto_itself() -> None:
    maker = GraphMaker()
    y = maker.plane("y", 8, Role.SAVED)
    maker.fill(y)
    maker.copy(maker.write(y, 0, 4), maker.read(y, 4, 8))
    maker.copy(maker.write(y, 2, 6), maker.read(y, 0, 4))
    problem = _only(maker)
    assert (problem.code, problem.span) == ("CG507", maker.span(2))


@pytest.mark.parametrize(
    ("grid", "axes"),
    [
        ((2**31 - 1, 65535, 65535), []),
        ((2**31, 1, 1), ["x"]),
        ((1, 65536, 1), ["y"]),
        ((1, 1, 65536), ["z"]),
        ((0, 0, 1), ["x", "y"]),
    ],
)
def test_grid_limits(grid: tuple[int, int, int], axes: list[str]) -> None:
    maker = GraphMaker()
    maker.launch(grid=grid)
    problems = _problems(maker)
    assert [problem.code for problem in problems] == ["CG508"] * len(axes)
    assert [problem.render_title().split()[-4] for problem in problems] == axes


@pytest.mark.parametrize(
    ("block", "sound"),
    [
        ((1024, 1, 1), True),
        ((1025, 1, 1), False),
        ((32, 33, 1), False),
        ((16, 1, 64), True),
        ((8, 1, 65), False),
        ((32, 0, 1), False),
    ],
)
def test_block_limits(block: tuple[int, int, int], sound: bool) -> None:
    maker = GraphMaker()
    maker.launch(block=block)
    assert _codes(maker) == ([] if sound else ["CG509"])


@pytest.mark.parametrize(("shared_bytes", "sound"), [(232_448, True), (232_449, False)])
def test_shared_memory_limit(shared_bytes: int, sound: bool) -> None:
    maker = GraphMaker()
    maker.launch(shared_bytes=shared_bytes)
    assert _codes(maker) == ([] if sound else ["CG510"])


@pytest.mark.parametrize(("value", "sound"), [(2_147_483_647, True), (2_147_483_648, False)])
def test_naturals_fit_their_parameter(value: int, sound: bool) -> None:
    maker = GraphMaker()
    maker.launch(naturals=[("n", value)])
    assert _codes(maker) == ([] if sound else ["CG511"])


def test_dead_writes_are_warnings() -> None:
    maker = GraphMaker()
    t, y = maker.plane("t", 8), maker.plane("y", 8, Role.SAVED)
    maker.fill(t)
    maker.fill(t)
    maker.copy(maker.write(y), maker.read(t))
    maker.fill(t)
    problems = _problems(maker)
    assert [(problem.code, problem.severity) for problem in problems] == [("CG512", Severity.WARNING)] * 2
    assert [problem.span for problem in problems] == [maker.span(0), maker.span(3)]
    assert [[label.span for label in problem.labels()] for problem in problems] == [[maker.span(1)], []]


def test_one_byte_read_saves_a_write() -> None:
    maker = GraphMaker()
    t, y = maker.plane("t", 8), maker.plane("y", 1, Role.SAVED)
    maker.fill(t)
    maker.copy(maker.write(y), maker.read(t, 7, 8))
    assert _codes(maker) == []


def test_a_kernel_may_fill_a_plane_that_nobody_needs_beside_one_that_somebody_does() -> None:
    maker = GraphMaker()
    t, by_the_way, y = maker.plane("t", 8), maker.plane("aside", 8), maker.plane("y", 8, Role.SAVED)
    maker.launch(maker.write(t), maker.write(by_the_way))
    maker.copy(maker.write(y), maker.read(t))
    assert _codes(maker) == []
    maker.launch(maker.write(t), maker.write(by_the_way), optional=(1,))
    maker.copy(maker.write(y), maker.read(t))
    problem = _only(maker)
    assert (problem.code, problem.span) == ("CG512", maker.span(2))
    assert problem.render_title() == "nothing reads what is written to `aside`"


def test_unused_planes_are_warnings() -> None:
    maker = GraphMaker()
    base = maker.plane("bias 0", 4, Role.WEIGHT)
    gradient = maker.plane("biasGradient 0", 4, Role.GRADIENT, gradient_of=base)
    maker.fill(gradient)
    declared = [(name, maker.span(row)) for row, name in enumerate(("bias", "biasGradient", "other"))]
    problems = verify(maker.graph(), declared=declared)
    assert [(problem.code, problem.render_title()) for problem in problems] == [
        ("CG513", "no command touches the plane `other`")
    ]


def test_runs_of_one_command_are_one_problem_with_a_count() -> None:
    maker = GraphMaker(lines=1)  # every command stands in the same place
    for number in range(5):
        y = maker.plane(f"y {number}", 4, Role.INPUT)
        maker.fill(y)
    problem = _only(maker)
    assert isinstance(problem, CommandProblem)
    assert problem.repeats == 4
    assert problem.notes()[-1] == "4 further runs of this command have the same problem"


def test_problems_come_in_the_order_of_the_commands() -> None:
    maker = GraphMaker()
    y, x = maker.plane("y", 4, Role.OUTPUT), maker.plane("x", 4, Role.INPUT)
    maker.fill(y, 0, 2)
    maker.fill(x)
    maker.launch(grid=(0, 1, 1))
    assert _codes(maker) == ["CG503", "CG508", "CG502"]

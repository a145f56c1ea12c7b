"""What stands at a line and what became of it: by a program of three layers, worked out by hand."""

from functools import cache

import attrs
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import compile_program
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.view.dumps import read_dump
from cgraph.view.explaining import Table, Topic, explain_line
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View
from tests.support.stacked_program import STACKED
from tests.support.views import HOSTILE, hostile_view

SOURCE = Source("stacked.cg", STACKED)
ALL = "the time of all commands"


@cache
def stacked(order: Order = Order.DATAFLOW) -> View:
    compiled = compile_program(SOURCE, order=order)
    return view_of_graph(compiled.graph, compiled.schedule, compiled.plan)


def line_of(text: str) -> int:
    """The line that holds a text, which stands there once."""
    assert STACKED.count(text) == 1
    return STACKED[: STACKED.index(text)].count("\n") + 1


def topics(text: str, column: int | None = None, order: Order = Order.DATAFLOW) -> tuple[Topic, ...]:
    return explain_line(stacked(order), SOURCE, 0, line_of(text), column)


def topic(text: str, column: int | None = None) -> Topic:
    (found,) = topics(text, column)
    return found


def tables(found: Topic) -> dict[str, Table]:
    return {table.heading: table for table in found.tables}


def test_a_call_with_one_command_in_three_runs() -> None:
    found = topic("(cgPhase half (sum")
    launch = f"stacked.cg:{line_of('(cgLaunch add')}:5"
    assert found.title == f"launch of add at {launch}"
    assert found.facts == (
        "commands 1 … 7, in 3 runs, first: l = 0, last: l = 2",
        "runs addTwo of add.cu, grid 2×1×1, block 32×1×1",
        "Adds two planes.",
        "in phase its first half",
        "all runs together: reads 1.5 KiB, writes 768 bytes, 3.9 µs by estimate",
        "on the longest chain: 3 of 3 runs",
    )
    assert tables(found)["arguments of the first run"].rows == (
        ("out", "write", "kept 0", "f32", "[64]", "0 to 256 of 256", "scratch"),
        ("a", "read", "stream 0", "f32", "[64]", "0 to 256 of 256", "scratch"),
        ("b", "read", "stream 0", "f32", "[64]", "0 to 256 of 256", "scratch"),
        ("n", "", "64", "", "", "", ""),
        ("scale", "", "1.5", "", "", "", ""),
    )


def test_what_it_waits_for_and_what_waits_for_it() -> None:
    found = tables(topic("(cgPhase half (sum"))
    copy = f"stacked.cg:{line_of('(cgPhase first')}:26"
    launch = f"stacked.cg:{line_of('(cgLaunch add')}:5"
    # Layer 0 reads what the copy wrote, the others what the layer before wrote.
    assert found["waits for"].rows == (
        ("read-after-write", "stream 0", "0 to 256", "0 copy", copy, "1 of 3"),
        ("read-after-write", "stream 1", "0 to 256", "3 add", f"{launch} (l = 0)", "2 of 3"),
    )
    assert found["is waited for by"].rows == (
        ("read-after-write", "kept 0", "0 to 256", "3 add", f"{launch} (l = 0)", "3 of 3"),
    )


def test_other_hazards_and_orders() -> None:
    fill = tables(topic("(cgFill (stream (naturalAdd l 1)) 0.5)"))
    assert [row[0] for row in fill["is waited for by"].rows] == ["write-after-write"]
    (serial,) = topics("(cgFill (stream (naturalAdd l 1)) 0.5)", order=Order.SERIAL)
    assert [row[0] for row in tables(serial)["waits for"].rows] == ["the chosen order"]


def test_places_in_the_arena_say_who_shares_them() -> None:
    rows = tables(topic("(cgPhase first"))["places in the arena"].rows
    ((plane, part, others),) = rows
    view = stacked()
    (scratch,) = (plane for plane in view.planes if plane.name == "stream 0")
    assert (plane, part) == ("stream 0", f"{scratch.offset} to {(scratch.offset or 0) + 256}")
    sharing = [plane.family for plane in view.planes if plane.offset == scratch.offset and plane != scratch]
    assert others == (f"{sharing[0]} ({len(sharing)} planes)" if sharing else "nobody")


def test_the_line_of_a_launch_tells_of_all_its_calls() -> None:
    for text in ("(cgLaunch add", "(cgPointer (cgArgument 1) a", "(cgFloat (cgArgument 4) 1.5 cgNoSlots"):
        assert topic(text).facts[0] == "commands 1 … 9, in 6 runs, first: l = 0, last: l = 2"


def test_the_way_leads_to_the_entry() -> None:
    found = topic("(cgPhase half (sum")
    assert [stacked().origins[step].text for step in found.way] == ["add", "sum", "l = 0", "main"]


def test_a_loop_and_a_line_inside_it_tell_of_all_commands_in_it() -> None:
    for text in ("(cgEach layers", "(lambda unrestricted l : Nat .\n        (cgPhase layer"):
        found = topics(text)
        assert [part.facts[0].split(",")[0] for part in found] == ["commands 1 … 7", "commands 2 … 8", "commands 3 … 9"]


def test_many_commands_are_a_table() -> None:
    text = "plane p : f32 [4] output\ndef main =\n  (cgThen (cgFill p 1.0)\n"
    text += "".join(f"  (cgThen (cgFill p {number}.0)\n" for number in range(4)) + "  (cgFill p 9.0)" + ")" * 5 + "\n"
    source = Source("many.cg", text.replace("def main =\n", "def many =\n") + "def main = many\n")
    compiled = compile_program(source)
    view = view_of_graph(compiled.graph, compiled.schedule, compiled.plan)
    (found,) = explain_line(view, source, 0, 9)
    assert found.title == "definition main"
    (whole,) = explain_line(view, source, 0, 2)
    assert [row[1] for row in tables(whole)["commands"].rows] == [f"many.cg:{line}:11" for line in range(3, 8)] + [
        "many.cg:8:3"
    ]


def test_planes() -> None:
    found = topic("plane kept")
    assert found.facts == ("scratch plane, f32 [64], 256 bytes", "a family of 3 planes, 768 bytes together")
    launch = f"stacked.cg:{line_of('(cgLaunch add')}:5"
    assert tables(found)["in use"].rows[1] == (
        "kept 1",
        "256 bytes",
        f"4 add at {launch} (l = 1)",
        f"6 add at {launch} (l = 1)",
    )
    assert tables(found)["who touches it"].rows == (
        ("write", "add", launch, "in 3 runs, first: l = 0, last: l = 2"),
        ("read", "add", launch, "in 3 runs, first: l = 0, last: l = 2"),
    )
    assert topic("plane given").facts[-1] == "What goes in."


def test_phases() -> None:
    found = topic('phase layer "one layer"')
    assert found.title == "phase layer, one layer"
    assert found.facts[:2] == ("entered 3 times", "A layer of the stack.")
    assert found.facts[2] == f"9 commands, reads 3 KiB, writes 2.25 KiB, 11.7 µs by estimate, 81.8 % of {ALL}"
    assert [(row[0], row[2]) for row in tables(found)["commands"].rows] == [("add", "6"), ("fill with 0.5", "3")]


def test_images() -> None:
    for text in ('image add = kernel "add.cu"', "slot 3 n : natural"):
        found = topic(text)
        assert found.facts[:2] == ("kernel addTwo of add.cu", "Adds two planes.")
        assert tables(found)["slots"].rows[0] == ("0", "out", "pointer", "f32", "write")
        assert [row[2] for row in tables(found)["commands"].rows] == ["6"]


def test_definitions_and_parameters() -> None:
    found = topic("def sum =")
    assert found.facts[0] == "Adds, at a size."
    assert tables(found)["called"].rows == (
        (f"stacked.cg:{line_of('(cgPhase half (sum')}:27", "3"),
        (f"stacked.cg:{line_of('(sum (stream (naturalAdd l 1))')}:17", "3"),
    )
    assert topic("def unused").facts == ("no command of this build comes from it",)
    assert topic("parameter layers").facts == ("is 3 in this build",)


@pytest.mark.parametrize(
    ("text", "column", "title"),
    [
        ("(cgPhase half (sum", 22, "phase half, its first half"),
        ("(cgPhase half (sum", 33, "plane kept"),
        ("(cgPhase half (sum", 28, "launch of add"),
        ("(cgLaunch add", 15, "image add"),
        ("def sum =", 5, "definition sum"),
        ("plane kept", 2, "plane kept"),
    ],
)
def test_columns_choose_among_what_stands_on_a_line(text: str, column: int, title: str) -> None:
    assert topic(text, column).title.startswith(title)


@pytest.mark.parametrize(("line", "near"), [(1, "line 2 does: `n`"), (38, "line 37 does: `unused`")])
def test_a_line_without_anything_names_lines_near_by(line: int, near: str) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        explain_line(stacked(), SOURCE, 0, line)
    (problem,) = stopped.value.problems
    assert problem.code == "CG514"
    assert near in problem.notes()


@pytest.mark.parametrize("line", [0, STACKED.count("\n") + 1, 10**9])
def test_a_line_that_does_not_exist(line: int) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        explain_line(stacked(), SOURCE, 0, line)
    assert [problem.code for problem in stopped.value.problems] == ["CG515"]


def test_what_the_build_does_not_use() -> None:
    source = Source(
        "p.cg",
        "plane p : f32 [4] output\nplane q : f32 [4] scratch\nphase f\n"
        'image i = kernel "i.cu" "i" { slot 0 out : write f32 [1] block 32 }\ndef main = (cgFill p 0.0)\n',
    )
    compiled = compile_program(source)
    view = view_of_graph(compiled.graph, compiled.schedule, compiled.plan)
    facts = [explain_line(view, source, 0, line)[0].facts[0] for line in (2, 3, 4)]
    assert facts == ["this build does not use it", "this build does not use it", "this build does not launch it"]
    titles = [found.title for found in explain_line(view, source, 0, 5)]
    assert titles == ["definition main", "fill with 0.0 at p.cg:5:12"]


def test_wide_barriers_are_told_in_words() -> None:
    fills = "".join(f"(cgThen (cgFill (p {number}) 1.0)\n" for number in range(14))
    phases = (f"(cgPhase {name}\n{fills}cgNothing" + ")" * 15 for name in ("first", "second"))
    text = (
        "plane p (i : Nat < 14) : f32 [4] output\nphase first\nphase second\ndef main = (cgThen "
        + " ".join(phases)
        + ")\n"
    )
    source = Source("wide.cg", text)
    compiled = compile_program(source, order=Order.PHASE)
    view = view_of_graph(compiled.graph, compiled.schedule, compiled.plan)
    (found,) = explain_line(view, source, 0, 5)
    assert tables(found)["is waited for by"].rows[0][3] == "the next 14 nodes wait for all of the 14 before"


def test_dumps() -> None:
    dump = "digraph g {\n  x -> y;\n  y\n}\n"
    view = read_dump(dump, "d.dot")
    source = Source("d.dot", dump)
    titles = [found.title for found in explain_line(view, source, 0, 2)]
    assert titles == ["x at d.dot:2:3"]
    (found,) = explain_line(view, source, 0, 3)
    assert [row[0] for row in tables(found)["waits for"].rows] == ["given in the dump"]
    with pytest.raises(ProblemsFound):
        explain_line(view, source, 0, 4)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_are_clean_whatever_names_hold(name: str) -> None:
    view = hostile_view(name)
    source = Source("hand.cg", "command\n" * 20)
    view = attrs.evolve(view, sources=(attrs.evolve(view.sources[0], text=source.text),))
    for line in range(1, 6):
        found = explain_line(view, source, 0, line)
        texts = [part for item in found for part in (item.title, *item.facts)]
        texts += [cell for item in found for table in item.tables for row in table.rows for cell in row]
        assert all(text.isprintable() and len(text) <= 400 for text in texts)

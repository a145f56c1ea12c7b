"""`cgraph show`: the tree as text that stays the same, for programs, bundles, dumps and views; colours; wrong usage."""

from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from cgraph.capture import save_bundle
from cgraph.cli.main import main
from cgraph.cli.show_tree import print_tree
from cgraph.pipeline import compile_program
from cgraph.source import Source
from tests.support.bundles import bundle_of
from tests.support.stacked_program import STACKED
from tests.support.views import HOSTILE, hostile_view, small_graph, view_of
from tools.fuzz.samples import PARTS

TREE = """\
stacked.cg
  n = 64, layers = 3, half = f32
  11 commands, 10 dependencies, dataflow order; longest chain: 8 commands, 10.4 µs estimated
  scratch 1.25 KiB (without sharing 1.75 KiB), other planes 512 bytes

phase                          commands       read    written  estimated µs      %
the beginning                         1  256 bytes  256 bytes           1.3    9.1
└─ copy  → stream                     1  256 bytes  256 bytes           1.3    9.1
one layer  × 3, l = 0 … 2             9      3 KiB   2.25 KiB          11.7   81.8
├─ its first half                     3    1.5 KiB  768 bytes           3.9   27.3
│  └─ add  → kept                     3    1.5 KiB  768 bytes           3.9   27.3
└─ its second half                    6    1.5 KiB    1.5 KiB           7.8   54.5
   ├─ fill with 0.5  → stream         3    0 bytes  768 bytes           3.9   27.3
   └─ add  → stream                   3    1.5 KiB  768 bytes           3.9   27.3
copy  → result                        1  256 bytes  256 bytes           1.3    9.1
all commands                         11    3.5 KiB   2.75 KiB          14.3  100.0

× n: n times in a row, alike in all but planes; numbers are of all of them together
estimated for H200, at its best: each command alone, one after the other
"""
DUMP = 'digraph g { subgraph cluster_a { label="box"; x; y } x -> y; y -> z }'


def cgraph(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments])


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "stacked.cg"
    path.write_text(STACKED, encoding="utf-8")
    return str(path)


def test_the_tree_is_the_same_text_every_time(program: str) -> None:
    result = cgraph(program, "--commands")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == TREE
    assert cgraph(program, "--stage", "tree", "--commands").stdout == TREE


def test_without_commands_and_with_a_depth(program: str) -> None:
    shown = cgraph(program, "--depth", "1").stdout.splitlines()
    assert [line.split("  ")[0] for line in shown[6:10]] == [
        "the beginning",
        "one layer",
        "(no phase)",
        "all commands",
    ]


def test_measured_times_and_their_share(program: str, tmp_path: Path) -> None:
    (tmp_path / "fills.cg").write_text(
        'plane p : f32 [4] output\nphase a "the phase"\ndef main = (cgPhase a (cgFill p 1.0))\n', encoding="utf-8"
    )
    shown = cgraph(str(tmp_path / "fills.cg"), "--timed").stdout.splitlines()
    assert "measured ms" in shown[5]
    assert shown[6].startswith("the phase")
    assert shown[6].endswith(" 100.0")
    assert not any("estimated" in line for line in shown)
    assert "estimated µs" in cgraph(program).stdout


def test_bundles_dumps_and_views(tmp_path: Path) -> None:
    bundle, program = tmp_path / "parts.cgb", tmp_path / "parts.cg"
    program.write_text(PARTS, encoding="utf-8")
    save_bundle(bundle_of(compile_program(Source("parts.cg", PARTS))), bundle)
    of_bundle, of_program = (cgraph(str(file), "--commands").stdout.splitlines() for file in (bundle, program))
    assert of_bundle[0] == "parts.cgb"
    assert of_bundle[1:] == of_program[1:]
    assert any(line.startswith("all of it") for line in of_bundle)
    dump = tmp_path / "d.dot"
    dump.write_text(DUMP, encoding="utf-8")
    result = cgraph(str(dump))
    assert result.exit_code == 0, result.stderr
    assert [line.split() for line in result.stdout.splitlines()[3:6]] == [
        ["phase", "commands"],
        ["box", "2"],
        ["(no", "phase)", "1"],
    ]
    written = CliRunner().invoke(main, ["view", str(dump), "-o", str(tmp_path / "v.json")])
    assert written.exit_code == 0, written.stderr
    assert cgraph(str(tmp_path / "v.json")).stdout == result.stdout
    assert cgraph(str(dump), "--stage", "dot").stdout.startswith("digraph")


def test_a_broken_dump_is_shown_and_is_an_error(tmp_path: Path) -> None:
    dump = tmp_path / "d.dot"
    dump.write_text("digraph g { x -> y; y ->", encoding="utf-8")
    result = cgraph(str(dump))
    assert result.exit_code == 1
    # A view that was written of it is whole, as for `cgraph view`.
    CliRunner().invoke(main, ["view", str(dump), "-o", str(tmp_path / "v.json")])
    assert cgraph(str(tmp_path / "v.json")).exit_code == 0
    assert "CG89" in result.stderr
    assert "all commands" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--stage", "graph", "--depth", "2"), "belong to the tree"),
        (("--stage", "dot", "--commands"), "belong to the tree"),
        (("--stage", "plan", "--timed"), "belong to the tree"),
        (("--depth", "0"), "--depth"),
    ],
)
def test_wrong_usage(program: str, arguments: tuple[str, ...], said: str) -> None:
    result = cgraph(program, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_stages_of_programs_belong_to_programs(tmp_path: Path) -> None:
    dump = tmp_path / "d.dot"
    dump.write_text(DUMP, encoding="utf-8")
    assert "belongs to programs" in cgraph(str(dump), "--stage", "plan").stderr
    assert "belongs to programs" in cgraph(str(dump), "--half", "f64").stderr
    result = cgraph(str(dump), "--timed")
    assert (result.exit_code, "CG884" in result.stderr) == (1, True)


def test_a_program_may_have_any_name_where_only_programs_have_the_stage(tmp_path: Path) -> None:
    path = tmp_path / "program.txt"
    path.write_text(STACKED, encoding="utf-8")
    assert cgraph(str(path), "--stage", "graph").exit_code == 0
    assert "CG880" in cgraph(str(path)).stderr


def printed(*, colour: bool, hostile: str | None = None, width: int = 200) -> str:
    view = view_of(small_graph()) if hostile is None else hostile_view(hostile)
    stream = StringIO()
    print_tree(Console(file=stream, force_terminal=colour, width=width), view, commands=True, depth=None)
    return stream.getvalue()


def test_colours_where_the_terminal_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[36m" in printed(colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in printed(colour=True)
    assert "\x1b" not in printed(colour=False)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_reach_the_terminal_only_as_text(name: str) -> None:
    shown = printed(colour=False, hostile=name)
    assert all(character == "\n" or character.isprintable() for character in shown)
    assert all(len(line) < 400 for line in shown.splitlines())


def test_a_narrow_terminal_cuts_names_and_not_numbers() -> None:
    shown = printed(colour=False, width=60)
    assert all(len(line) <= 60 for line in shown.splitlines() if "%" in line or "─" in line)

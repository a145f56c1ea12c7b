"""`cgraph sanitize` finds each planted fault: its code, .cu line, block, thread, plane, element and command.

The programs are in `sanitize/`. A comment in the .cu file marks the line at fault; all other expectations were worked
out from the kernels by hand.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from click.testing import CliRunner, Result

pytest.importorskip("cuda.bindings")

from cgraph.cli.main import main as command_line
from cgraph.cli.sanitize import sanitize

FOLDER = Path(__file__).with_name("sanitize")


@frozen
class Fault:
    """What is expected of one finding.

    `mark` is the comment at the line in the .cu file, "" for a finding in the .cg file; `first` is where the way to the
    command begins, the entry or a definition without arguments.
    """

    file: str
    code: str
    mark: str = "FAULT"
    entry: str = "main"
    first: str = "main"
    facts: dict[str, Any] = field(factory=dict)
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}-{self.entry}-{self.code}"


def _thread(block: int, thread: int) -> dict[str, Any]:
    return {"block": [block, 0, 0], "thread": [thread, 0, 0]}


def _at(memory: str, access: str, offset: int, element: int | None, *index: int) -> dict[str, Any]:
    return {"memory": memory, "access": access, "offset": offset, "element": element, "index": list(index)}


FAULTS = [
    # Thread 99 of 128 reads element 100 of 100.
    Fault("past_end", "CG756", facts={**_thread(3, 3), **_at("plane x", "reads", 400, 100), "kernel": "pastEnd",
          "threads": 1, "command": "command 0, pastEnd"}, notes=("in shifted, called at",)),
    # Thread i reads two floats from element i + 1: every other one is misaligned, thread 0 first, up to 2i + 2 < 64.
    Fault("misaligned", "CG757", facts={**_thread(0, 0), **_at("plane x", "reads", 4, 1, 1), "threads": 16}),
    # Element 92 is that of thread 92 - 64 in block 2.
    Fault("unwritten", "CG759", facts={**_thread(2, 28), **_at("plane s", "reads", 368, 92, 92), "threads": 8,
          "command": "command 1, doubled"}, others=("CG706",)),
    Fault("unwritten", "CG706", mark="", notes=("8 of 100 elements are not written, the first is element 92",),
          others=("CG759",)),
    # 60 ^ 1 is 61, which nobody wrote: byte 244 of the block's tile. Four threads in each of two blocks.
    Fault("shared_unwritten", "CG759",
          facts={**_thread(0, 60), **_at("shared memory", "reads", 244, None), "threads": 8}),
    # Thread 0 reads what thread 63 wrote.
    Fault("shared_race", "CG760", facts={**_thread(0, 0), **_at("shared memory", "reads", 252, None)},
          notes=("thread (63, 0, 0) wrote them before",)),
    # The last thread of block 0 writes the first element of block 1's row.
    Fault("block_race", "CG761", facts={**_thread(0, 63), **_at("plane y", "writes", 256, 64, 1, 0), "threads": 1},
          notes=("the block of number 1 wrote them before",)),
    Fault("partial_barrier", "CG762", facts={**_thread(0, 0), "threads": 40}, notes=("the other threads have exited",)),
    # s is scratch and its last declared use is command 1.
    Fault("freed", "CG758", facts={**_thread(0, 0), **_at("plane s", "reads", 0, 0, 0), "threads": 32,
          "command": "command 2, useKept"}),
    # 72 threads write where 64 elements are declared: thread 64 is the first one too many.
    Fault("command_race", "CG766", first="lower",
          facts={**_thread(0, 64), **_at("plane y", "writes", 256, 64, 1, 0), "threads": 8,
          "command": "command 0, generous"}, others=("CG768",)),
    # The second launch begins at element 64, which the first one has written.
    Fault("command_race", "CG768", mark="SECOND", first="upper",
          facts={**_thread(0, 0), **_at("plane y", "writes", 256, 64, 1, 0),
          "threads": 8, "command": "command 1, exact", "rival": "command 0, generous, wrote them before"},
          notes=("no path of edges orders the two",), others=("CG766",)),
    Fault("command_race", "CG769", mark="", entry="filled", first="filled",
          facts={"access": "writes", "offset": 256, "rival": "command 0, generous, wrote them before"},
          others=("CG766",)),
    # The declared part is the first 50 of 100 elements; thread 49 reads one more.
    Fault("undeclared_read", "CG766", facts={**_thread(1, 17), **_at("plane x", "reads", 200, 50, 1, 0), "threads": 1}),
    # A slot that is declared to be written is read.
    Fault("undeclared_read", "CG766", mark="OLD", entry="old", first="old",
          facts={**_thread(0, 0), **_at("plane y", "reads", 0, 0, 0), "threads": 50}),
    # The first launch has nobody before it; the third repeats the second one's fault.
    Fault("hidden_state", "CG768", facts={**_thread(0, 0), **_at("total", "writes", 0, None), "threads": 32,
          "command": "command 1, counted", "rival": "command 0, counted, wrote them before"},
          notes=("in 1 more launches of the same text", "where k = 1")),
]  # fmt: skip


def _run(file: str, *options: str) -> Result:
    return CliRunner().invoke(sanitize, [str(FOLDER / f"{file}.cg"), *options])


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_found(fault: Fault) -> None:
    result = _run(fault.file, "--entry", fault.entry, "--json")
    assert result.exit_code == 1, result.output
    findings = json.loads(result.stdout)["findings"]
    assert sorted(found["code"] for found in findings) == sorted((fault.code, *fault.others))
    finding = next(found for found in findings if found["code"] == fault.code)
    facts = {name: finding[name] for name in fault.facts}
    assert facts == fault.facts
    for note in fault.notes:
        assert any(note in found for found in finding["notes"]), finding["notes"]
    place = finding["place"]
    if fault.mark:
        lines = (FOLDER / f"{fault.file}.cu").read_text().splitlines()
        (line,) = [number for number, text in enumerate(lines, 1) if text.endswith(f"// {fault.mark}")]
        assert (Path(place["source"]).name, place["line"]) == (f"{fault.file}.cu", line)
        assert f"{fault.file}.cg" in finding["labels"][0]["place"]["source"]
        assert finding["labels"][0]["text"] == f"launched here: {finding['command']}"
    else:
        assert Path(place["source"]).name == f"{fault.file}.cg"
    assert finding["origin"][0]["text"] == fault.first


@pytest.mark.parametrize("file", sorted({fault.file for fault in FAULTS}))
def test_every_program_with_a_fault_is_one_that_the_checker_takes(file: str) -> None:
    assert CliRunner().invoke(command_line, ["check", str(FOLDER / f"{file}.cg")]).exit_code == 0


def test_a_report_shows_both_files_and_the_way_to_the_launch() -> None:
    result = _run("past_end")
    assert result.exit_code == 1
    for text in (
        "error[CG756]: past_end.cu:4 reads out of bounds of plane x",
        "4 |         float next = in[i + 1];  // FAULT",
        "reads 4 bytes of global memory at byte 400 of plane x",
        "launched here: command 0, pastEnd",
        "that is element 100; plane x has 400 bytes",
        "in kernel pastEnd, block (3, 0, 0), thread (3, 0, 0), at past_end.cu:4",
    ):
        assert " ".join(text.split()) in " ".join(result.output.split())  # notes are wrapped to the terminal's width
    assert result.stdout.startswith("1 error found; checked 1 launch, 0 fills and copies")


def test_a_launch_that_is_stopped_is_the_only_one_to_blame(tmp_path: Path) -> None:
    text = (FOLDER / "past_end.cg").read_text().replace("y : f32 [10, 10] output", "y : f32 [10, 10] scratch")
    text = text.replace("def main = (shifted 100)", "") + (
        'import "operations.cg"\nplane z : f32 [100] output\n'
        "def main = (cgThen (shifted 100) (cgBinary cgImageAdd z y y 100))\n"
    )
    imports, declarations = 'import "operations.cg"\n', text.replace('import "operations.cg"\n', "")
    (tmp_path / "past_end.cg").write_text(imports + declarations)
    (tmp_path / "past_end.cu").write_text((FOLDER / "past_end.cu").read_text())
    result = CliRunner().invoke(sanitize, [str(tmp_path / "past_end.cg"), "--json"])
    report = json.loads(result.stdout)
    assert [found["code"] for found in report["findings"]] == ["CG756"]
    assert report["checked"]["launches"] == 2


def test_fail_fast_ends_behind_the_first_command_with_findings() -> None:
    report = json.loads(_run("unwritten", "--fail-fast", "--json").stdout)
    assert [found["code"] for found in report["findings"]] == ["CG706"]
    assert report["checked"]["launches"] == 1


def test_what_was_checked_is_counted() -> None:
    report = json.loads(_run("block_race", "--json").stdout)
    # 128 threads load and store a float, one stores another.
    assert report["checked"]["accessed_bytes"] == 2 * 128 * 4 + 4
    assert report["checked"]["launches"] == 1
    assert report["checked"]["fills_and_copies"] == 0
    assert report["checked"]["thread_instructions"] > 128 * 8


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("def main = (cgFill y 0.0)", (), "CG101"),
        ("plane y : f32 [4] output\ndef main = (cgFill y 0.0)", ("--half", "f32"), "f32"),
        ("plane y : f32 [4] output\ndef main = (cgFill y 0.0)", ("--entry", "other"), "CG523"),
        ("plane y : f32 [4] output\ndef main = (cgFill y 0.0)", ("--inputs", "missing.npz"), "missing.npz"),
    ],
)
def test_errors_in_the_program_and_in_the_call_are_no_findings(
    text: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "wrong.cg").write_text(text)
    result = CliRunner().invoke(sanitize, [str(tmp_path / "wrong.cg"), *options])
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_clean_program_says_what_was_checked_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "clean.cg").write_text("plane y : f32 [4] output\ndef main = (cgFill y 0.0)")
    result = CliRunner().invoke(sanitize, [str(tmp_path / "clean.cg")])
    assert result.exit_code == 0
    assert result.output == (
        "nothing found; checked 0 launches, 1 fills and copies, 0 thread instructions, 0 bytes of accesses\n"
    )

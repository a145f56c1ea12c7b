"""`cgraph gradcheck`: right programs pass, planted mistakes fail by name, errors are explained."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cgraph.cli.gradcheck import gradcheck
from cgraph.resources import programs_directory
from tests.support.small_pairs import write_product, write_square

LAYER = str(programs_directory() / "layer_backward.cg")


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(gradcheck, [str(argument) for argument in arguments])


def data(result: Result) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


def verdicts(result: Result) -> dict[str, str]:
    return {row["plane"]: row["verdict"] for row in data(result)["planes"]}


def wrong_planes(result: Result) -> list[str]:
    return [name for name, verdict in verdicts(result).items() if verdict == "mismatch"]


@pytest.mark.slow
def test_the_layer_program_passes_with_its_own_sizes() -> None:
    result = invoke(LAYER, "--json")
    assert result.exit_code == 0, result.output
    found = data(result)
    assert found["ok"] is True
    assert found["planes"][0]["plane"] == "cgInput"
    assert len(found["planes"]) == 1 + 2 * 9
    for row in found["planes"]:
        assert row["verdict"] == "ok"
        assert row["checked"] == min(row["elements"], 48)
        assert max(row["element_error"], row["direction_error"], row["resolution"]) < 1e-6
    assert found["without_gradient"] == found["zeros"] == found["outside_loss"] == found["not_moved"] == []
    assert found["parameters"]["cgSeq"] == 64


@pytest.mark.parametrize(
    "settings",
    [
        ("cgRecompute=0",),
        ("cgCausal=0",),
        ("cgSeq=1", "cgLayers=1"),
        ("cgSeq=37", "cgLayers=1"),
        ("cgLayers=3", "cgHeads=1"),
        ("cgHeads=3", "cgRecompute=0", "cgCausal=0"),
    ],
)
def test_the_layer_program_passes_with_other_sizes(settings: tuple[str, ...]) -> None:
    small = {"cgSeq": "5", "cgFfn": "6", "cgHeadWidth": "4"}
    given = small | dict(setting.split("=") for setting in settings)
    options = [option for name, value in given.items() for option in ("--set", f"{name}={value}")]
    result = invoke(LAYER, *options, "--samples", 3, "--json")
    assert result.exit_code == 0, result.output
    assert set(verdicts(result).values()) == {"ok"}


LAYER_MISTAKES = [
    pytest.param(
        "(cgBinary cgImageAdd current other cgNorm1InputGradient cgTokenElements)",
        "(cgCopy current cgNorm1InputGradient)",
        {"cgInput"},
        id="no residual below",
    ),
    pytest.param("cgQueriesT (cgQueriesOf l)", "cgQueriesT (cgKeysOf l)", {"cgInput", "cgQkvWeight 0"}, id="keys"),
    pytest.param("cgItemUp) cgFfnGradientHalf", "cgItemUp) cgGateGradientHalf", {"cgUpWeight 0"}, id="up for gate"),
    pytest.param("cgOutputDyHalf other", "cgOutputDyHalf current", {"cgOutputWeight 0"}, id="another residual"),
]


@pytest.mark.parametrize(("right", "wrong", "planes"), LAYER_MISTAKES)
def test_a_mistake_in_the_layer_is_named(tmp_path: Path, right: str, wrong: str, planes: set[str]) -> None:
    text = Path(LAYER).read_text(encoding="utf-8")
    assert right in text
    (tmp_path / "backward.cg").write_text(text.replace(right, wrong), encoding="utf-8")
    small = ("cgSeq=5", "cgFfn=6", "cgHeadWidth=4", "cgLayers=1")
    options = [option for setting in small for option in ("--set", setting)]
    forward = Path(LAYER).with_name("layer_forward.cg")
    result = invoke(tmp_path / "backward.cg", "--forward", forward, *options, "--samples", 3, "--json")
    assert result.exit_code == 1, result.output
    assert planes <= set(wrong_planes(result)) < set(verdicts(result))


@pytest.mark.parametrize("seed", [0, 5])
def test_two_files_pass(tmp_path: Path, seed: int) -> None:
    result = invoke(write_square(tmp_path), "--seed", seed, "--json")
    assert result.exit_code == 0, result.output
    assert verdicts(result) == {"x": "ok", "w": "ok"}
    assert data(result)["forward"] == str(tmp_path / "square_forward.cg")


def test_one_file_passes(tmp_path: Path) -> None:
    file = write_product(tmp_path)
    for options in (("--forward-entry", "forward"), ("--forward", f"{file}:forward")):
        result = invoke(file, "--entry", "backward", *options, "--set", "rows=3", "--json")
        assert result.exit_code == 0, result.output
        assert verdicts(result) == {"x": "ok", "w": "ok", "s": "ok"}
        assert (data(result)["entry"], data(result)["forward_entry"]) == ("backward", "forward")
        assert data(result)["parameters"]["rows"] == 3


def scaled(factor: str) -> tuple[str, str]:
    """The weight's gradient times a factor."""
    plain = "(cgBinary cgImageMultiply half' dkept x n)"
    times = "(cgBinary cgImageMultiply dw half' factor n)"
    return "(cgBinary cgImageMultiply dw dkept x n)", f"(cgThen (cgFill factor {factor}) (cgThen {plain} {times}))"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        pytest.param(scaled("-1.0"), ["w"], id="sign"),
        pytest.param(scaled("1.00001"), ["w"], id="a factor near one"),
        pytest.param(scaled("0.0"), ["w"], id="nothing"),
        pytest.param(("dx dkept w n", "dx half' w n"), ["x"], id="a factor of two"),
        pytest.param(("dx dkept w n", "dx dkept x n"), ["x"], id="another operand"),
        pytest.param(("dkept half' half' n", "dkept half' dy n"), ["x", "w"], id="another term"),
    ],
)
def test_a_planted_mistake_is_named(tmp_path: Path, change: tuple[str, str], wrong: list[str]) -> None:
    result = invoke(write_square(tmp_path, change), "--json")
    assert result.exit_code == 1, result.output
    assert wrong_planes(result) == wrong
    assert data(result)["ok"] is False


STORE = "(cgBinary cgImageMultiply ds dy z m)"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        pytest.param(("cgCastDown dzHalf dz m", "cgCastDown dzHalf dy m"), ["x", "w"], id="a missing term"),
        pytest.param(("ds dy z m", "ds dy s m"), ["s"], id="another operand"),
        pytest.param(("cgBinary cgImageMultiply dzs dy s", "cgBinary cgImageAdd dzs dy s"), ["x", "w"], id="a sum"),
        pytest.param(
            (STORE, f"(cgThen {STORE} (cgBinary cgImageMultiply (cgAt ds 2) dy z 1))"), ["s"], id="an element"
        ),
    ],
)
def test_a_mistake_among_products_is_named(tmp_path: Path, change: tuple[str, str], wrong: list[str]) -> None:
    result = invoke(
        write_product(tmp_path, change), "--entry", "backward", "--forward-entry", "forward", "--json", "--samples", 1
    )
    assert result.exit_code == 1, result.output
    assert wrong_planes(result) == wrong


def test_a_gradient_in_the_wrong_shape_of_the_same_size_is_compared_as_it_lies(tmp_path: Path) -> None:
    change = ("plane dx : f32 [rows, 4]", "plane dx : f32 [4, rows]")
    assert invoke(write_square(tmp_path, change)).exit_code == 0


def test_the_table_piped(tmp_path: Path) -> None:
    result = invoke(write_square(tmp_path, scaled("-1.0")))
    assert result.exit_code == 1
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0] == ["element", "direction", "gradient"]
    assert lines[1] == ["plane", "verdict", "elements", "checked", "error", "error", "noise", "norm"]
    assert [row[:4] for row in lines[2:4]] == [["x", "ok", "24", "24"], ["w", "mismatch", "24", "24"]]
    assert all(math.isfinite(float(number)) for row in lines[2:4] for number in row[4:])
    assert lines[4] == f"1 ok, 1 mismatch of 2 gradients against {tmp_path}/square_forward.cg: main, in f64".split()
    assert len(lines) == 5
    assert "\x1b" not in result.stdout


def test_notes_say_what_the_table_leaves_out(tmp_path: Path) -> None:
    unused = ("plane factor", "plane ids : i32 [3] input\nplane idsOut : i32 [3] output\nplane factor")
    forward = (
        "(cgBinary cgImageMultiply y kept kept n)",
        "(cgThen (cgBinary cgImageMultiply y kept kept n) (cgCopy idsOut ids))",
    )
    backward = ("(cgBinary cgImageMultiply dw dkept x n)", "cgNothing")
    result = invoke(write_square(tmp_path, unused, forward, backward, ("plane dw : f32 [rows, 4] gradient of w", "")))
    assert result.exit_code == 0, result.output
    assert "no gradient in the backward program: w\n" in result.stdout
    assert "given zeros, as integers are: ids\n" in result.stdout
    assert "not part of the loss, for no gradient enters: idsOut\n" in result.stdout


def test_a_gradient_that_is_not_finite_fails_and_is_explained(tmp_path: Path) -> None:
    overflow = ("dw half' factor n", "dw factor factor n")
    result = invoke(write_square(tmp_path, scaled("1.0e300"), overflow), "--json")
    assert result.exit_code == 1, result.output
    assert verdicts(result) == {"x": "ok", "w": "mismatch"}
    row = data(result)["planes"][1]
    assert row["element_error"] is None
    assert row["finding"] == "the gradient is not finite at [0, 0], 24 of its 24 elements"
    assert "error[CG715]: the backward program leaves `dw` not finite" in result.stderr


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        pytest.param(("dy kept n", "dy kept nn"), "CG1", "`nn`", id="backward"),
        pytest.param(("y kept kept n", "y kept kept nn"), "CG1", "`nn`", id="forward"),
        pytest.param(("kept : f32 [rows, 4] saved", "kept : f32 [rows, 4] scratch"), "CG501", "`kept`", id="graph"),
        pytest.param(("gradient of y", "gradient of x"), "CG", "`dy`", id="pair"),
    ],
)
def test_errors_in_programs(tmp_path: Path, change: tuple[str, str], code: str, said: str) -> None:
    result = invoke(write_square(tmp_path, change))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"error[{code}" in result.stderr
    assert said in result.stderr


def test_no_forward_program(tmp_path: Path) -> None:
    file = write_square(tmp_path)
    (tmp_path / "square_forward.cg").unlink()
    result = invoke(file)
    assert result.exit_code == 2
    assert f"error[CG710]: no forward program for `{file}`" in result.stderr
    assert "--forward FILE[:ENTRY]" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "cgSeq"), "`cgSeq` is not NAME=VALUE"),
        (("--set", "cgSeq=x"), "`x` is no number"),
        (("--set", "cgSek=3"), "no parameter `cgSek`"),
        (("--entry", "cgNope"), "no definition `cgNope`"),
        (("--forward", "nowhere.cg"), "nowhere.cg"),
        (("--forward", f"{LAYER}:one", "--forward-entry", "two"), "--forward-entry"),
        (("--samples", "0"), "--samples"),
        (("--tolerance", "0"), "--tolerance"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], said: str) -> None:
    result = invoke(LAYER, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_the_same_seed_gives_the_same_output(tmp_path: Path) -> None:
    file = write_square(tmp_path, scaled("1.5"))
    outputs = [invoke(file, "--seed", seed, "--samples", 3).stdout for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]

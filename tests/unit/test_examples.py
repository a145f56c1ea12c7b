"""The example programs: in the formatter's form, without warnings, and computing what NumPy computes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from cgraph.backends.protocol import Executable
from cgraph.cli.gradcheck import gradcheck
from cgraph.core.elements import Element
from cgraph.pipeline import compile_program, lower, parse
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from cgraph.syntax.printer import print_module

EXAMPLES = programs_directory() / "examples"
PROGRAMS = ("mlp_forward", "mlp_backward", "sum_of_rows")
# Compared in test_user_kernels.py.
WITH_KERNELS = {"rms_norm"}

# rows, inputs, hidden, outputs: the defaults, the smallest, and more than one block of a kernel.
SIZES = ((5, 7, 12, 3), (1, 1, 1, 1), (67, 33, 130, 65))
# Each element passes through two sums of at most 130 products; rounding moves them by some 130 units in the last place
# (2^-53, 2^-24) at worst, and far less in the norm.
PRECISIONS = ((Element.F64, np.float64, 1e-13), (Element.F32, np.float32, 1e-5))


def prepare(name: str, sizes: Mapping[str, int], half: Element) -> Executable:
    compiled = compile_program(load_source(EXAMPLES / f"{name}.cg"), sizes, half=half)
    assert compiled.warnings == ()
    return lower(compiled.graph, compiled.schedule, compiled.plan)


def draw(*shapes: tuple[int, ...]) -> list[NDArray[np.float64]]:
    random = np.random.default_rng(7)
    return [random.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.cg")), ids=lambda file: file.name)
def test_an_example_is_formatted(file: Path) -> None:
    source = load_source(file)
    assert print_module(parse(source)) == source.text


def test_every_program_of_the_examples_is_compared() -> None:
    with_entry = {file.stem for file in EXAMPLES.glob("*.cg") if "def main" in file.read_text(encoding="utf-8")}
    assert with_entry == {*PROGRAMS, *WITH_KERNELS}


@pytest.mark.parametrize("half", [Element.F32, Element.F16, Element.BF16, Element.F64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_builds_without_warnings_for_every_half(name: str, half: Element) -> None:
    prepare(name, {}, half)


@pytest.mark.parametrize(("half", "dtype", "relative"), PRECISIONS)
@pytest.mark.parametrize(("rows", "inputs", "hidden", "outputs"), SIZES)
def test_the_perceptron_computes_what_numpy_computes(
    rows: int, inputs: int, hidden: int, outputs: int, half: Element, dtype: type, relative: float
) -> None:
    sizes = {"rows": rows, "inputs": inputs, "hidden": hidden, "outputs": outputs}
    x, weight1, weight2, y_gradient = draw((rows, inputs), (hidden, inputs), (outputs, hidden), (rows, outputs))
    sums = x @ weight1.T
    squares = sums**2
    sums_gradient = 2 * sums * (y_gradient @ weight2)
    expected = {
        "y": squares @ weight2.T,
        "weight2Gradient": y_gradient.T @ squares,
        "xGradient": sums_gradient @ weight1,
        "weight1Gradient": sums_gradient.T @ x,
    }
    forward, backward = (prepare(name, sizes, half) for name in ("mlp_forward", "mlp_backward"))
    for name, values in (("x", x), ("weight1", weight1), ("weight2", weight2)):
        forward.set(name, values.astype(dtype))
        backward.set(name, values.astype(dtype))
    forward.run()
    for name in ("sums", "squaresHalf"):
        backward.set(name, forward.get(name))
    backward.set("yGradient", y_gradient.astype(dtype))
    backward.run()
    for name, values in expected.items():
        found = (forward if name == "y" else backward).get(name)
        assert found.shape == values.shape
        error = np.linalg.norm(found.astype(np.float64) - values)
        assert error <= relative * np.linalg.norm(values), name


@pytest.mark.parametrize(("rows", "width"), [(6, 10), (1, 1), (33, 1025)])
def test_the_sum_of_rows_is_the_one_of_numpy(rows: int, width: int) -> None:
    (table,) = draw((rows, width))
    program = prepare("sum_of_rows", {"rows": rows, "width": width}, Element.F64)
    program.set("table", table)
    program.run()
    np.testing.assert_allclose(program.get("total"), table.sum(axis=0), rtol=0, atol=1e-13 * rows)


def test_the_gradients_of_the_perceptron_pass_the_check() -> None:
    result = CliRunner().invoke(gradcheck, [str(EXAMPLES / "mlp_backward.cg")])
    assert result.exit_code == 0, result.output
    assert "3 ok of 3 gradients" in result.stdout

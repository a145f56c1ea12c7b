"""Kernels that lie beside a program: the example against NumPy, and what a user sees when a kernel is wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from cgraph.backends.cuda import compiler
from cgraph.backends.cuda.problems_compiler import NvrtcNotFound
from cgraph.backends.devices import HOST, Device, DeviceKind
from cgraph.backends.protocol import Executable
from cgraph.cli.run import run
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.pipeline import compile_program, lower
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from tests.support.kernel_files import write_files

EXAMPLE = programs_directory() / "examples" / "rms_norm.cg"
DEVICES = (HOST, Device(DeviceKind.EMULATED))
HALVES = (
    (Element.F16, np.dtype(np.float16), 2.0**-11, 2.0**-25),
    (Element.BF16, np.dtype(ml_dtypes.bfloat16), 2.0**-8, 0.0),
)

SCALE_CG = """\
parameter n : Nat = 100
plane x : f32 [n] input
plane y : f32 [n] output
image scale = kernel "scale.cu" "scale" {
  slot 0 out : write f32 [count]
  slot 1 source : read f32 [count]
  slot 2 factor : float
  slot 3 count : natural
  grid [(naturalCeilDivide count 64), 1, 1]
  block 64
}
def launched =
  (lambda unrestricted out : Plane f32 . (lambda unrestricted source : Plane f32 . (lambda unrestricted count : Nat .
    (cgLaunch scale (naturalCeilDivide count 64) 1 1
      (cgPointer (cgArgument 0) out
      (cgPointer (cgArgument 1) source
      (cgFloat (cgArgument 2) 2.0
      (cgNatural (cgArgument 3) count cgNoSlots))))))))
def main = (launched y x n)
"""
SCALE_CU = """\
extern "C" __global__ void __launch_bounds__(64) scale(float* out, const float* source, float factor, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        out[i] = factor * source[i];
    }
}
"""


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for the whole module."""
    monkeypatch.setenv("CGRAPH_CACHE", str(tmp_path_factory.getbasetemp() / "user_kernels"))


def prepare(path: Path, device: Device = HOST, half: Element = Element.F16, **parameters: float) -> Executable:
    compiled = compile_program(load_source(path), parameters, half=half)
    assert compiled.warnings == ()
    return lower(compiled.graph, compiled.schedule, compiled.plan, device)


def scale_program(folder: Path, program: str = SCALE_CG, kernel: str = SCALE_CU) -> Path:
    write_files(folder, {"scale.cg": program, "scale.cu": kernel})
    return folder / "scale.cg"


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def problems_of(path: Path, half: Element = Element.F16) -> Sequence[Problem]:
    """What stops the program on the host, when it is prepared or run."""
    with pytest.raises(ProblemsFound) as stopped:
        prepare(path, half=half).run()
    return stopped.value.problems


def message(path: Path, half: Element = Element.F16) -> str:
    return render(problems_of(path, half), colour=False, width=120)


def exact_norm(x: NDArray[Any], gain: NDArray[Any], epsilon: float) -> NDArray[np.float64]:
    wide = x.astype(np.float64)
    factor: NDArray[np.float64] = np.sqrt(np.mean(wide**2, axis=1, keepdims=True) + epsilon)
    return wide / factor * gain.astype(np.float64)


@pytest.mark.parametrize(("half", "dtype", "unit", "smallest"), HALVES, ids=["f16", "bf16"])
@pytest.mark.parametrize(("tokens", "channels"), [(5, 100), (1, 1), (3, 32), (7, 1025)])
def test_the_example_computes_what_numpy_computes(
    tokens: int, channels: int, half: Element, dtype: np.dtype[Any], unit: float, smallest: float
) -> None:
    random = np.random.default_rng(tokens)
    x = random.standard_normal((tokens, channels)).astype(np.float32)
    gain = random.standard_normal(channels).astype(np.float32)
    results = []
    for device in DEVICES:
        program = prepare(EXAMPLE, device, half, tokens=tokens, channels=channels, epsilon=1e-6)
        program.set("x", x)
        program.set("gain", gain)
        program.run()
        results.append(program.get("y"))
    expected = exact_norm(x, gain, float(np.float32(1e-6)))
    # A thread adds at most ceil(channels/128) squares, then 9 sums follow: half of their relative error remains behind
    # the root. Six more roundings to f32 (square, mean, sum with epsilon, root, reciprocal, two products) and one to
    # half follow; in f16's subnormals that one is absolute.
    roundings = (-(-channels // 128) + 10) / 2 + 6
    bound = (unit + roundings * 2.0**-24) * np.abs(expected) * (1 + unit) + smallest
    for result in results:
        assert result.dtype == dtype
        assert np.all(np.abs(result.astype(np.float64) - expected) <= bound)
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("device", ["host", "emulated"])
def test_the_example_runs_without_a_warning(device: str) -> None:
    result = CliRunner().invoke(run, [str(EXAMPLE), "--half", "bf16", "--device", device])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""


def test_a_check_of_a_kernel_alone_has_nothing_to_compare_with() -> None:
    result = CliRunner().invoke(run, [str(EXAMPLE), "--half", "f16", "--check"])
    assert result.exit_code == 1
    assert "error[CG707]: there is nothing to compare with: image rmsNorm has no form in f64" in result.stderr


@pytest.mark.parametrize("half", [Element.F32, Element.F64])
def test_a_half_that_the_kernel_does_not_know(half: Element) -> None:
    text = message(EXAMPLE, half)
    assert f"error[CG704]: the host cannot run rmsNorm with half = {half.value}" in text
    assert "= help: build with --half f16 or --half bf16" in text
    assert "rms_norm.cg:33:3" in text


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_a_kernel_without_half_runs_with_half_f32(tmp_path: Path, device: Device) -> None:
    program = prepare(scale_program(tmp_path), device, Element.F32)
    x = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    program.set("x", x)
    for _ in range(2):
        program.run()
        np.testing.assert_array_equal(program.get("y"), 2.0 * x)


def test_f64_planes_are_not_for_a_kernel_of_f32(tmp_path: Path) -> None:
    text = message(scale_program(tmp_path), Element.F64)
    assert "error[CG704]" in text
    assert "in this build its f32 planes are f64 as well" in " ".join(text.split())


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_parts_of_planes_slots_that_share_bytes_and_slots_left_out(tmp_path: Path, device: Device) -> None:
    image = replaced(SCALE_CG, "write f32 [count]", "write f32 [count] aliases source")
    image = replaced(image, "slot 3 count : natural", "slot 3 count : natural\n  slot 4 flags : read i32 [1] optional")
    main = "(cgThen (cgCopy y x) (launched (cgAt y 30) (cgAt y 30) 40))"
    kernel = replaced(
        replaced(SCALE_CU, "int n)", "int n, const int* flags)"), "(i < n)", "(i < n && flags == nullptr)"
    )
    image = replaced(image, "parameter n : Nat = 100", "def n = 100")
    program = prepare(scale_program(tmp_path, replaced(image, "(launched y x n)", main), kernel), device)
    x = np.arange(100, dtype=np.float32)
    program.set("x", x)
    program.run()
    expected = x.copy()
    expected[30:70] *= 2
    np.testing.assert_array_equal(program.get("y"), expected)


def test_variables_of_a_module_last_from_launch_to_launch(tmp_path: Path) -> None:
    kernel = replaced("__device__ float grown = 1.0f;\n" + SCALE_CU, "factor * source[i]", "grown")
    kernel = replaced(kernel, "    int i =", "    if (blockIdx.x == 0) { __syncthreads(); }\n    int i =")
    kernel = replaced(
        kernel, "    }\n}\n", "    }\n    __syncthreads();\n    if (threadIdx.x == 0) grown += 1.0f;\n}\n"
    )
    program = prepare(scale_program(tmp_path, kernel=kernel), n=64)
    for time in (1.0, 2.0, 3.0):
        program.run()
        assert np.all(program.get("y") == time)


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ProblemsFound([NvrtcNotFound(None, "libnvrtc.so was not found")])

    monkeypatch.setattr(compiler, "nvrtc_version", missing)
    text = message(scale_program(tmp_path))
    assert "error[CG701]: the host does not know what scale means" in text
    assert "the kernel itself cannot be compiled: NVIDIA's compiler library NVRTC is not installed" in text
    assert "= help: install cgraph-lang[cuda]: with its compiler the host executes the kernel itself" in text
    assert '@meaning("scale.cu", "scale")' in text


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    path = scale_program(tmp_path)
    (tmp_path / "scale.cu").unlink()
    text = message(path)
    assert "error[CG731]: there is no scale.cu, which image scale names" in text
    assert "scale.cg:4:7" in text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (" scale(float", " scales(float", ("error[CG736]: scale.cu has no kernel scale", "it has scales")),
        ("factor, int n", "factor, float n", ("error[CG737]", "slot 3 is an int", "parameter a float (f32)")),
        ("factor * source", "factr * source", ("error[CG735]", "scale.cu:4:9", 'identifier "factr" is undefined')),
    ],
    ids=["another name", "other parameters", "a misspelling"],
)
def test_a_kernel_that_does_not_suit_its_declaration(
    tmp_path: Path, old: str, new: str, expected: tuple[str, ...]
) -> None:
    text = message(scale_program(tmp_path, kernel=replaced(SCALE_CU, old, new)))
    for words in expected:
        assert words in text


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "words"),
    [
        ("if (i < n)", "if (i <= n)", "CG756", "scale.cu:4", "reads out of bounds of plane x"),
        ("factor * source[i]", "factor * out[i]", "CG759", "scale.cu:4", "reads bytes of plane y that nothing wrote"),
        ("out[i] =", "out[0] =", "CG761", "scale.cu:4", "bytes of plane y that another block"),
    ],
    ids=["beyond its end", "what is only written", "another block's bytes"],
)
def test_a_kernel_that_does_what_none_may(tmp_path: Path, old: str, new: str, code: str, line: str, words: str) -> None:
    problems = problems_of(scale_program(tmp_path, kernel=replaced(SCALE_CU, old, new)))
    assert problems[0].code == code
    assert problems[-1].code == "CG705"
    assert problems[-1].render_title() == "the kernel of scale failed"
    text = render(problems, colour=False, width=120)
    assert line in text
    assert words in text
    assert "in launched, called at" in text


def test_the_end_of_a_part_is_an_end(tmp_path: Path) -> None:
    program = replaced(SCALE_CG, "(launched y x n)", "(cgThen (cgFill y 0.0) (launched y (cgAt x 10) 64))")
    program = replaced(program, "parameter n : Nat = 100", "def n = 100")
    kernel = replaced(SCALE_CU, "source[i]", "source[i + 1]")
    first = problems_of(scale_program(tmp_path, program, kernel))[0]
    assert first.code == "CG756"
    assert first.render_title().endswith("reads out of bounds of the part of plane x up to byte 296")


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("if (i < n)", "if (i < n - 1)", "1 of 100 elements are not written, the first is element 99"),
        ("if (i < n)", "if (i < n && i % 2 == 1)", "50 of 100 elements are not written, the first is element 0"),
    ],
    ids=["all but the last", "every second"],
)
def test_a_kernel_that_leaves_elements_out(tmp_path: Path, old: str, new: str, note: str) -> None:
    text = message(scale_program(tmp_path, kernel=replaced(SCALE_CU, old, new)))
    assert "error[CG706]: scale of scale.cu does not write all of out" in text
    assert note in text
    assert "or declare it `accumulate`, which keeps what is there" in text

"""Kernels of users: found beside their program, checked against their declaration, compiled once."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cgraph.backends.cuda import compiler
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiler import compile_images
from cgraph.backends.cuda.nvrtc import NvrtcOutput, run_nvrtc
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.graph.model import Image
from tests.support.kernel_files import SCALE_CG, SCALE_CU, images_of, scale_images, write_files

ARCHITECTURE = "sm_80"


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("CGRAPH_CACHE", str(directory))
    return directory


def problems_of(
    images: Sequence[Image], half: Element = Element.F16, architecture: str = ARCHITECTURE
) -> list[Problem]:
    with pytest.raises(ProblemsFound) as stopped:
        compile_images(images, half, architecture, CodeKind.PTX)
    return list(stopped.value.problems)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The options of every compilation from now on."""
    made: list[tuple[str, ...]] = []

    def counted(
        text: str, name: str, options: tuple[str, ...], headers: tuple[tuple[str, str], ...] = ()
    ) -> NvrtcOutput:
        made.append(options)
        return run_nvrtc(text, name, options, headers)

    monkeypatch.setattr(compiler, "run_nvrtc", counted)
    return made


def test_a_cubin_and_ptx_of_a_kernel_beside_its_program(tmp_path: Path) -> None:
    images = scale_images(tmp_path)
    (cubin,) = compile_images(images, Element.F16, ARCHITECTURE)
    assert cubin.module.code.startswith(b"\x7fELF")
    assert cubin.entry.name == "scale"
    assert [parameter.type for parameter in cubin.entry.parameters] == ["u64", "u64", "f32", "u32"]
    assert cubin.entry.block_threads == 64
    assert cubin.entry.resources is not None
    assert 4 <= cubin.entry.resources.registers <= 32
    (ptx,) = compile_images(images, Element.F16, ARCHITECTURE, CodeKind.PTX)
    text = ptx.module.code.decode()
    assert ".target sm_80" in text
    assert f'"{tmp_path / "scale.cu"}"' in text
    assert ptx.entry.resources is None
    assert ptx.module.key != cubin.module.key


def test_constants_are_macros(tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cg": SCALE_CG, "scale.cu": SCALE_CU})
    codes = {
        length: compile_images(images_of(tmp_path / "scale.cg", length=length), Element.F16, ARCHITECTURE, CodeKind.PTX)
        for length in (123457, 234567)
    }
    for length, (kernel,) in codes.items():
        # Below a number and at most the number before it are the same.
        assert re.search(rf"setp.*, ({length}|{length - 1});", kernel.module.code.decode())


def test_equal_content_is_compiled_once(tmp_path: Path, compilations: list[tuple[str, ...]]) -> None:
    for _ in range(2):
        compile_images(scale_images(tmp_path), Element.F16, ARCHITECTURE, CodeKind.PTX)
    assert len(compilations) == 1


@pytest.mark.parametrize(
    ("changed", "name"), [(SCALE_CU + "// changed\n", "scale.cu"), ("#define TWICE 3\n", "scale.cuh")]
)
def test_changed_files_are_compiled_again(
    tmp_path: Path, compilations: list[tuple[str, ...]], changed: str, name: str
) -> None:
    kernel = '#include "scale.cuh"\n' + SCALE_CU
    write_files(tmp_path, {"scale.cuh": "#define TWICE 2\n"})
    images = scale_images(tmp_path, kernel=kernel)
    compile_images(images, Element.F16, ARCHITECTURE, CodeKind.PTX)
    write_files(tmp_path, {name: changed})
    compile_images(images, Element.F16, ARCHITECTURE, CodeKind.PTX)
    compile_images(images, Element.BF16, ARCHITECTURE, CodeKind.PTX)
    compile_images(images, Element.BF16, "sm_90", CodeKind.PTX)
    assert len(compilations) == 4


def test_a_damaged_cache_is_compiled_again(
    tmp_path: Path, kernel_cache: Path, compilations: list[tuple[str, ...]]
) -> None:
    images = scale_images(tmp_path)
    (before,) = compile_images(images, Element.F16, ARCHITECTURE)
    (entry,) = (kernel_cache / "kernels").iterdir()
    entry.write_bytes(entry.read_bytes()[:-100])
    (after,) = compile_images(images, Element.F16, ARCHITECTURE)
    assert len(compilations) == 2
    assert (after.entry, after.module.code) == (before.entry, before.module.code)


def test_images_of_one_file_share_a_module(tmp_path: Path, compilations: list[tuple[str, ...]]) -> None:
    second = SCALE_CG.split("\n", 2)[2].replace("scale =", "again =").replace("LENGTH", "OTHER")
    images = scale_images(tmp_path, SCALE_CG + second)
    one, other = compile_images(images, Element.F16, ARCHITECTURE, CodeKind.PTX)
    assert one.module is other.module
    assert len(compilations) == 1
    third = second.replace("again =", "thrice =").replace("OTHER = length", "LENGTH = 7")
    images = scale_images(tmp_path, SCALE_CG + third)
    one, other = compile_images(images, Element.F16, ARCHITECTURE, CodeKind.PTX)
    assert one.module.key != other.module.key


def test_an_error_is_shown_at_its_line(tmp_path: Path) -> None:
    images = scale_images(tmp_path, kernel=SCALE_CU.replace("factor * source[i]", "factr * source[i]"))
    (problem,) = problems_of(images)
    assert problem.code == "CG735"
    (label,) = problem.labels()
    assert label.span.line == 4
    assert label.span.text == "out[i] = factr * source[i];"
    assert "factr" in label.text
    text = render([problem], colour=False)
    assert "scale.cg:3:7" in text
    assert "scale.cu:4:9" in text


def test_an_error_in_a_header_is_shown_there(tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cuh": "#pragma once\n\nint helper() { return 1 }\n"})
    (problem,) = problems_of(scale_images(tmp_path, kernel='#include "scale.cuh"\n' + SCALE_CU))
    assert any(label.span.source.name.endswith("scale.cuh") and label.span.line == 3 for label in problem.labels())


def test_a_missing_header_says_where_it_was_looked_for(tmp_path: Path) -> None:
    (problem,) = problems_of(scale_images(tmp_path, kernel="#include <no_such_header.h>\n" + SCALE_CU))
    assert problem.code == "CG735"
    assert any(note.startswith("CUDA's headers: ") for note in problem.notes())


def test_headers_of_cuda_are_found(tmp_path: Path) -> None:
    compile_images(scale_images(tmp_path, kernel="#include <cuda_bf16.h>\n" + SCALE_CU), Element.F16, ARCHITECTURE)


@pytest.mark.parametrize(
    ("old", "new", "slot", "words"),
    [
        ("float factor, int n", "int n, float factor", "slot 2 factor : float", "an int (u32)"),
        ("const float* source", "float source", "slot 1 source : read f32 [n]", "a float (f32)"),
        ("float factor", "double factor", "slot 2 factor : float", "8 bytes (f64)"),
        (", int n)", ")", "slot 3 n : natural", "no parameter 3"),
        ("int n)", "int n, int more)", "scale", "5 parameters, the image 4"),
    ],
)
def test_a_kernel_that_drifts_from_its_declaration(tmp_path: Path, old: str, new: str, slot: str, words: str) -> None:
    kernel = SCALE_CU.replace(old, new)
    if "int n" not in kernel:
        kernel = kernel.replace("i < n", "true")
    kernel = kernel.replace("source[i]", "1.0f")
    problem = problems_of(scale_images(tmp_path, kernel=kernel))[0]
    assert problem.code == "CG737"
    assert any(label.span.text == slot and words in label.text for label in problem.labels())


def test_a_block_that_the_kernel_does_not_allow(tmp_path: Path) -> None:
    (problem,) = problems_of(scale_images(tmp_path, SCALE_CG.replace("block 64", "block [32, 4]")))
    assert problem.code == "CG738"
    assert "128 threads, and its kernel allows 64" in problem.render_title()


def test_an_entry_that_is_missing(tmp_path: Path) -> None:
    (problem,) = problems_of(scale_images(tmp_path, kernel=SCALE_CU.replace(" scale(", " scales(")))
    assert problem.code == "CG736"
    assert problem.notes() == ("it has scales",)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    images = scale_images(tmp_path)
    (tmp_path / "scale.cu").unlink()
    (problem,) = problems_of(images)
    assert problem.code == "CG731"
    assert problem.notes()[0] == f"not found: {tmp_path / 'scale.cu'}"


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    images = scale_images(tmp_path)
    (tmp_path / "scale.cu").write_bytes(b"\xff\xfe")
    assert [problem.code for problem in problems_of(images)] == ["CG732"]


def test_a_half_that_kernels_do_not_know(tmp_path: Path) -> None:
    images = scale_images(tmp_path, kernel='#include "common.cuh"\n' + SCALE_CU)
    assert [problem.code for problem in problems_of(images, Element.F32)] == ["CG733"]
    # A kernel without half planes does not care.
    compile_images(scale_images(tmp_path), Element.F32, ARCHITECTURE, CodeKind.PTX)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_1", "gfx90a", "compute_80"])
def test_an_architecture_that_is_not_supported(tmp_path: Path, architecture: str) -> None:
    (problem,) = problems_of(scale_images(tmp_path), architecture=architecture)
    assert problem.code == "CG734"
    assert "sm_80" in problem.notes()[0]


def test_all_problems_of_all_files_are_found(tmp_path: Path) -> None:
    second = SCALE_CG.split("\n", 2)[2].replace("scale =", "again =").replace("scale.cu", "nowhere.cu")
    images = scale_images(tmp_path, SCALE_CG + second, SCALE_CU.replace("int i", "integer i"))
    assert sorted(problem.code for problem in problems_of(images)) == ["CG731", "CG735"]

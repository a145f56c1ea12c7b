"""What becomes of kernels when a program is saved, and what cannot be saved."""

from pathlib import Path

import attrs
import numpy as np
import pytest

from cgraph.backends.cuda import storing
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.problems_compiler import NvrtcNotFound
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.capture.saving import make_bundle, save_bundle, warn_of_missing_code
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import JoinNode, PlaneArgument
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tools.fuzz.samples import PARTS

TWICE_CG = """
plane source : f32 [64] input
plane result : f32 [64] output
image twice = kernel "twice.cu" "twice" {
  slot 0 result : write f32 [n]
  slot 1 source : read f32 [n]
  slot 2 n : natural
  block 64
}
def main =
  (cgLaunch twice 1 1 1
    (cgPointer (cgArgument 0) result
    (cgPointer (cgArgument 1) source
    (cgNatural (cgArgument 2) 64 cgNoSlots))))
"""
TWICE_CU = """
extern "C" __global__ void twice(float* result, const float* source, int n) {
    if (threadIdx.x < n) result[threadIdx.x] = FACTOR * source[threadIdx.x];
}
"""


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGRAPH_CACHE", str(tmp_path / "cache"))


def without_compiler(*_arguments: object) -> None:
    raise ProblemsFound([NvrtcNotFound(None, "it is not there")])


def rms_norm(half: Element) -> Compiled:
    return compile_program(load_source(programs_directory() / "examples" / "rms_norm.cg"), half=half)


def bundle_of(program: Compiled, *architectures: str) -> Bundle:
    return make_bundle(program.graph, program.schedule, program.plan, architectures=architectures)


def codes(stopped: pytest.ExceptionInfo[ProblemsFound]) -> list[str]:
    return [problem.code for problem in stopped.value.problems]


def test_code_is_made_for_the_devices_asked_for(tmp_path: Path) -> None:
    bundle = bundle_of(rms_norm(Element.BF16), "sm_90", "sm_80", "sm_90")
    (module,) = bundle.modules
    assert [(code.kind, code.architecture) for code in module.codes] == [
        (CodeKind.PTX, "compute_80"),
        (CodeKind.CUBIN, "sm_80"),
        (CodeKind.CUBIN, "sm_90"),
    ]
    ptx, *cubins = module.codes
    assert ptx.data.startswith(b"//")
    assert f".version {ptx.ptx_version[0]}.{ptx.ptx_version[1]}\n".encode() in ptx.data  # type: ignore[index]  # PTX
    assert all(code.data.startswith(b"\x7fELF") for code in cubins)
    assert all(entry.resources is not None for code in cubins for entry in code.entries)
    assert dict(module.defines)["CG_HALF"] == "2"
    assert [name for name, _ in module.includes] == ["common.cuh"]
    assert warn_of_missing_code(bundle) == ()
    for code in module.codes:
        assert str(programs_directory()).encode() not in code.data
        assert str(Path.cwd()).encode() not in code.data
    save_bundle(bundle, tmp_path / "a.cgb")
    loaded = load_bundle(tmp_path / "a.cgb")
    assert isinstance(loaded, Bundle)
    assert [code.data for code in loaded.modules[0].codes] == [code.data for code in module.codes]


def test_the_current_folder_is_not_in_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = rms_norm(Element.F16)
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("CGRAPH_CACHE", str(tmp_path / name / "cache"))
        found.append([code.data for code in bundle_of(program, "sm_80").modules[0].codes])
    assert found[0] == found[1]


def test_without_a_compiler_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "_compile", without_compiler)
    bundle = bundle_of(compile_program(Source("parts.cg", PARTS), half=Element.F16))
    assert bundle.modules[0].source
    (warning,) = warn_of_missing_code(bundle)
    assert warning.code == "CG814"
    assert "NVRTC is not installed" in warning.render_title()


def test_a_half_that_kernels_do_not_know_is_a_warning() -> None:
    program = compile_program(load_source(programs_directory() / "layer_backward.cg"), {"cgSeq": 16})
    (warning,) = warn_of_missing_code(bundle_of(program))
    assert warning.code == "CG814"
    assert "half is f32" in warning.render_title()


def test_neither_code_nor_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(rms_norm(Element.F64))
    assert codes(stopped) == ["CG815"]
    monkeypatch.setattr(storing, "_compile", without_compiler)
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(rms_norm(Element.F16))
    assert codes(stopped) == ["CG815"]


def user_program(folder: Path, files: dict[str, str]) -> Compiled:
    for name, text in {"twice.cg": TWICE_CG, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return compile_program(load_source(folder / "twice.cg"))


def test_headers_in_folders_are_stored_by_their_names(tmp_path: Path) -> None:
    files = {
        "twice.cu": '#include "deep/outer.cuh"\n' + TWICE_CU,
        "deep/outer.cuh": '#pragma once\n#include "inner.cuh"\n',
        "deep/inner.cuh": "#define FACTOR 2.0f\n",
    }
    bundle = bundle_of(user_program(tmp_path / "program", files))
    (module,) = bundle.modules
    assert dict(module.includes) == {
        name.removeprefix("deep/") if "inner" in name else name: files[name]
        for name in ("deep/outer.cuh", "deep/inner.cuh")
    }
    assert module.codes
    save_bundle(bundle, tmp_path / "a.cgb")
    assert b"tmp" not in (tmp_path / "a.cgb").read_bytes()


def test_two_headers_of_one_name(tmp_path: Path) -> None:
    files = {
        "twice.cu": '#include "deep/outer.cuh"\n#include "inner.cuh"\n' + TWICE_CU,
        "deep/outer.cuh": '#include "inner.cuh"\n',
        "deep/inner.cuh": "#define FACTOR 2.0f\n",
        "inner.cuh": "#define OTHER 3.0f\n",
    }
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(user_program(tmp_path / "program", files))
    assert codes(stopped) == ["CG816"]
    text = stopped.value.problems[0].render_title() + " ".join(stopped.value.problems[0].notes())
    assert "`inner.cuh`" in text
    assert str(Path("deep") / "inner.cuh") in text
    (tmp_path / "program" / "deep" / "third.cuh").write_text("")
    (tmp_path / "program" / "third.cuh").write_text("")
    (tmp_path / "program" / "inner.cuh").unlink()
    (tmp_path / "program" / "deep" / "outer.cuh").write_text('#include "third.cuh"\n')
    (tmp_path / "program" / "twice.cu").write_text('#include "deep/outer.cuh"\n#include "third.cuh"\n' + TWICE_CU)
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(user_program(tmp_path / "program", {}))
    assert codes(stopped) == ["CG816"]


def test_a_kernel_that_does_not_compile(tmp_path: Path) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(user_program(tmp_path / "program", {"twice.cu": TWICE_CU}))
    assert codes(stopped) == ["CG735"]


def test_a_kernel_that_needs_a_newer_device_than_the_oldest(tmp_path: Path) -> None:
    guard = "#if __CUDA_ARCH__ < 900\n#error needs 9.0\n#endif\n#define FACTOR 2.0f\n"
    program = user_program(tmp_path / "program", {"twice.cu": guard + TWICE_CU})
    with pytest.raises(ProblemsFound) as stopped:
        bundle_of(program)
    assert codes(stopped) == ["CG735"]
    (module,) = bundle_of(program, "sm_90").modules
    assert [code.architecture for code in module.codes] == ["compute_90", "sm_90"]


def test_a_file_that_lies_above_the_program_is_not_stored(tmp_path: Path) -> None:
    program = user_program(
        tmp_path / "program",
        {
            "twice.cg": TWICE_CG.replace('"twice.cu"', '"../twice.cu"'),
            "../twice.cu": "#define FACTOR 2.0f\n" + TWICE_CU,
        },
    )
    with pytest.raises(ProblemsFound) as stopped:
        save_bundle(bundle_of(program), tmp_path / "a.cgb")
    assert codes(stopped) == ["CG811"]
    assert not (tmp_path / "a.cgb").exists()


def test_graphs_that_no_builder_made_are_not_stored(tmp_path: Path) -> None:
    program = compile_program(Source("parts.cg", PARTS))
    good = bundle_of(program)
    (launch,) = (node for node in program.graph.nodes if hasattr(node, "image"))
    moved = attrs.evolve(launch, arguments=(PlaneArgument(0, 4), *launch.arguments[1:]))
    join = JoinNode(launch.index, None, launch.origin, launch.accesses)
    for other in (moved, join):
        nodes = tuple(other if node is launch else node for node in program.graph.nodes)
        with pytest.raises(ProblemsFound) as stopped:
            save_bundle(attrs.evolve(good, graph=attrs.evolve(program.graph, nodes=nodes)), tmp_path / "a.cgb")
        assert codes(stopped) == ["CG811"]


@pytest.mark.parametrize(
    ("name", "array", "code"),
    [("nobody", np.zeros(8, np.float32), "CG702"), ("given", np.zeros(7, np.float32), "CG703")],
)
def test_contents_that_fit_no_plane_are_not_stored(name: str, array: np.ndarray, code: str) -> None:
    program = compile_program(Source("parts.cg", PARTS))
    with pytest.raises(ProblemsFound) as stopped:
        make_bundle(program.graph, program.schedule, program.plan, data={name: array})
    assert codes(stopped) == [code]

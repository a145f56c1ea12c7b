"""Which stored code a device takes, why it takes none, and stored text that is compiled again."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cgraph import resources
from cgraph.backends.cuda import compiler, nvrtc, sources
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import Target
from cgraph.backends.cuda.compiler import OPTIONS, compile_images
from cgraph.backends.cuda.ptx_versions import DRIVERS, newest_ptx
from cgraph.backends.cuda.sources import find_kernel_source
from cgraph.backends.cuda.stored import StoredKernels, choose
from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.graph.model import Image
from tests.support.kernel_files import images_of, scale_images, write_files

GPU = (CodeKind.CUBIN, CodeKind.PTX)
PTX_ONLY = (CodeKind.PTX,)


def code(architecture: str, version: tuple[int, int] = (8, 0)) -> Code:
    kind = CodeKind.CUBIN if architecture.startswith("sm_") else CodeKind.PTX
    return Code(kind, architecture, None if kind is CodeKind.CUBIN else version, b"", ())


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGRAPH_CACHE", str(tmp_path / "cache"))


# By hand from the CUDA C++ Programming Guide: a cubin runs on its major capability from its minor one on, PTX on its
# capability and every newer one, and code with a suffix on its very capability.
@pytest.mark.parametrize(
    ("stored", "device", "chosen"),
    [
        (["sm_80"], "sm_80", "sm_80"),
        (["sm_80"], "sm_86", "sm_80"),
        (["sm_80", "sm_86"], "sm_89", "sm_86"),
        (["sm_86", "sm_80"], "sm_80", "sm_80"),
        (["sm_86"], "sm_80", None),
        (["sm_80"], "sm_90", None),
        (["sm_90"], "sm_89", None),
        (["sm_90a"], "sm_90", "sm_90a"),
        (["sm_100a"], "sm_103", None),
        (["sm_100f"], "sm_103", None),
        (["sm_100"], "sm_103", "sm_100"),
        (["sm_120"], "sm_121", "sm_120"),
        (["compute_80"], "sm_80", "compute_80"),
        (["compute_80"], "sm_121", "compute_80"),
        (["compute_90"], "sm_89", None),
        (["compute_90a"], "sm_100", None),
        (["compute_90a"], "sm_90", "compute_90a"),
        (["compute_80", "compute_89"], "sm_90", "compute_89"),
        (["compute_80", "sm_90"], "sm_90", "sm_90"),
        (["compute_80", "sm_90"], "sm_100", "compute_80"),
        ([], "sm_90", None),
    ],
)
def test_choices(stored: Sequence[str], device: str, chosen: str | None) -> None:
    found, reasons = choose([code(architecture) for architecture in stored], Target(device, GPU, (9, 0)))
    assert (None if found is None else found.architecture) == chosen
    assert found is not None or reasons


def test_ptx_newer_than_the_driver_is_refused() -> None:
    new, old = code("compute_80", (9, 5)), code("compute_75", (8, 4))
    found, reasons = choose([new], Target("sm_90", GPU, (9, 0)))
    assert found is None
    assert reasons == (
        "there is no cubin",
        "PTX of compute_80: it is PTX 9.5, and the driver reads PTX up to 9.0",
    )
    assert choose([new, old], Target("sm_90", GPU, (9, 0)))[0] is old
    assert choose([new], Target("sm_90", GPU, (9, 5)))[0] is new
    assert choose([new], Target("sm_80", PTX_ONLY, None))[0] is new


def test_a_device_that_takes_no_machine_code() -> None:
    found, reasons = choose([code("sm_80")], Target("sm_80", PTX_ONLY))
    assert found is None
    assert reasons == ("cubin of sm_80: the device takes no machine code", "there is no PTX")


# From the release notes of PTX: ISA 7.0 came with CUDA 11.0, 7.8 with 11.8, 8.5 with 12.5 and 12.6, 8.7 with 12.8, …
@pytest.mark.parametrize(
    ("driver", "ptx"),
    [
        (10020, (0, 0)),
        (11000, (7, 0)),
        (11080, (7, 8)),
        (12060, (8, 5)),
        (12080, (8, 7)),
        (13000, (9, 0)),
        (13050, (9, 5)),
        (14020, (9, 5)),
    ],
)
def test_drivers_and_their_ptx(driver: int, ptx: tuple[int, int]) -> None:
    assert newest_ptx(driver) == ptx


def test_the_table_of_drivers_is_the_one_of_cuda_python() -> None:
    table = pytest.importorskip("cuda.bindings.utils").get_minimal_required_cuda_ver_from_ptx_ver
    known = 0
    for driver, (major, minor) in DRIVERS:
        try:
            assert table(f"{major}.{minor}") == driver
        except ValueError:
            continue  # newer than the installed package
        known += 1
    assert known >= 20


HEADER_CU = """\
#include "parts/twice.cuh"
extern "C" __global__ void scale(float* out, const float* source, float factor, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n && i < LENGTH) {
        out[i] = twice(factor * source[i]);
    }
}
"""


def with_header(folder: Path) -> tuple[Image, ...]:
    (folder / "parts").mkdir()
    (folder / "parts" / "twice.cuh").write_text(
        '#pragma once\n#include "one.cuh"\n__device__ float twice(float x) { return x + one() * x; }\n'
    )
    (folder / "parts" / "one.cuh").write_text("__device__ float one() { return 1.0f; }\n")
    return scale_images(folder, kernel=HEADER_CU)


def module_of(image: Image, codes: Sequence[Code] = ()) -> KernelModule:
    source = find_kernel_source(image.signature)
    includes = tuple((str(path.relative_to(source.path.parent)), text) for path, text in source.includes)
    macros = tuple((name, str(value)) for name, value in image.constants)
    return KernelModule(image.signature.file, source.text, includes, OPTIONS, macros, tuple(codes))


def test_stored_text_is_compiled_without_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (image,) = with_header(folder)
    module = module_of(image)
    assert [name for name, _ in module.includes] == ["parts/one.cuh", "parts/twice.cuh"]
    (expected,) = compile_images([image], Element.F16, "sm_80", CodeKind.PTX)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    monkeypatch.setattr(sources, "kernels_directory", lambda: pytest.fail("the project's kernels are looked at"))
    monkeypatch.setattr(resources, "kernels_directory", lambda: pytest.fail("the project's kernels are looked at"))
    # NVRTC finds a header that another includes by its name alone, as it stands in the text.
    named = KernelModule(
        module.file,
        module.source,
        (("one.cuh", module.includes[0][1]), module.includes[1]),
        OPTIONS,
        module.defines,
        (),
    )
    (kernel,) = StoredKernels({image: named}).supply([image], Element.F16, Target("sm_80", PTX_ONLY))
    assert kernel.entry == expected.entry
    body = re.compile(rb"^\t[a-z].*$", re.MULTILINE)
    instructions = [line for line in body.findall(kernel.module.code) if not line.startswith(b"\t.loc")]
    assert [line for line in body.findall(expected.module.code) if not line.startswith(b"\t.loc")] == instructions


def problems(images: Sequence[Image], kernels: StoredKernels, target: Target) -> tuple[list[str], str]:
    with pytest.raises(ProblemsFound) as stopped:
        kernels.supply(images, Element.F16, target)
    found = stopped.value.problems
    return [problem.code for problem in found], " ".join(render(found, colour=False).split())


def test_no_code_and_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (image,) = scale_images(tmp_path)
    module = module_of(image, [code("sm_90"), code("compute_90", (9, 5))])

    def missing() -> None:
        raise ProblemsFound([nvrtc.NvrtcNotFound(None, "libnvrtc.so")])

    monkeypatch.setattr(compiler, "nvrtc_version", missing)
    codes, text = problems([image], StoredKernels({image: module}), Target("sm_80", GPU, (9, 0)))
    assert codes == ["CG830"]
    assert "no stored code of scale.cu runs on sm_80" in text
    for reason in (
        "cubin of sm_90: the device is sm_80",
        "PTX of compute_90: the device is sm_80",
        "PTX of compute_90: it is PTX 9.5, and the driver reads PTX up to 9.0",
        "its text cannot be compiled: kernels cannot be compiled: NVIDIA's compiler library NVRTC is not installed",
    ):
        assert reason in text


def test_no_code_and_a_text_that_does_not_compile(tmp_path: Path) -> None:
    (image,) = scale_images(tmp_path)
    module = module_of(image)
    broken = KernelModule(module.file, "this is no kernel", (), OPTIONS, (), ())
    codes, text = problems([image], StoredKernels({image: broken}), Target("sm_80", PTX_ONLY))
    assert codes == ["CG830"]
    assert "its text cannot be compiled: /bundle/scale.cu does not compile" in text


def test_an_image_without_a_kernel(tmp_path: Path) -> None:
    (image,) = scale_images(tmp_path)
    codes, text = problems([image], StoredKernels({image: None}), Target("sm_80", PTX_ONLY))
    assert codes == ["CG831"]
    assert "the bundle has no kernel of image scale" in text
    assert problems([image], StoredKernels({}), Target("sm_80", GPU))[0] == ["CG831"]


def ptx_of(folder: Path, kernel: str) -> bytes:
    """PTX of another kernel than the image declares, under its name."""
    folder.mkdir()
    write_files(folder, {"scale.cg": OTHER_CG, "scale.cu": kernel})
    (image,) = images_of(folder / "scale.cg")
    return compile_images([image], Element.F16, "sm_80", CodeKind.PTX)[0].module.code


OTHER_CG = """
image other = kernel "scale.cu" "scale" {
  slot 0 out : write f32 [n]
  slot 1 n : natural
  grid [(naturalCeilDivide n 64), 1, 1]
  block 64
}
"""
OTHER_CU = 'extern "C" __global__ void scale(float* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = 1.0f; }\n'


def test_ptx_that_takes_other_parameters_than_was_said_of_it(tmp_path: Path) -> None:
    (image,) = scale_images(tmp_path)
    (honest,) = compile_images([image], Element.F16, "sm_80", CodeKind.PTX)
    data = ptx_of(tmp_path / "other", OTHER_CU)
    lying = Code(CodeKind.PTX, "compute_80", (9, 5), data, honest.module.entries)
    codes, text = problems([image], StoredKernels({image: module_of(image, [lying])}), Target("sm_80", PTX_ONLY))
    assert codes == ["CG737"]
    assert "the compiled kernel takes (a pointer (u64), an int (u32))" in text


def test_ptx_without_the_kernel(tmp_path: Path) -> None:
    (image,) = scale_images(tmp_path)
    empty = Code(CodeKind.PTX, "compute_80", (8, 0), b".version 8.0\n.target sm_80\n.address_size 64\n", ())
    codes, _ = problems([image], StoredKernels({image: module_of(image, [empty])}), Target("sm_80", PTX_ONLY))
    assert codes == ["CG736"]

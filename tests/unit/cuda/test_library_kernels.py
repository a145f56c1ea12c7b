"""Every kernel of the library compiles without spills, for each half, and has the parameters that its image says."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from cgraph.backends.cuda.compiler import CompiledKernel, compile_images
from cgraph.core.elements import Element
from cgraph.images.registry import find_meaning
from cgraph.resources import programs_directory
from tests.support.kernel_files import images_of

LIBRARY = programs_directory() / "library" / "images.cg"
HALVES = (Element.F16, Element.BF16)
# Two fragments of rows a warp, where the sizes allow that, hold the most registers.
LONG = {"cgSeq": 4096, "cgHeads": 16}


@pytest.fixture(scope="module", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for all tests here: most of a library does not depend on the width of a head."""
    directory = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CGRAPH_CACHE", str(directory))
        yield directory


@cache
def _compiled(half: Element, architecture: str, head_width: int, long: bool) -> tuple[CompiledKernel, ...]:
    sizes = {"cgHeadWidth": head_width, **(LONG if long else {})}
    return compile_images(images_of(LIBRARY, half, **sizes), half, architecture)


def _spilling(half: Element, architecture: str, head_width: int, long: bool) -> dict[str, int]:
    found = {}
    for kernel in _compiled(half, architecture, head_width, long):
        assert kernel.entry.resources is not None
        if kernel.entry.resources.spills:
            found[kernel.entry.name] = kernel.entry.resources.spill_store_bytes
    return found


@pytest.mark.parametrize("half", HALVES)
def test_no_spills_on_the_oldest_architecture(half: Element) -> None:
    assert _spilling(half, "sm_80", 64, False) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("head_width", "long"), [(40, False), (96, False), (128, False), (64, True), (128, True)])
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_no_spills(architecture: str, half: Element, head_width: int, long: bool) -> None:
    assert _spilling(half, architecture, head_width, long) == {}


def test_every_image_has_a_kernel_and_a_meaning() -> None:
    names = {(kernel.image.signature.file, kernel.entry.name) for kernel in _compiled(Element.F16, "sm_80", 64, False)}
    assert len(names) == 24
    assert all(find_meaning(*name) is not None for name in names)


def test_bf16_kernels_are_others_than_f16_kernels() -> None:
    for one, other in zip(*(_compiled(half, "sm_80", 64, False) for half in HALVES), strict=True):
        assert one.module.key != other.module.key


def test_heads_that_are_too_wide_are_an_error() -> None:
    from_library = images_of(LIBRARY, cgHeadWidth=130)
    attention = [image for image in from_library if image.signature.file.startswith("attention")]
    with pytest.raises(Exception, match="CG735"):
        compile_images(attention, Element.F16, "sm_80")


def test_no_kernel_needs_a_header_of_cuda() -> None:
    for path in Path(LIBRARY).parents[2].joinpath("kernels_cu").iterdir():
        assert "#include <" not in path.read_text(encoding="utf-8"), path

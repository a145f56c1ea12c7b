"""Programs with images of their own, in a folder of their own, and the images ready to be compiled."""

from pathlib import Path

from cgraph.build.images import concrete_images
from cgraph.core.elements import Element
from cgraph.graph.model import Image
from cgraph.pipeline import check, parse
from cgraph.syntax.loading import load_source

# out[i] = factor * in[i] for i below n, as its author would write it.
SCALE_CG = """
parameter length : Nat = 100
image scale = kernel "scale.cu" "scale" {
  slot 0 out : write f32 [n]
  slot 1 source : read f32 [n]
  slot 2 factor : float
  slot 3 n : natural
  constant LENGTH = length
  grid [(naturalCeilDivide n 64), 1, 1]
  block 64
}
"""
SCALE_CU = """\
extern "C" __global__ void __launch_bounds__(64) scale(float* out, const float* source, float factor, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n && i < LENGTH) {
        out[i] = factor * source[i];
    }
}
"""


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def images_of(path: Path, half: Element = Element.F16, **parameters: float) -> tuple[Image, ...]:
    """The images of a program in a file."""
    program, _warnings = check(parse(load_source(path)))
    return concrete_images(program, parameters, half)


def scale_images(folder: Path, declaration: str = SCALE_CG, kernel: str = SCALE_CU) -> tuple[Image, ...]:
    """The image `scale`, declared and written in a folder."""
    write_files(folder, {"scale.cg": declaration, "scale.cu": kernel})
    return images_of(folder / "scale.cg")

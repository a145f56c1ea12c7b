"""Two small forward programs, each with its backward program as text, to be written right or with a mistake."""

from pathlib import Path

# y = (x · w)², element by element, in two files. The backward program reads what the forward program saved.
SQUARE_PLANES = """
import "operations.cg"
parameter rows : Nat = 6
plane x : f32 [rows, 4] input
plane w : f32 [rows, 4] weight
plane kept : f32 [rows, 4] saved
plane y : f32 [rows, 4] output
plane dy : f32 [rows, 4] gradient of y
plane dx : f32 [rows, 4] gradient of x
plane dw : f32 [rows, 4] gradient of w
plane half' : f32 [rows, 4] scratch
plane dkept : f32 [rows, 4] scratch
plane factor : f32 [rows, 4] scratch
def n = (naturalMultiply rows 4)
"""
SQUARE_FORWARD = """
import "square_planes.cg"
def main = (cgThen (cgBinary cgImageMultiply kept x w n) (cgBinary cgImageMultiply y kept kept n))
"""
SQUARE_BACKWARD = """
import "square_planes.cg"
def main =
  (cgThen (cgBinary cgImageMultiply half' dy kept n)
  (cgThen (cgBinary cgImageAdd dkept half' half' n)
  (cgThen (cgBinary cgImageMultiply dx dkept w n)
    (cgBinary cgImageMultiply dw dkept x n))))
"""

# y = x · wᵀ + x · wᵀ ⊙ s in one file: products in half, a residual, and both programs as entries of it.
PRODUCT = """
import "operations.cg"
parameter rows : Nat = 5
plane x : f32 [rows, 7] input
plane w : f32 [3, 7] weight
plane s : f32 [rows, 3] input
plane xHalf : half [rows, 7] saved
plane wHalf : half [3, 7] saved
plane z : f32 [rows, 3] saved
plane zs : f32 [rows, 3] scratch
plane y : f32 [rows, 3] output
plane dy : f32 [rows, 3] gradient of y
plane dx : f32 [rows, 7] gradient of x
plane dw : f32 [3, 7] gradient of w
plane ds : f32 [rows, 3] gradient of s
plane dzs : f32 [rows, 3] scratch
plane dz : f32 [rows, 3] scratch
plane dzHalf : half [rows, 3] scratch
def m = (naturalMultiply rows 3)
def forward =
  (cgThen (cgCastDown xHalf x (naturalMultiply rows 7))
  (cgThen (cgCastDown wHalf w 21)
  (cgThen (cgProductForward rows 3 7 z xHalf wHalf)
  (cgThen (cgBinary cgImageMultiply zs z s m)
    (cgBinary cgImageAdd y z zs m)))))
def backward =
  (cgThen (cgBinary cgImageMultiply ds dy z m)
  (cgThen (cgBinary cgImageMultiply dzs dy s m)
  (cgThen (cgBinary cgImageAdd dz dy dzs m)
  (cgThen (cgCastDown dzHalf dz m)
  (cgThen (cgProductData rows 7 3 dx dzHalf wHalf)
    (cgProductWeight 3 7 rows dw dzHalf xHalf))))))
"""


def write_square(folder: Path, *changes: tuple[str, str]) -> Path:
    """The square's three files; each change replaces a part of one of them. Returns the backward program."""
    texts = {"planes": SQUARE_PLANES, "forward": SQUARE_FORWARD, "backward": SQUARE_BACKWARD}
    for old, new in changes:
        name = next(name for name, text in texts.items() if old in text)
        texts[name] = texts[name].replace(old, new)
    for name, text in texts.items():
        (folder / f"square_{name}.cg").write_text(text, encoding="utf-8")
    return folder / "square_backward.cg"


def write_product(folder: Path, *changes: tuple[str, str]) -> Path:
    """The product's only file, with entries `forward` and `backward`; each change replaces a part of it."""
    text = PRODUCT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "product.cg").write_text(text, encoding="utf-8")
    return folder / "product.cg"

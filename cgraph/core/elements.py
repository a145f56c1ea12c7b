"""Element types of planes and their sizes."""

from enum import Enum


class Element(Enum):
    """What one element of a plane is. `HALF` is an alias that a build binds to one of the floating types."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"
    I32 = "i32"
    HALF = "half"

    @property
    def size_bytes(self) -> int:
        """Bytes of one element; `half` has none before it is bound."""
        return _SIZE_BYTES[self]


HALF_CHOICES = (Element.F32, Element.F16, Element.BF16, Element.F64)


def bind_element(element: Element, half: Element) -> Element:
    """The element type that a build uses: `half` is the chosen one, and f32, in which sums are kept, is never narrower.

    With `half` bound to f64 the f32 planes are f64 too, so a whole program computes in f64.
    """
    if element is Element.HALF:
        return half
    if element is Element.F32 and half is Element.F64:
        return Element.F64
    return element


_SIZE_BYTES = {Element.F16: 2, Element.BF16: 2, Element.F32: 4, Element.F64: 8, Element.I32: 4}

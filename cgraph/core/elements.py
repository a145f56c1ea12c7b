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


_SIZE_BYTES = {Element.F16: 2, Element.BF16: 2, Element.F32: 4, Element.F64: 8, Element.I32: 4}

"""Usage quantities: how often a bound name may be, or was, used.

The three quantities form a semiring (0 erased, 1 linear, many unrestricted), as in quantitative type theory
(Atkey 2018): usages of two parts of a term add, and the usage inside an argument is multiplied by the quantity of the
binder that receives it.
"""

from enum import Enum


class Quantity(Enum):
    """`erased` is never used when a graph is built, `linear` exactly once, `unrestricted` any number of times."""

    ERASED = "erased"
    LINEAR = "linear"
    UNRESTRICTED = "unrestricted"

    def __add__(self, other: "Quantity") -> "Quantity":
        """Used in one place and in another."""
        if self is Quantity.ERASED:
            return other
        if other is Quantity.ERASED:
            return self
        return Quantity.UNRESTRICTED

    def __mul__(self, other: "Quantity") -> "Quantity":
        """Used inside something that is itself used this often."""
        if Quantity.ERASED in (self, other):
            return Quantity.ERASED
        if self is Quantity.LINEAR:
            return other
        if other is Quantity.LINEAR:
            return self
        return Quantity.UNRESTRICTED

    def allows(self, usage: "Quantity") -> bool:
        """Whether a binder of this quantity may be used `usage` often. Linear means exactly once, so not never."""
        return self is Quantity.UNRESTRICTED or self is usage

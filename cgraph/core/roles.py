"""What a plane is for, and how a command touches it."""

from enum import Enum


class Role(Enum):
    """Who fills a plane and who reads it.

    `GRADIENT` of an input or weight is a result; `GRADIENT` of an output is given (the gradient that enters from
    above). `SAVED` planes are written by a forward program and read by its backward program. `STATE` planes keep what a
    run leaves in them for the next one.
    """

    INPUT = "input"
    OUTPUT = "output"
    WEIGHT = "weight"
    GRADIENT = "gradient"
    SAVED = "saved"
    STATE = "state"
    SCRATCH = "scratch"


class AccessMode(Enum):
    """How a command touches bytes. `ACCUMULATE` reads and writes each of them."""

    READ = "read"
    WRITE = "write"
    ACCUMULATE = "accumulate"

    @property
    def reads(self) -> bool:
        """Whether the bytes must hold something before."""
        return self is not AccessMode.WRITE

    @property
    def writes(self) -> bool:
        """Whether the bytes hold something new after."""
        return self is not AccessMode.READ

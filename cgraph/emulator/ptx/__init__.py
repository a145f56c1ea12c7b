"""The PTX reader: text in, checked functions out."""

from cgraph.emulator.ptx.model import (
    Function,
    Instruction,
    Module,
    Parameter,
    Place,
    Variable,
)
from cgraph.emulator.ptx.reader import read_module

__all__ = ["Function", "Instruction", "Module", "Parameter", "Place", "Variable", "read_module"]

"""Where registers, constants and special registers lie in a frame.

Receives operands as an instruction is decoded; guarantees a slot, an index into a frame's list of arrays, for each pair
of register and type. Slots of one register are views of one array. Constants are arrays without dimensions, so that
they combine with any number of lanes.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from attrs import define, field, frozen

from cgraph.emulator.machine.arrays import BOOL, UNSIGNED, Array, DType
from cgraph.emulator.machine.context import Context
from cgraph.emulator.ptx.types import SIZE_BYTES

# What a constant is worth in one launch: addresses and parameters are known only then.
Resolver: TypeAlias = Callable[[Context], Array]


@frozen
class Slot:
    """One view: of which array (an index of bases), as which type."""

    base: int
    dtype: DType


@define
class Registers:
    """All bases, slots and constants of one function.

    Args:
        bases: the type of each register's array; specials: base → name, for those that the launch fills.
        slots: the views, None where a constant stands; constants: slot → value or resolver.
        views: the slots of each base.
    """

    bases: list[DType] = field(factory=list)
    specials: dict[int, str] = field(factory=dict)
    slots: list[Slot | None] = field(factory=list)
    constants: dict[int, Array] = field(factory=dict)
    resolvers: dict[int, Resolver] = field(factory=dict)
    views: list[list[int]] = field(factory=list)
    _bases_by_name: dict[str, int] = field(factory=dict)
    _slots_by_key: dict[tuple[int, int], int] = field(factory=dict)
    _constants_by_key: dict[tuple[bytes, DType], int] = field(factory=dict)

    def register(self, name: str, kind: str, dtype: DType) -> int:
        """The slot of a register, declared as type `kind`, viewed as `dtype`."""
        base = self._bases_by_name.get(name)
        if base is None:
            base = self._add_base(BOOL if kind == "pred" else UNSIGNED[SIZE_BYTES[kind]])
            self._bases_by_name[name] = base
        return self._view(base, dtype)

    def special(self, name: str, dtype: DType) -> int:
        """The slot of a special register, which holds 32 bits."""
        base = self._bases_by_name.get(name)
        if base is None:
            base = self._add_base(UNSIGNED[4])
            self._bases_by_name[name] = base
            self.specials[base] = name
        return self._view(base, dtype)

    def constant(self, value: Array) -> int:
        """The slot of a constant."""
        key = (value.tobytes(), value.dtype)
        slot = self._constants_by_key.get(key)
        if slot is None:
            slot = self._constants_by_key[key] = self._add_slot(None)
            self.constants[slot] = value
        return slot

    def resolved(self, resolver: Resolver) -> int:
        """The slot of a constant that the launch gives."""
        slot = self._add_slot(None)
        self.resolvers[slot] = resolver
        return slot

    def base_of(self, slot: int) -> int | None:
        """The base that a slot views; None for constants."""
        entry = self.slots[slot]
        return None if entry is None else entry.base

    def _view(self, base: int, dtype: DType) -> int:
        slot = self._slots_by_key.get((base, dtype.num))
        if slot is None:
            slot = self._slots_by_key[base, dtype.num] = self._add_slot(Slot(base, dtype))
            self.views[base].append(slot)
        return slot

    def _add_base(self, dtype: DType) -> int:
        self.bases.append(dtype)
        self.views.append([])
        return len(self.bases) - 1

    def _add_slot(self, slot: Slot | None) -> int:
        self.slots.append(slot)
        return len(self.slots) - 1


def scalar(value: object, dtype: DType) -> Array:
    """A value as an array without dimensions."""
    return np.array(value, dtype)

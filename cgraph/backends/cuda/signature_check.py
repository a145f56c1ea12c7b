"""Holds an image's declaration against the kernel that was compiled for it.

Receives a signature and what the PTX says about the kernel; finds every slot that has no parameter of its kind, every
parameter without a slot, and blocks that the kernel does not allow. What the kernel does with its arguments is left
to the emulator, which watches it.
"""

from cgraph.backends.cuda.entries import Entry, Parameter
from cgraph.backends.cuda.problems_compiler import BlockTooLarge, ParametersDiffer
from cgraph.core.signatures import Signature, Slot, SlotKind
from cgraph.diagnostics import Label, Problem

# PTX types that a parameter for each kind of slot may have; NVRTC has used these for pointers, int and float.
TYPES = {
    SlotKind.POINTER: ("u64", "b64"),
    SlotKind.NATURAL: ("u32", "s32", "b32"),
    SlotKind.FLOAT: ("f32",),
}
WORDS = {SlotKind.POINTER: "a pointer", SlotKind.NATURAL: "an int", SlotKind.FLOAT: "a float"}


def check_entry(signature: Signature, entry: Entry) -> list[Problem]:
    """CG737 and CG738 for an image and its kernel; [] where they agree."""
    problems: list[Problem] = []
    differences = _differences(signature, entry)
    if differences:
        kernel = ", ".join(map(_describe, entry.parameters))
        problems.append(
            ParametersDiffer(
                signature.span, signature.name, signature.file, signature.entry, tuple(differences), kernel
            )
        )
    x, y, z = signature.block
    limit = entry.block_threads
    if limit is not None and isinstance(x, int) and isinstance(y, int) and isinstance(z, int) and x * y * z > limit:
        problems.append(BlockTooLarge(signature.span, signature.name, x * y * z, limit))
    return problems


def _differences(signature: Signature, entry: Entry) -> list[Label]:
    slots, parameters = signature.slots, entry.parameters
    labels = [
        Label(slot.span, f"slot {slot.number} is {_expected(slot)}, the kernel's parameter {_describe(parameter)}")
        for slot, parameter in zip(slots, parameters, strict=False)
        if parameter.type not in TYPES[slot.kind]
    ]
    labels += [Label(slot.span, f"the kernel has no parameter {slot.number}") for slot in slots[len(parameters) :]]
    if len(parameters) > len(slots):
        labels.append(Label(signature.span, f"the kernel has {len(parameters)} parameters, the image {len(slots)}"))
    return labels


def _expected(slot: Slot) -> str:
    return f"{WORDS[slot.kind]} ({' or '.join(TYPES[slot.kind])})"


def _describe(parameter: Parameter) -> str:
    for kind, types in TYPES.items():
        if parameter.type in types:
            return f"{WORDS[kind]} ({parameter.type})"
    return f"{parameter.size_bytes} bytes ({parameter.type})"

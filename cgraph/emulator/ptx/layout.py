"""Lays out a linked function: where its shared and local variables lie.

Receives a function with its calls; guarantees an offset for every shared and local variable that it uses, each at a
multiple of its alignment, with dynamic shared memory behind the static one.
"""

from collections.abc import Iterator, Mapping

from cgraph.emulator.ptx.linking import Unlinked, link
from cgraph.emulator.ptx.model import Address, Function, Instruction, Symbol, Variable

# Dynamic shared memory begins at a multiple of this, as much as any access asks for.
SHARED_ALIGNMENT_BYTES = 16


def place_function(
    unlinked: Unlinked,
    functions: Mapping[str, Unlinked],
    variables: Mapping[str, Variable],
    max_threads: int | None,
    required_block: tuple[int, int, int] | None,
) -> Function:
    """The function, ready to execute. `variables` are those of the module."""
    linked = link(unlinked, functions)
    used = {name for instruction in linked.instructions for name in _symbols(instruction)}
    shared = [each for each in linked.variables.values() if each.space == "shared"]
    shared += [variables[name] for name in variables if name in used and variables[name].space == "shared"]
    local = [each for each in linked.variables.values() if each.space == "local"]
    offsets: dict[str, int] = {}
    shared_bytes = _place([each for each in shared if each.size_bytes is not None], offsets)
    local_bytes = _place(local, offsets)
    dynamic = [each for each in shared if each.size_bytes is None]
    alignment = max([SHARED_ALIGNMENT_BYTES, *(each.align for each in dynamic)])
    dynamic_offset = -(-shared_bytes // alignment) * alignment
    offsets |= {each.name: dynamic_offset for each in dynamic}
    parameter_bytes = max((each.offset + each.size_bytes for each in unlinked.parameters), default=0)
    return Function(
        name=unlinked.name,
        entry=unlinked.entry,
        parameters=unlinked.parameters,
        returns=unlinked.returns,
        parameter_bytes=parameter_bytes,
        instructions=linked.instructions,
        labels=linked.labels,
        shared_bytes=shared_bytes,
        dynamic_shared_offset=dynamic_offset,
        local_bytes=local_bytes,
        offsets=offsets,
        max_threads=max_threads,
        required_block=required_block,
    )


def _place(variables: list[Variable], offsets: dict[str, int]) -> int:
    """Gives each variable its offset; returns the bytes of all."""
    position = 0
    for variable in variables:
        position = -(-position // variable.align) * variable.align
        offsets[variable.name] = position
        position += variable.size_bytes or 0
    return position


def _symbols(instruction: Instruction) -> Iterator[str]:
    for operand in instruction.operands:
        base = operand.base if isinstance(operand, Address) else operand
        if isinstance(base, Symbol):
            yield base.name

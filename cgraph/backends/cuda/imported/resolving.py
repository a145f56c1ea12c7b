"""Which numbers of a live graph are addresses, and of what.

Receives nodes with addresses; guarantees that each address of a memset or a copy lies in live memory up to its last
byte, and says of kernels' arguments which 8 bytes are addresses: those of a parameter that the caller declared, or,
for a kernel without declarations, each parameter of 8 bytes whose value lies in a live allocation. Inside a larger
parameter addresses are looked for only where it is declared, at multiples of 8 bytes. 0 is no address.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import define, field

from cgraph.backends.cuda.imported.model import POINTER_BYTES, MemoryKind
from cgraph.backends.cuda.imported.problems_imported import MemoryNotFound, PointerNotFound
from cgraph.backends.cuda.imported.reading_kernels import RawKernel
from cgraph.backends.cuda.imported.reading_levels import RawMemcpy, RawMemset, RawNode, RawSide
from cgraph.backends.cuda.imported.reading_memory import Block, MemoryReader
from cgraph.diagnostics import Problem

Pointers: TypeAlias = Mapping[str, Sequence[int]]

# Numbers in this range may be addresses: below lies what no program gets, above what 57-bit addresses do not reach.
ADDRESS_RANGE = range(1 << 32, 1 << 57)


@define(eq=False)
class Resolver:
    """What was found so far.

    Args:
        device: number of the device that the graph is read on.
        pointers: parameters that are addresses, by kernel.
        positions: of the addresses in each kernel node's argument buffer.
    """

    memory: MemoryReader
    device: int
    pointers: Pointers
    positions: dict[RawKernel, tuple[int, ...]] = field(factory=dict)
    problems: list[Problem] = field(factory=list)
    remarks: list[str] = field(factory=list)

    def use(self, node: RawNode | None, where: str) -> None:
        """Looks at a node. Raises ProblemsFound (CG742) where the driver can't be asked."""
        match node:
            case RawKernel():
                self._use_kernel(node, f"{where} (kernel {node.function.name})")
            case RawMemset():
                rows_bytes = (node.height - 1) * node.pitch_bytes if node.height > 1 else 0
                size_bytes = rows_bytes + node.width * node.element_bytes
                self._use_range(node.address, size_bytes, f"{where} (memset)")
            case RawMemcpy():
                for side, is_source in ((node.source, True), (node.target, False)):
                    size_bytes = _copied_bytes(node, side)
                    self._use_side(side, size_bytes, f"{where} (memcpy)", read=is_source)

    def check_declarations(self, names: Iterable[str]) -> None:
        """Finds declarations of kernels that the graph does not have."""
        known = set(names)
        for name, parameters in self.pointers.items():
            if name not in known:
                reason = "the graph has no such kernel"
                self.problems.append(PointerNotFound(None, f"kernel {name}", min(parameters, default=0), reason))

    def _use_kernel(self, node: RawKernel, where: str) -> None:
        places = node.function.parameters
        declared = self.pointers.get(node.function.name)
        positions: list[int] = []
        for number, place in enumerate(places) if declared is None else ():
            if place.size_bytes == POINTER_BYTES and not self._use_word(node, place.offset, where, positions):
                self._remark(node.word(place.offset), where, number)
        for number in declared or ():
            if not 0 <= number < len(places):
                reason = f"the kernel has {len(places)} parameter(s)"
                self.problems.append(PointerNotFound(None, where, number, reason))
                continue
            place = places[number]
            if place.size_bytes < POINTER_BYTES:
                reason = f"it has {place.size_bytes} byte(s), an address has {POINTER_BYTES}"
                self.problems.append(PointerNotFound(None, where, number, reason))
                continue
            first = -(-place.offset // POINTER_BYTES) * POINTER_BYTES
            for position in range(first, place.offset + place.size_bytes - POINTER_BYTES + 1, POINTER_BYTES):
                found = self._use_word(node, position, where, positions)
                if not found and place.size_bytes == POINTER_BYTES:
                    self.problems.append(PointerNotFound(None, where, number, "its value lies in no live allocation"))
        self.positions[node] = tuple(sorted(set(positions)))

    def _use_word(self, node: RawKernel, position: int, where: str, positions: list[int]) -> bool:
        """Whether 8 bytes are 0 or the address of something, which is then used."""
        address = node.word(position)
        if address == 0:
            return True
        block = self.memory.find(address)
        if block is None:
            return False
        if self._is_ours(block, where):
            self.memory.use(block)
            positions.append(position)
        return True

    def _remark(self, value: int, where: str, number: int) -> None:
        if value in ADDRESS_RANGE:
            said = "is as large as an address, but lies in no live allocation, and is kept as a number"
            self.remarks.append(f"{where}, parameter {number}, {said}")

    def _use_range(self, address: int, size_bytes: int, where: str) -> None:
        block = self.memory.find(address)
        if block is None:
            self.problems.append(MemoryNotFound(None, where, "it lies in no live allocation"))
        elif address + size_bytes > block.stop:
            reason = f"{size_bytes} byte(s) from byte {address - block.start} of an allocation of {block.size_bytes}"
            self.problems.append(MemoryNotFound(None, where, reason))
        elif self._is_ours(block, where):
            self.memory.use(block)

    def _use_side(self, side: RawSide, size_bytes: int, where: str, *, read: bool) -> None:
        block = self.memory.find(side.address)
        on_host = side.on_host if block is None else block.memory is MemoryKind.HOST
        if on_host or (block is None and side.pageable):
            self.memory.use_on_host(side.address, size_bytes, read=read)
        else:
            self._use_range(side.address, size_bytes, where)

    def _is_ours(self, block: Block, where: str) -> bool:
        if block.memory is not MemoryKind.DEVICE or block.device == self.device:
            return True
        reason = f"it lies on device {block.device}, and the graph is read on device {self.device}"
        self.problems.append(MemoryNotFound(None, where, reason))
        return False


def _copied_bytes(node: RawMemcpy, side: RawSide) -> int:
    """From the first byte of one end to the last."""
    rows = (node.height - 1) * side.pitch_bytes if node.height > 1 else 0
    slices = (node.depth - 1) * side.pitch_bytes * side.slice_rows if node.depth > 1 else 0
    return slices + rows + node.width_bytes

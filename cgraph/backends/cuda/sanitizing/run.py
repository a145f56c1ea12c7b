"""Runs a program on the emulator's machine, one command after another, and collects what is wrong with it.

Receives a verified graph with its schedule, its memory plan and values for its planes; guarantees a report of every
fault that the emulator sees, of accesses that a launch does not declare, of slots that it does not write in full, and
of commands that use the same bytes in no order. A launch that is stopped by a fault ends alone: the next ones run.

The machine is used without a driver, so nothing is shared with other programs of the process, and a fault of one launch
does not end the context of all.
"""

from collections.abc import Callable, Iterator

import numpy as np
from attrs import define, frozen
from numpy.typing import ArrayLike

from cgraph.backends.commands import describe
from cgraph.backends.cuda.machine_kernels import load_machine_kernels, parameter_buffer
from cgraph.backends.cuda.sanitizing.findings import Findings
from cgraph.backends.cuda.sanitizing.history import History, begin_history
from cgraph.backends.cuda.sanitizing.planes import MachinePlanes, allocate_planes
from cgraph.backends.memory_needs import check_memory, emulated_available_bytes
from cgraph.backends.problems import SlotNotWritten
from cgraph.core.roles import AccessMode
from cgraph.diagnostics import Problem
from cgraph.emulator.driver.hardware import Kernel, KernelFault
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.machine.memory import Allocation
from cgraph.emulator.sanitizer import Sanitizer
from cgraph.emulator.sanitizer.effects import Effects, Rival, Territory
from cgraph.emulator.sanitizer.problems_effects import UnorderedCommand
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, Image, LaunchNode, Node
from cgraph.graph.slots import slot_accesses
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@frozen
class SanitizerReport:
    """What a run found, and what it looked at.

    Args:
        findings: problems; () for a program in which nothing is wrong.
        left_out: reports of a launch beyond the sanitizer's limit.
        launches: kernels that ran; transfers: fills and copies.
        thread_instructions: instructions, counted once a thread.
        accessed_bytes: of device and shared memory, counted once an access.
    """

    findings: tuple[Problem, ...]
    left_out: int
    launches: int
    transfers: int
    thread_instructions: int
    accessed_bytes: int


@define(eq=False)
class _Run:
    graph: CommandGraph
    planes: MachinePlanes
    history: History
    kernels: dict[Image, Kernel]
    hardware: MachineHardware
    sanitizer: Sanitizer
    findings: Findings
    launches: int = 0
    transfers: int = 0

    def command(self, node: Node) -> None:
        """Runs one command and takes what is reported about it."""
        effects = Effects(lambda allocation: self._territory(node, allocation))
        match node:
            case LaunchNode():
                self.launches += 1
                self._launch(node, effects)
            case FillNode() | CopyNode():
                self.transfers += 1
                self.findings.add(node, self._transfer(node, effects))
        self.history.add(node.index, effects.territories)
        self.planes.end(node)

    def _launch(self, node: LaunchNode, effects: Effects) -> None:
        kernel = self.kernels[node.image]
        self.hardware.effects = effects
        stopped = False
        try:
            self.hardware.launch(
                kernel,
                grid=node.grid,
                block=node.block,
                shared_bytes=node.shared_bytes,
                arguments=parameter_buffer(node, kernel, self.planes.pointers(node)),
            )
        except KernelFault:
            stopped = True
        finally:
            self.hardware.effects = None
        self.findings.add(node, self.hardware.take_problems())
        if stopped:
            self.planes.pretend_written(node)
        else:
            self.findings.add(node, self._unwritten(node, effects))

    def _transfer(self, node: FillNode | CopyNode, effects: Effects) -> Iterator[Problem]:
        """Does a fill or a copy; its accesses are what it declares."""
        if isinstance(node, FillNode):
            self.planes.fill(node)
        else:
            self.planes.copy(node)
        for access in node.accesses:
            if access.start == access.stop:
                continue
            allocation = self.hardware.memory.find(self.planes.addresses[access.plane])
            if allocation is None:
                raise LookupError(access)
            territory = effects.of(allocation)
            writes = access.mode.writes
            (territory.written if writes else territory.read).mark_range(access.start, access.stop)
            maps = (territory.written_by_others, territory.read_by_others if writes else None)
            used = [np.flatnonzero(found.marked(access.start, access.stop)) for found in maps if found is not None]
            first = min((int(places[0]) for places in used if places.size), default=None)
            if first is None:
                continue
            start = access.start + first
            rival = self.history.rival(allocation.address, node.index, start, start + 1, writes=writes)
            verb = "writes" if writes else "reads"
            place = (node.origin.span, describe(node), verb, allocation.label, start)
            yield UnorderedCommand(*place, rival.text, rival.span, node.origin)

    def _territory(self, node: Node, allocation: Allocation) -> Territory:
        """What a command declares of an allocation, and what others did to it."""
        address, size_bytes = allocation.address, allocation.size_bytes
        plane = self.planes.by_address.get(address)
        readable, writable = None, None
        if plane is not None:
            mine = [access for access in node.accesses if access.plane == plane.index]
            readable = tuple((access.start, access.stop) for access in mine if access.mode.reads)
            writable = tuple((access.start, access.stop) for access in mine if access.mode.writes)
        read, written = self.history.foreign(address, size_bytes, node.index)

        def rival(start: int, stop: int, writes: bool) -> Rival:
            return self.history.rival(address, node.index, start, stop, writes=writes)

        return Territory(size_bytes, readable, writable, read, written, rival)

    def _unwritten(self, node: LaunchNode, effects: Effects) -> Iterator[Problem]:
        """Slots that are declared to be written and were not written in full."""
        signature = node.image.signature
        told = (node.origin.span, signature.name, signature.file, signature.entry, node.origin)
        for slot, access in slot_accesses(node):
            if slot.access is not AccessMode.WRITE or slot.element is None or access.start == access.stop:
                continue
            territory = effects.territories.get(self.planes.addresses[access.plane])
            size_bytes = access.stop - access.start
            written = np.zeros(size_bytes, bool)
            if territory is not None:
                written |= territory.written.marked(access.start, access.stop)
            for other in node.accesses:
                if other.plane == access.plane and other.mode.reads:
                    written[max(0, other.start - access.start) : max(0, other.stop - access.start)] = True
            missing = np.flatnonzero(~written.reshape(-1, slot.element.size_bytes).all(axis=1))
            if missing.size:
                elements = size_bytes // slot.element.size_bytes
                yield SlotNotWritten(*told, slot.name, missing.size, int(missing[0]), elements)


def sanitize_graph(
    graph: CommandGraph,
    schedule: Schedule,
    plan: MemoryPlan,
    values: dict[str, ArrayLike],
    *,
    fail_fast: bool = False,
    on_command: Callable[[], object] = lambda: None,
) -> SanitizerReport:
    """Runs a program once with every check on.

    Args:
        graph: verified; half is f16 or bf16 where a kernel works with it.
        schedule: of this graph; its edges are held against what the commands really touch.
        plan: of this schedule; planes that share bytes are held against it, too.
        values: of planes, by name; names that the graph does not have are left out. All other planes hold nothing.
        fail_fast: whether to end behind the first command about which there is something to report.
        on_command: called behind each command.

    Raises:
        ProblemsFound: CG730 to CG739 from the compiler, CG750 to CG754 where the machine does not know what a kernel
            does, CG703 where a value does not fit, CG718 where there is too little memory.
    """
    sanitizer = Sanitizer()
    hardware = MachineHardware(sanitizer)
    images = list(dict.fromkeys(node.image for node in graph.nodes if isinstance(node, LaunchNode)))
    kernels = load_machine_kernels(images, graph.half, hardware)
    check_memory(graph, plan, "the sanitizer", emulated_available_bytes())
    planes = allocate_planes(graph, schedule.sequence, plan, hardware.memory)
    names = {plane.name for plane in graph.planes}
    for name, array in values.items():
        if name in names:
            planes.set(name, array)
    history = begin_history(graph, schedule, plan, planes.addresses)
    findings = Findings({f"plane {plane.name}": plane for plane in graph.planes})
    run = _Run(graph, planes, history, kernels, hardware, sanitizer, findings)
    for index in schedule.sequence:
        run.command(graph.nodes[index])
        on_command()
        if fail_fast and len(findings):
            break
    return SanitizerReport(
        findings.problems,
        sanitizer.left_out,
        run.launches,
        run.transfers,
        sanitizer.thread_instructions,
        sanitizer.accessed_bytes,
    )

"""Programs of one launch of one image of the library, made from its declaration.

Receives an image's name and sizes; gives the text of a program whose planes have just the extents that the declaration
asks for, written with the declaration's own formulas. Planes are called `plane` and the slot's number; what is in a
plane before a kernel accumulates to it is copied from a plane `before` and the number.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from bounds import Rounding
from session import Arrays, Session, opened, widened

from cgraph.backends.devices import HOST
from cgraph.backends.dtypes import DTYPES
from cgraph.core.elements import Element
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import SlotKind
from cgraph.graph.model import LaunchNode
from cgraph.models.comparison import relative_error
from cgraph.pipeline import Compiled, compile_program, parse
from cgraph.resources import kernels_directory, programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from cgraph.syntax.tree import GridItem, ImageDeclaration, SlotItem

LIBRARIES = ("images.cg", "model_images.cg", "geglu_images.cg", "optimizer_images.cg")


@frozen(eq=False)
class Case:
    """One launch.

    Args:
        image: its name in the library.
        numbers: values of natural and float slots, by name.
        rounding: of the kernel at these sizes.
        parameters: of the library, by name.
        shift: each plane's part begins this many elements behind an aligned address.
        left_out: optional slots that are not given.
        ranges: lowest and highest value of an input; others are normal with deviation 1. Planes of i32 need one.
    """

    image: str
    numbers: Mapping[str, float]
    rounding: Rounding
    parameters: Mapping[str, int] = field(factory=dict)
    shift: int = 0
    left_out: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(factory=dict)

    @property
    def title(self) -> str:
        """The image and its sizes."""
        sizes = {**self.parameters, **self.numbers}
        parts = [f"{name}={size:g}" for name, size in sizes.items()]
        return f"{self.image} {' '.join([*parts, *(['shifted'] if self.shift else [])])}"


@frozen
class Result:
    """One output of a case: its relative error against the host in f64, and the bound."""

    slot: str
    error: float
    bound: float


@cache
def declared_images() -> dict[str, tuple[str, ImageDeclaration]]:
    """The library's images by name: the file that declares each, and the declaration."""
    found = {}
    for library in LIBRARIES:
        path = programs_directory() / "library" / library
        if path.is_file():
            for declaration in parse(load_source(path)).declarations:
                if isinstance(declaration, ImageDeclaration):
                    found[declaration.name.text] = library, declaration
    return found


def kernel_file(image: str) -> Path:
    """Where an image's .cu file belongs."""
    return kernels_directory() / declared_images()[image][1].file


def compile_case(case: Case, half: Element) -> Compiled:
    """The case as a program, up to its memory plan."""
    library, declaration = declared_images()[case.image]
    text = "\n".join([f'import "{library}"', *_lines(case, declaration)])
    return compile_program(Source("<case>", text), dict(case.parameters), half=half)


def inputs_of(case: Case, compiled: Compiled) -> Arrays:
    """Values for the planes that the launch reads. A slot `xT` gets what `x` has, transposed per head."""
    values: Arrays = {}
    planes = {plane.name: plane for plane in compiled.graph.planes}
    inputs = [slot for slot in _slots(case) if slot.access is not None and slot.access.reads]
    numbers = {slot.name.text: slot.number for slot in inputs}
    extents = launch_of(compiled).extents
    for slot in inputs:
        plane = planes[_given(slot)]
        untransposed = numbers.get(slot.name.text.removesuffix("T"), slot.number)
        if untransposed != slot.number:
            heads = values[f"plane{untransposed}"].ravel()[case.shift :].reshape(extents[untransposed])
            array = np.zeros(plane.extent, heads.dtype)
            array.reshape(-1)[case.shift :] = heads.swapaxes(1, 2).ravel()
            values[plane.name] = array
            continue
        generator = np.random.default_rng([7, slot.number])
        drawn = _drawn(generator, plane.extent, case.ranges.get(slot.name.text), plane.element)
        values[plane.name] = drawn.astype(DTYPES[plane.element])
    return values


def compare_case(case: Case, half: Element, session: Session) -> list[Result]:
    """Runs a case on the device and on the host, and gives each output's error."""
    compiled = compile_case(case, half)
    values = inputs_of(case, compiled)
    with opened(compiled, values, session.device) as executable:
        executable.run()
        got = {slot.number: executable.get(f"plane{slot.number}") for slot in _outputs(case)}
    exact = compile_case(case, Element.F64)
    found = []
    with opened(exact, widened(values), HOST) as executable:
        executable.run()
        for slot in _outputs(case):
            expected = executable.get(f"plane{slot.number}")
            is_half = slot.element is Element.HALF
            error = relative_error(expected.ravel()[case.shift :], got[slot.number].ravel()[case.shift :])
            found.append(Result(slot.name.text, error, case.rounding.bound(half, result_is_half=is_half)))
    return found


def launch_of(compiled: Compiled) -> LaunchNode:
    """The launch itself; fills may stand before it."""
    return next(node for node in compiled.graph.nodes if isinstance(node, LaunchNode))


def _drawn(generator: Any, extent: Sequence[int], limits: tuple[float, float] | None, element: Element) -> Any:
    if limits is None:
        return generator.standard_normal(tuple(extent), np.float32)
    if element is Element.I32:
        return generator.integers(int(limits[0]), int(limits[1]), tuple(extent), endpoint=True)
    return generator.uniform(*limits, tuple(extent))


def _slots(case: Case) -> list[SlotItem]:
    items = declared_images()[case.image][1].items
    slots = [item for item in items if isinstance(item, SlotItem) and item.name.text not in case.left_out]
    return sorted(slots, key=lambda slot: slot.number)


def _outputs(case: Case) -> list[SlotItem]:
    return [slot for slot in _slots(case) if slot.access is not None and slot.access.writes]


def _given(slot: SlotItem) -> str:
    """The plane that is set before a run."""
    return f"{'before' if slot.access is AccessMode.ACCUMULATE else 'plane'}{slot.number}"


def _lines(case: Case, declaration: ImageDeclaration) -> Iterator[str]:
    launch = "cgNoSlots"
    fills = []
    for slot in _slots(case):
        name = slot.name.text
        if slot.kind is SlotKind.POINTER and slot.element is not None and slot.access is not None:
            plane = f"plane{slot.number}"
            role = "input" if not slot.access.writes else "output"
            yield f"plane {plane} : {slot.element.value} {_extent(slot, case.shift)} {role}"
            launch = f"(cgPointer (cgArgument {slot.number}) (cgAt {plane} {case.shift}) {launch})"
            if slot.access is AccessMode.ACCUMULATE:
                yield f"plane {_given(slot)} : {slot.element.value} {_extent(slot, case.shift)} input"
                fills.append(f"(cgCopy {plane} {_given(slot)})")
            elif case.shift and slot.access is AccessMode.WRITE:
                fills.append(f"(cgFill {plane} 0.0)")
        elif slot.kind is SlotKind.NATURAL:
            yield f"def {name} = {int(case.numbers[name])}"
            launch = f"(cgNatural (cgArgument {slot.number}) {name} {launch})"
        else:
            launch = f"(cgFloat (cgArgument {slot.number}) {float(case.numbers[name])} {launch})"
    grid = next(item for item in declaration.items if isinstance(item, GridItem))
    sizes = [*(size.span.text for size in grid.sizes), "1", "1"][:3]
    command = f"(cgLaunch {case.image} {' '.join(sizes)} {launch})"
    for fill in fills:
        command = f"(cgThen {fill} {command})"
    yield f"def main = {command}"


def _extent(slot: SlotItem, shift: int) -> str:
    sizes = [size.span.text for size in slot.extent]
    if not shift:
        return f"[{', '.join(sizes)}]"
    count = sizes[0]
    for size in sizes[1:]:
        count = f"(naturalMultiply {count} {size})"
    return f"[(naturalAdd {count} {shift})]"

"""Programs of one launch of one library image, at given sizes, on the emulated device and on the host."""

import re
from collections.abc import Iterator, Mapping
from string import ascii_letters
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.devices import HOST, Device
from cgraph.backends.dtypes import DTYPES
from cgraph.check.images import natural_slots, symbolic_sizes
from cgraph.core.elements import Element
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Signature, SlotKind
from cgraph.pipeline import Compiled, check, compile_program, lower, parse
from cgraph.resources import programs_directory
from cgraph.source import Source
from tests.support.emulated_runs import EMULATED

Planes = dict[str, NDArray[Any]]
LIBRARY = programs_directory() / "library"
# In the order in which they import each other.
LIBRARY_FILES = ("sizes.cg", "images.cg", "model_sizes.cg", "model_images.cg", "geglu_images.cg", "optimizer_images.cg")
PARAMETER = re.compile(r"parameter (\w+) : (Nat|Float) = (\S+)")
IMPORT = re.compile(r"^import .*$", re.MULTILINE)


@frozen
class ImageCase:
    """One launch.

    Args:
        image: its name in the library.
        parameters: of the library, by name.
        numbers: of natural and float slots, by name.
        shift: each plane's part begins this many elements behind an aligned address.
        left_out: optional slots that are not given.
        ranges: lowest and highest value of an input's elements, where normally distributed ones would make no sense;
            integers always have one.
    """

    image: str
    numbers: Mapping[str, float] = field(factory=dict)
    parameters: Mapping[str, int] = field(factory=dict)
    shift: int = 0
    left_out: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(factory=dict)

    def __str__(self) -> str:
        sizes = "-".join(f"{name}={size}" for name, size in {**self.parameters, **self.numbers}.items())
        return f"{self.image.removeprefix('cgImage')}-{sizes}{'-shifted' if self.shift else ''}"


def run_case(case: ImageCase, half: Element) -> tuple[Planes, Planes]:
    """The parts that the launch writes, by slot, from the emulated device and from the host."""
    library = _library(case.parameters)
    program, _warnings = check(parse(Source("<library>", library)))
    signature = program.images[case.image].signature
    naturals = [int(case.numbers[symbol.name]) for symbol in natural_slots(signature)]
    sizes = symbolic_sizes(signature)(*naturals)
    assert sizes.grid is not None
    elements: dict[str, int] = {
        slot.name: int(count)  # type: ignore[arg-type]  # there are no parameters
        for slot, count in zip(signature.slots, sizes.elements, strict=True)
        if slot.kind is SlotKind.POINTER and slot.name not in case.left_out
    }
    text = "\n".join(_launch(case, signature, elements, " ".join(map(str, sizes.grid))))
    compiled = compile_program(Source("<case>", library + text), half=half)
    return _run(case, compiled, signature, EMULATED), _run(case, compiled, signature, HOST)


def _library(parameters: Mapping[str, int]) -> str:
    """The library's sizes and images with numbers in the place of parameters, so that they are checked for these."""
    text = IMPORT.sub("", "\n".join((LIBRARY / file).read_text(encoding="utf-8") for file in LIBRARY_FILES))
    values = {name: default for name, _type, default in PARAMETER.findall(text)}
    assert parameters.keys() <= values.keys()
    return PARAMETER.sub(lambda found: f"def {found[1]} = {parameters.get(found[1], found[3])}", text)


def _launch(case: ImageCase, signature: Signature, elements: Mapping[str, int], grid: str) -> Iterator[str]:
    slots = "cgNoSlots"
    for slot in signature.slots:
        if slot.kind is SlotKind.POINTER and slot.name not in elements:
            continue
        if slot.kind is SlotKind.POINTER:
            role = "input" if slot.access is AccessMode.READ else "output"
            assert slot.element is not None
            plane = f"{slot.number} : {slot.element.value} [{elements[slot.name] + case.shift}]"
            yield f"plane plane{plane} {role}"
            if slot.access is AccessMode.ACCUMULATE:
                yield f"plane before{plane} input"
            filled = f"cgPointer (cgArgument {slot.number}) (cgAt plane{slot.number} {case.shift})"
        else:
            kind = "cgNatural" if slot.kind is SlotKind.NATURAL else "cgFloat"
            filled = f"{kind} (cgArgument {slot.number}) {case.numbers[slot.name]}"
        slots = f"({filled} {slots})"
    launch = f"(cgLaunch {case.image} {grid} {slots})"
    for slot in signature.slots:
        if slot.access is AccessMode.ACCUMULATE:
            launch = f"(cgThen (cgCopy plane{slot.number} before{slot.number}) {launch})"
        elif case.shift and slot.access is AccessMode.WRITE and slot.name in elements:
            # Outputs are written in full: what the shifted parts leave out is filled.
            launch = f"(cgThen (cgFill plane{slot.number} 0.0) {launch})"
    yield f"def main = {launch}"


def _run(case: ImageCase, compiled: Compiled, signature: Signature, device: Device) -> Planes:
    """The results of one run with inputs that are the same for every device; `queriesT` is `queries` transposed."""
    generator = np.random.default_rng(5)
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, device)
    slots = {slot.number: slot for slot in signature.slots}
    by_slot = sorted((int(plane.name.strip(ascii_letters)), plane.name, plane) for plane in compiled.graph.planes)
    drawn: Planes = {}
    for number, plane_name, plane in by_slot:
        name = slots[number].name
        if slots[number].access is AccessMode.ACCUMULATE and plane_name.startswith("plane"):
            continue
        drawn[name] = _draw(generator, case, name, plane.extent, DTYPES[plane.element])
        if slots[number].access is AccessMode.READ and name.endswith("T") and name[:-1] in drawn:
            batch = int(case.numbers.get("batch", 1))
            seq, heads, head_width = (int(case.numbers[size]) for size in ("seq", "heads", "headWidth"))
            rows = drawn[name[:-1]][case.shift :].reshape(batch * heads, seq, head_width)
            drawn[name][case.shift :] = rows.transpose(0, 2, 1).reshape(-1)
        executable.set(plane_name, drawn[name])
    executable.run()
    results = {
        slots[number].name: executable.get(plane_name)[case.shift :]
        for number, plane_name, _plane in by_slot
        if slots[number].access is not AccessMode.READ and plane_name.startswith("plane")
    }
    close = getattr(executable, "close", None)
    if close is not None:
        close()
    return results


def _draw(
    generator: np.random.Generator, case: ImageCase, name: str, size: tuple[int, ...], dtype: np.dtype[Any]
) -> NDArray[Any]:
    low_high = case.ranges.get(name)
    if low_high is None:
        # What is written is drawn too, so that nothing passes because memory held the right values.
        return generator.standard_normal(size).astype(dtype)
    low, high = low_high
    if dtype.kind == "i":
        return generator.integers(int(low), int(high), size, dtype, endpoint=True)
    if not np.isfinite(low):
        return np.full(size, low, dtype)
    return generator.uniform(low, high, size).astype(dtype)

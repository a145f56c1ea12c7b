"""The device that is checked, and programs on it.

Receives the command line's choices; gives executables that are closed at the end of a `with`, on the device or on the
host in f64, which counts as exact here: its roundings are 2^29 times smaller than those of f32.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.devices import HOST, Device, DeviceKind
from cgraph.core.elements import Element
from cgraph.graph.purposes import result_planes
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.syntax.loading import load_source

Arrays = dict[str, NDArray[Any]]
HALVES = (Element.F16, Element.BF16)


@frozen
class Session:
    """What every step gets.

    Args:
        device: that is checked.
        reduced: small sizes and few repetitions, as an emulated device needs them.
    """

    device: Device
    reduced: bool

    @property
    def emulated(self) -> bool:
        """Whether there is no GPU: times say nothing then."""
        return self.device.kind is not DeviceKind.CUDA


def library_program(name: str) -> Source:
    """A program that comes with cgraph."""
    return load_source(programs_directory() / f"{name}.cg")


def compiled_layer(
    name: str, parameters: Mapping[str, int | float], half: Element, order: Order = Order.DATAFLOW
) -> Compiled:
    """`layer_forward` or `layer_backward` for these sizes."""
    return compile_program(library_program(name), parameters, half=half, order=order)


@contextmanager
def opened(compiled: Compiled, values: Mapping[str, NDArray[Any]], device: Device = HOST) -> Iterator[Any]:
    """The program on a device, with values for planes that it has; freed at the end."""
    executable: Any = lower(compiled.graph, compiled.schedule, compiled.plan, device)
    try:
        for plane in compiled.graph.planes:
            if plane.name in values:
                executable.set(plane.name, values[plane.name])
        yield executable
    finally:
        close = getattr(executable, "close", None)
        if close is not None:
            close()


def results(compiled: Compiled, executable: Any) -> Arrays:
    """The results of the last run, by plane name."""
    return {plane.name: executable.get(plane.name) for plane in result_planes(compiled.graph)}


def poison(compiled: Compiled, executable: Any) -> None:
    """Makes every result NaN, so that a run that does not write one is seen."""
    for plane in result_planes(compiled.graph):
        executable.set(plane.name, np.full_like(executable.get(plane.name), np.nan))


def widened(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """The same numbers in f64; whole numbers stay what they are."""
    return {name: array if array.dtype.kind in "iu" else array.astype(np.float64) for name, array in arrays.items()}


def same_bits(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> list[str]:
    """Names of the planes that differ."""
    return [name for name, array in one.items() if array.tobytes() != other[name].tobytes()]

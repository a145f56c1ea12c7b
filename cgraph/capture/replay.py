"""Replays of bundles: a graph in memory or in a file, ready to run on any device.

Receives a bundle, an imported graph or the path of either; guarantees an executable that needs neither the program nor,
where there is code for the device, a compiler. Planes begin with the bundle's contents, and with zeros where it has
none. An imported graph runs on GPUs and the emulated device only, and its planes are bytes.
"""

from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.devices import Device, parse_device, prepare, prepare_imported
from cgraph.backends.dtypes import DTYPES
from cgraph.backends.protocol import OnNode
from cgraph.capture.consistency import check_bundle
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.core.closing import ClosedByWith
from cgraph.graph.purposes import result_planes

Feed: TypeAlias = Callable[[int], Mapping[str, ArrayLike] | None]


class Replay(ClosedByWith):
    """A bundle on a device; a context manager.

    Attributes:
        bundle: what is replayed.
        device: where.
    """

    def __init__(self, bundle: Bundle | ImportedGraph | str | PathLike[str], device: str = "host") -> None:
        """Prepares a bundle.

        Args:
            bundle: itself, or the path of its file.
            device: host, emulated, cuda or cuda:N.

        Raises:
            ValueError: the device's name is none.
            ProblemsFound: CG800 to CG829 from the file, CG833 for a bundle that contradicts itself, CG830 to CG832
                where its code does not run on the device, and the problems of the device (CG701 to CG767).
        """
        self.device = parse_device(device)
        self.bundle = load_bundle(bundle) if isinstance(bundle, str | PathLike) else bundle
        if isinstance(bundle, Bundle):
            check_bundle(bundle)  # what comes from a file was checked when it was read
        self._bound: set[str] = set()
        self._executable = _prepare(self.bundle, self.device)
        try:
            self.reset()
        except BaseException:
            self.close()
            raise

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane, as `Executable.set` says."""
        self._executable.set(name, array)

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane, as `Executable.get` says."""
        values: NDArray[Any] = self._executable.get(name)
        return values

    def results(self) -> dict[str, NDArray[Any]]:
        """Copies of the planes that a run leaves something in, by name; all planes of an imported graph."""
        bundle = self.bundle
        planes = bundle.planes if isinstance(bundle, ImportedGraph) else result_planes(bundle.graph)
        return {plane.name: self.get(plane.name) for plane in planes}

    def rebind(self, name: str, memory: Any) -> None:
        """Binds a plane to memory of the caller's, as `Executable.rebind` says."""
        self._executable.rebind(name, memory)
        self._bound.add(name)

    def set_scalar(self, node: int, slot: str, value: float) -> None:
        """Changes a scalar of a command, as `Executable.set_scalar` says."""
        self._executable.set_scalar(node, slot, value)

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every command once, as `Executable.run` says. A child graph of an imported graph is one node."""
        self._executable.run(on_node)

    def run_many(self, times: int, feed: Feed | None = None) -> None:
        """Runs several times; planes keep what the run before left in them.

        Args:
            times: how often.
            feed: called before each run with its number, from 0; what it gives is set.

        Raises:
            ValueError: `times` is negative.
            ProblemsFound: as `set` and `run`.
        """
        if times < 0:
            raise ValueError(f"times: expected 0 or more, got {times}")
        for number in range(times):
            for name, array in ((feed(number) if feed is not None else None) or {}).items():
                self.set(name, array)
            self.run()

    def reset(self) -> None:
        """Puts the bundle's contents into the planes again, but not into memory that planes are bound to.

        Planes without contents that are not scratch become zero; scalars stay as they are.
        """
        for name, contents in _contents(self.bundle):
            if name not in self._bound:
                self.set(name, contents)

    def close(self) -> None:
        """Frees everything, once or again. Nothing else may be called afterwards."""
        self._executable.close()


def stored_kernels(bundle: Bundle) -> StoredKernels:
    """The bundle's modules by image."""
    return StoredKernels(
        {
            image: None if module is None else bundle.modules[module]
            for image, module in zip(bundle.images, bundle.module_of, strict=True)
        }
    )


def _prepare(bundle: Bundle | ImportedGraph, device: Device) -> Any:
    """An executable. Raises ProblemsFound."""
    if isinstance(bundle, ImportedGraph):
        return prepare_imported(bundle, device)
    return prepare(bundle.graph, bundle.schedule, bundle.plan, device, stored_kernels(bundle))


def _contents(bundle: Bundle | ImportedGraph) -> Iterator[tuple[str, NDArray[Any]]]:
    """What each plane begins with, but for scratch planes."""
    if isinstance(bundle, ImportedGraph):
        # One plane for each allocation, in their order; the others are parts of these.
        for number, whole in enumerate(bundle.planes[: len(bundle.allocations)]):
            yield whole.name, bundle.data.get(number, np.zeros(whole.size_bytes, np.uint8))
        return
    for plane, offset in zip(bundle.graph.planes, bundle.plan.offsets, strict=True):
        if offset is None:
            contents = bundle.data.get(plane.name)
            yield plane.name, np.zeros(plane.extent, DTYPES[plane.element]) if contents is None else contents

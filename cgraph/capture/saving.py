"""From a planned program to a bundle, and from a bundle to a file.

Receives what the pipeline or a recording made; guarantees a file that `load_bundle` reads, in every byte the same for
the same bundle. Code of kernels is made here, where a compiler is at hand, so that nobody who replays needs one.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.sources import HALF_MACRO
from cgraph.backends.cuda.storing import store_kernels
from cgraph.backends.planes import find_plane, fit_array
from cgraph.capture.codec.programs import program_manifest, read_program
from cgraph.capture.container import write_container
from cgraph.capture.imported.codec import imported_manifest, read_imported
from cgraph.capture.model import Bundle, Recording, launched_images
from cgraph.capture.problems_bundle import NeitherCodeNorMeaning, NotStorable, StoredWithoutCode
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.images.registry import find_meaning
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@frozen(eq=False)
class _InMemory:
    """Blobs that were not written yet."""

    blobs: Mapping[str, bytes]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.blobs)

    def read(self, name: str) -> bytes:
        return self.blobs[name]


def make_bundle(
    graph: CommandGraph,
    schedule: Schedule,
    plan: MemoryPlan,
    *,
    architectures: Sequence[str] = (),
    data: Mapping[str, ArrayLike] | None = None,
    recording: Recording | None = None,
) -> Bundle:
    """A planned program with code of its kernels.

    Args:
        graph: verified.
        schedule: of this graph.
        plan: of this schedule.
        architectures: devices to make cubins for, e.g. `sm_90`. PTX, which newer devices take too, is always made.
        data: contents of planes before the run, by plane name.
        recording: of a run.

    Raises:
        ProblemsFound: CG731 to CG739 from the compiler, CG816 where headers cannot be told apart, CG702 or CG703 where
            contents fit no plane, CG815 where a kernel has neither code nor a NumPy function.
    """
    images = launched_images(graph)
    modules, module_of = store_kernels(images, graph.half, architectures)
    by_name = {plane.name: plane for plane in graph.planes}
    contents: dict[str, NDArray[Any]] = {
        name: fit_array(find_plane(by_name, name), array) for name, array in (data or {}).items()
    }
    bundle = Bundle(graph, schedule, plan, modules, module_of, contents, recording)
    problems = [
        NeitherCodeNorMeaning(
            image.signature.span, image.signature.name, image.signature.file, image.signature.entry, *_reason(graph)
        )
        for image, row in zip(images, module_of, strict=True)
        if (row is None or not modules[row].codes) and find_meaning(image.signature.file, image.signature.entry) is None
    ]
    if problems:
        raise ProblemsFound(problems)
    return bundle


def warn_of_missing_code(bundle: Bundle) -> tuple[Problem, ...]:
    """CG814 for a bundle with kernels of which none has code; () for any other."""
    if not bundle.module_of or any(module.codes for module in bundle.modules):
        return ()
    return (StoredWithoutCode(None, *_reason(bundle.graph)),)


def save_bundle(bundle: Bundle | ImportedGraph, path: str | PathLike[str]) -> None:
    """Writes a bundle to a file, whole or not at all. What was written can be loaded: that is tried before.

    Raises:
        ProblemsFound: CG801 where the file cannot be written, CG811 and all that `load_bundle` would raise where the
            bundle could not be loaded.
    """
    try:
        if isinstance(bundle, ImportedGraph):
            manifest, blobs = imported_manifest(bundle)
            read_imported(manifest, _InMemory(blobs))
        else:
            manifest, blobs = program_manifest(bundle)
            read_program(manifest, _InMemory(blobs))
    except ValueError as error:
        raise ProblemsFound([NotStorable(None, str(error))]) from error
    write_container(Path(path), manifest, blobs)


def _reason(graph: CommandGraph) -> tuple[str, str]:
    """Why kernels have no code, and what to do about it."""
    if graph.half not in HALF_MACRO:
        return (
            f"half is {graph.half.value}, and its kernels know f16 and bf16",
            "save it with --half f16 or --half bf16",
        )
    missing = "NVIDIA's compiler library NVRTC is not installed"
    return missing, "install it and save again: pip install 'cgraph-lang[cuda]'"

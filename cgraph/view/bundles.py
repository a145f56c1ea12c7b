"""The view of a bundle: a program's graph with what its code says, or a graph that others made.

Receives a loaded bundle, which was checked; guarantees what the views of graphs guarantee.
"""

from collections.abc import Iterator, Sequence

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture.model import Bundle
from cgraph.graph.model import Image
from cgraph.schedule.cost import CostModel
from cgraph.view.graphs import view_of_graph
from cgraph.view.imported import view_of_imported
from cgraph.view.model import View, ViewNote


def view_of_bundle(
    bundle: Bundle | ImportedGraph,
    title: str,
    *,
    elapsed_ms: Sequence[float] | None = None,
    model: CostModel | None = None,
) -> View:
    """A bundle as a view.

    Args:
        bundle: loaded.
        title: a heading.
        elapsed_ms: measured times of a program's commands, as for `view_of_graph`.
        model: as for `view_of_graph`.
    """
    if isinstance(bundle, ImportedGraph):
        return view_of_imported(bundle, title)
    notes = []
    if bundle.recording is not None:
        notes.append(ViewNote("note", f"holds the results of a run on {bundle.recording.device}"))
    return view_of_graph(
        bundle.graph,
        bundle.schedule,
        bundle.plan,
        elapsed_ms=elapsed_ms,
        model=model,
        title=title,
        kind="bundle",
        registers=dict(_registers(bundle)),
        notes=notes,
    )


def _registers(bundle: Bundle) -> Iterator[tuple[Image, int]]:
    """Registers of a thread, by the first code of an image's module that was made for a device."""
    for image, place in zip(bundle.images, bundle.module_of, strict=True):
        for code in () if place is None else bundle.modules[place].codes:
            found = next((entry for entry in code.entries if entry.name == image.signature.entry), None)
            if found is not None and found.resources is not None:
                yield image, found.resources.registers
                break

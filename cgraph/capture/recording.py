"""Recording of runs: what ran, with what, and what it gave, as a bundle.

    with record() as recording:
        executable.run()
    recording.save("step.cgb")

Receives runs through the backends' hook, so it needs no change of the code that runs: an executable, a replay, a whole
model or an imported graph. Guarantees the graph with the scalars that it had, the contents of planes before the run,
those of its results after it, and a digest of what each command wrote, in a run with the bits of any other. Every run
inside is recorded; the last is kept. While a run is recorded, its commands run one by one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from attrs import define, field
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.imported.protocol import ImportedRun
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.protocol import OnNode
from cgraph.backends.recording_hook import Steppable, watched_by
from cgraph.capture.digests import UNFINISHED, digest_of
from cgraph.capture.imported.recording import record_imported
from cgraph.capture.model import Bundle, KernelModule, Recording, launched_images
from cgraph.capture.problems_replay import NothingRecorded
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.graph.purposes import given_planes, result_planes
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@define(eq=False)
class RecordedRun:
    """One run, as far as it came.

    Args:
        graph: with the scalars that it ran with.
        schedule: of the graph; plan: of the schedule.
        device: that it ran on, e.g. `cuda:0`; architectures: for which it ran machine code.
        stored: stored kernels that it ran; None where the program's own files were compiled.
        data: contents of planes before the run, by name.
        node_digests: of what each command wrote, by index; `UNFINISHED` for those that did not end.
        outputs: contents of results after the run, by name; empty where it did not end.
        finished: whether it ended.
    """

    graph: CommandGraph = field(repr=False)
    schedule: Schedule = field(repr=False)
    plan: MemoryPlan = field(repr=False)
    device: str
    architectures: tuple[str, ...]
    stored: StoredKernels | None = field(repr=False)
    data: dict[str, NDArray[Any]] = field(repr=False)
    node_digests: list[bytes] = field(repr=False)
    outputs: dict[str, NDArray[Any]] = field(factory=dict, repr=False)
    finished: bool = False

    @property
    def failed_node(self) -> int | None:
        """Index of the command in which the run stopped; None where it ended."""
        return next((index for index in self.schedule.sequence if self.node_digests[index] == UNFINISHED), None)


@define(eq=False)
class Recorder:
    """What `record` gives.

    Args:
        run: the last run that began; None where none has, or the last was of an imported graph.
        imported: the graph of that, with its recording.
    """

    run: RecordedRun | None = None
    imported: ImportedGraph | None = None

    @property
    def last(self) -> RecordedRun:
        """The last run. Raises ProblemsFound (CG838) where there was none of a program."""
        if self.run is None:
            raise ProblemsFound([NothingRecorded(None)])
        return self.run

    def bundle(self) -> Bundle | ImportedGraph:
        """The last run as a bundle, with the kernels that it ran. It may be the run that failed.

        Raises:
            ProblemsFound: CG838 where nothing ran, and as `make_bundle`.
        """
        if self.imported is not None:
            return self.imported
        run = self.last
        recording = Recording(run.device, dict(run.outputs), tuple(run.node_digests))
        if run.stored is None:
            return make_bundle(
                run.graph,
                run.schedule,
                run.plan,
                architectures=run.architectures,
                data=run.data,
                recording=recording,
            )
        modules, module_of = _modules(run.graph, run.stored)
        return Bundle(run.graph, run.schedule, run.plan, modules, module_of, dict(run.data), recording)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes `bundle` to a file, whole or not at all. Raises ProblemsFound as `bundle` and `save_bundle`."""
        save_bundle(self.bundle(), path)

    def watch(self, executable: Steppable, on_node: OnNode | None) -> None:
        """Does a run and records it; the backends call this."""
        graph = executable.current_graph()
        data = {plane.name: executable.get(plane.name) for plane in given_planes(graph)}
        digests = [UNFINISHED] * len(graph.nodes)
        run = RecordedRun(
            graph=graph,
            schedule=executable.schedule,
            plan=executable.plan,
            device=executable.device_name,
            architectures=executable.architectures,
            stored=executable.stored,
            data=data,
            node_digests=digests,
        )
        self.run, self.imported = run, None
        executable.run_each(_digesting(graph, executable, digests, on_node))
        run.outputs = {plane.name: executable.get(plane.name) for plane in result_planes(graph)}
        run.finished = True

    def watch_imported(self, executable: ImportedRun, on_node: OnNode | None) -> None:
        """Does a run of an imported graph and records it; the backend calls this."""
        record_imported(executable, on_node, self._keep_imported)

    def _keep_imported(self, graph: ImportedGraph) -> None:
        self.run, self.imported = None, graph


@contextmanager
def record() -> Iterator[Recorder]:
    """Records the runs inside; the last is kept, also where it raises.

    A run counts if it is made by the same thread, or in a copy of its context. Nested recordings: the inner one has the
    runs inside it.
    """
    recorder = Recorder()
    with watched_by(recorder.watch, recorder.watch_imported):
        yield recorder


def _digesting(
    graph: CommandGraph, executable: Steppable, digests: list[bytes], on_node: OnNode | None
) -> Callable[[int, float], None]:
    def after(index: int, elapsed_ms: float) -> None:
        digests[index] = digest_of(graph.nodes[index], executable.bytes_of)
        if on_node is not None:
            on_node(index, elapsed_ms)

    return after


def _modules(graph: CommandGraph, stored: StoredKernels) -> tuple[tuple[KernelModule, ...], tuple[int | None, ...]]:
    """The stored modules of a graph's images, and which is whose."""
    numbers: dict[KernelModule, int] = {}
    found = [stored.modules.get(image) for image in launched_images(graph)]
    module_of = [None if module is None else numbers.setdefault(module, len(numbers)) for module in found]
    return tuple(numbers), tuple(module_of)

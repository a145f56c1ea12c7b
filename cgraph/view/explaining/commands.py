"""One command, in one run or several: what it runs, with what, why when, where its memory lies, how it came about.

Receives a group of runs; guarantees that the first run is told in full and what differs in others is counted.
"""

from collections.abc import Iterator

from cgraph.view.captions import launch_sizes, line, place_text, size_text
from cgraph.view.explaining.model import Table, Topic, documentation_lines, table
from cgraph.view.explaining.occurrences import Group, runs_text, step_told
from cgraph.view.explaining.sharing import scratch_table
from cgraph.view.explaining.summaries import cost_parts
from cgraph.view.explaining.waits import Edges, waits_tables
from cgraph.view.model import View, ViewArgument, ViewNode
from cgraph.view.totals import totals_of
from cgraph.view.ways import steps_of


def command_topic(view: View, edges: Edges, group: Group, index: int | None) -> Topic:
    """A command.

    Args:
        view: that it is in.
        edges: of the view.
        group: its runs.
        index: of the text that is asked about, whose places are shown where a command comes from it.
    """
    node = view.nodes[group.first]
    step = step_told(view, group.first, index)
    place = "" if step is None else f" at {place_text(view, step)}"
    scratch = dict.fromkeys(access.plane for access in node.accesses)
    return Topic(
        title=line(f"{_verb(node)}{place}", 200),
        facts=tuple(_facts(view, group)),
        tables=(
            *_arguments(view, node, group),
            *waits_tables(view, edges, group.runs, index),
            *scratch_table(view, list(scratch)),
        ),
        way=tuple(steps_of(view, group.first)),
    )


def _verb(node: ViewNode) -> str:
    return f"launch of {node.label}" if node.kind == "launch" else node.label


def _facts(view: View, group: Group) -> Iterator[str]:
    node = view.nodes[group.first]
    runs = runs_text(view, group.runs)
    number = f"command {group.first}" if len(group.runs) == 1 else f"commands {group.first} … {group.runs[-1]}"
    yield line(f"{number}{runs and f', {runs}'}", 400)
    if node.kernel is not None:
        yield line(_kernel_text(view, node), 400)
        yield from documentation_lines(view.kernels[node.kernel].doc)
    if node.phase is not None:
        yield line(f"in phase {view.phases[node.phase].title or view.phases[node.phase].name}", 400)
    yield _amount(view, group)
    critical = set(view.critical_path).intersection(group.runs)
    if critical:
        many = "" if len(group.runs) == 1 else f": {len(critical)} of {len(group.runs)} runs"
        yield f"on the longest chain{many}"
    for key, text in node.details:
        yield line(f"{key}: {text}", 400)
    for note in view.notes:
        if note.node in group.runs:
            yield line(f"{note.severity}: {note.text}", 400)


def _kernel_text(view: View, node: ViewNode) -> str:
    """File and entry of what is launched, and the sizes that it is launched with."""
    assert node.kernel is not None  # noqa: S101  (asked of launches only)
    kernel = view.kernels[node.kernel]
    parts = [f"runs {kernel.symbol}" + (f" of {kernel.file}" if kernel.file else ""), *launch_sizes(node)]
    if node.shared_bytes:
        parts.append(f"{size_text(node.shared_bytes)} of dynamic shared memory")
    if kernel.registers is not None:
        parts.append(f"{kernel.registers} registers a thread")
    parts += [f"{name} = {value}" for name, value in kernel.constants]
    return ", ".join(parts)


def _amount(view: View, group: Group) -> str:
    """What all runs move and compute, and how long they take."""
    parts = ", ".join(cost_parts(view, totals_of(view, group.runs)))
    together = "" if len(group.runs) == 1 else "all runs together: "
    return together + (parts or "nothing is known of its cost")


def _arguments(view: View, node: ViewNode, group: Group) -> tuple[Table, ...]:
    heading = "arguments" if len(group.runs) == 1 else "arguments of the first run"
    columns = ("slot", "access", "plane or value", "element", "extent", "bytes", "role")
    return table(heading, columns, [_argument(view, node, argument) for argument in node.arguments])


def _argument(view: View, node: ViewNode, argument: ViewArgument) -> tuple[str, ...]:
    if argument.plane is None:
        return (argument.slot, argument.access or "", argument.value or "", "", "", "", "")
    plane = view.planes[argument.plane]
    start = argument.offset_bytes
    stop = next(
        (access.stop for access in node.accesses if access.plane == argument.plane and access.start == start), None
    )
    part = "" if start is None else f"from {start}" if stop is None else f"{start} to {stop}"
    return (
        argument.slot,
        argument.access or "",
        plane.name,
        plane.element or "",
        "" if argument.extent is None else f"[{', '.join(map(str, argument.extent))}]",
        f"{part} of {plane.size_bytes}" if part else "",
        plane.role,
    )

"""What became of a declaration: a plane, a phase, an image, a parameter or a definition.

Receives a declared name and the view of a build; guarantees a topic for each, also where the build does not use it.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from cgraph.source import Source
from cgraph.syntax.tree import Definition
from cgraph.view.captions import line, place_text, size_text
from cgraph.view.explaining.model import Topic, count_text, documentation_lines, table
from cgraph.view.explaining.occurrences import groups_by_place, runs_text, step_told
from cgraph.view.explaining.sharing import scratch_table
from cgraph.view.explaining.sites import Text, offset_of
from cgraph.view.explaining.summaries import amount_text, commands_table
from cgraph.view.model import View, ViewKernel, ViewPlane
from cgraph.view.totals import is_barrier
from cgraph.view.ways import loop_indices

UNUSED = "this build does not use it"
MOST_MEMBERS = 12
MOST_DOC_LINES = 12


def plane_topic(view: View, name: str, index: int | None) -> Topic:
    """A plane, or a family of planes: size, use, memory, who writes and who reads."""
    members = [number for number, plane in enumerate(view.planes) if plane.family == name]
    title = f"plane {name}"
    if not members:
        return Topic(title, (UNUSED,))
    first = view.planes[members[0]]
    facts = [f"{first.role} plane{_gradient_text(view, first)}, {_size_text(first)}"]
    if len(members) > 1:
        sizes = sum(view.planes[member].size_bytes for member in members)
        facts.append(f"a family of {len(members)} planes, {size_text(sizes)} together")
    facts += documentation_lines(first.doc)[:MOST_DOC_LINES]
    facts += [
        line(f"its gradient is {plane.name}", 200)
        for plane in islice((plane for plane in view.planes if plane.gradient_of == members[0]), 1)
    ]
    return Topic(
        line(title, 200),
        tuple(facts),
        (
            *table("in use", ("plane", "size", "first command", "last command"), _lifetimes(view, members, index)),
            *table("who touches it", ("access", "command", "at", "runs"), _users(view, members, index)),
            *scratch_table(view, members[:MOST_MEMBERS]),
        ),
    )


def phase_topic(view: View, name: str, index: int | None) -> Topic:
    """All runs of a phase."""
    inside = [False] * len(view.phases)
    runs = 0
    for number, phase in enumerate(view.phases):
        around = phase.parent is not None and inside[phase.parent]
        inside[number] = phase.name == name or around
        runs += phase.name == name
    if not runs:
        return Topic(line(f"phase {name}", 200), (UNUSED,))
    example = next(phase for phase in view.phases if phase.name == name)
    nodes = [node for node in view.sequence if _is_in(view, node, inside)]
    facts = [f"entered {count_text(runs, 'time')}", *documentation_lines(example.note), amount_text(view, nodes)]
    return Topic(line(f"phase {name}, {example.title}", 200), tuple(facts), commands_table(view, nodes, index))


def image_topic(view: View, name: str, index: int | None) -> Topic:
    """An image with its signature, and where it is launched."""
    kernels = [number for number, kernel in enumerate(view.kernels) if kernel.name == name]
    title = line(f"image {name}", 200)
    if not kernels:
        return Topic(title, ("this build does not launch it",))
    kernel = view.kernels[kernels[0]]
    nodes = [node for node in view.sequence if view.nodes[node].kernel in kernels]
    facts = [line(f"kernel {kernel.symbol}" + (f" of {kernel.file}" if kernel.file else ""), 400)]
    facts += [
        line("compiled with " + ", ".join(f"{constant} = {value}" for constant, value in made.constants), 400)
        for made in (view.kernels[number] for number in kernels)
        if made.constants
    ]
    registers = sorted({made.registers for made in (view.kernels[n] for n in kernels) if made.registers is not None})
    if registers:
        facts.append(f"{', '.join(map(str, registers))} registers a thread")
    facts += documentation_lines(kernel.doc)[:MOST_DOC_LINES]
    facts.append(amount_text(view, nodes))
    return Topic(
        title,
        tuple(facts),
        (
            *table("slots", ("slot", "name", "kind", "element", "access"), _slots(kernel)),
            *commands_table(view, nodes, index),
        ),
    )


def parameter_topic(view: View, name: str) -> Topic:
    """A parameter's value in this build."""
    value = dict(view.parameters).get(name)
    fact = UNUSED if value is None else f"is {value} in this build"
    return Topic(line(f"parameter {name}", 200), (fact,))


def definition_topic(view: View, text: Text, definition: Definition) -> Topic:
    """A definition: who calls it, and the commands that come from the places in it."""
    name = definition.name.text
    start, stop = definition.span.start, definition.span.stop
    nodes = _nodes_from(view, text.source, text.index, start, stop)
    calls = [number for number, origin in enumerate(view.origins) if origin.text == name and origin.parent is not None]
    title = line(f"definition {name}", 200)
    facts = documentation_lines(definition.documentation)[:MOST_DOC_LINES]
    if not nodes:
        return Topic(title, (*facts, "no command of this build comes from it"))
    places: dict[str, int] = {}
    for call in calls:
        places[place_text(view, call)] = places.get(place_text(view, call), 0) + 1
    rows = [(place, str(count)) for place, count in places.items()]
    return Topic(
        title,
        (*facts, amount_text(view, nodes)),
        (*table("called", ("at", "runs"), rows), *commands_table(view, nodes, text.index)),
    )


def _nodes_from(view: View, source: Source, index: int | None, start: int, stop: int) -> list[int]:
    """The commands with a step between two offsets of a text, in program order."""
    inside: list[bool] = []
    for origin in view.origins:
        here = origin.source == index and start <= offset_of(source, origin.start_line, origin.start_column) < stop
        inside.append(here or (origin.parent is not None and inside[origin.parent]))
    return [
        number
        for number in view.sequence
        if (step := view.nodes[number].origin) is not None and inside[step] and not is_barrier(view.nodes[number])
    ]


def _is_in(view: View, node: int, inside: Sequence[bool]) -> bool:
    phase = view.nodes[node].phase
    return phase is not None and inside[phase] and not is_barrier(view.nodes[node])


def _gradient_text(view: View, plane: ViewPlane) -> str:
    return "" if plane.gradient_of is None else f" of {view.planes[plane.gradient_of].name}"


def _size_text(plane: ViewPlane) -> str:
    shape = "" if plane.extent is None else f" [{', '.join(map(str, plane.extent))}]"
    kind = f"{plane.element}{shape}, " if plane.element else ""
    return f"{kind}{size_text(plane.size_bytes)}"


def _lifetimes(view: View, members: Sequence[int], index: int | None) -> list[tuple[str, ...]]:
    spans = {lifetime.plane: lifetime for lifetime in view.lifetimes}
    rows = []
    for member in members:
        lifetime = spans.get(member)
        ends = (None, None) if lifetime is None else (view.sequence[lifetime.first], view.sequence[lifetime.last])
        texts = (
            ("nothing touches it", "") if ends[0] is None else tuple(_command_text(view, end, index) for end in ends)
        )
        rows.append((view.planes[member].name, size_text(view.planes[member].size_bytes), *texts))
    return rows


def _command_text(view: View, node: int | None, index: int | None) -> str:
    if node is None:
        return ""
    step = step_told(view, node, index)
    loops = loop_indices(view, node)
    place = "" if step is None else f" at {place_text(view, step)}"
    return f"{node} {line(view.nodes[node].label)}{place}" + (f" ({loops})" if loops else "")


def _users(view: View, members: Sequence[int], index: int | None) -> list[tuple[str, ...]]:
    """Writers first, then those that do both, then readers; runs of one command together."""
    asked = set(members)
    modes: dict[str, list[int]] = {"write": [], "accumulate": [], "read": []}
    for number in view.sequence:
        for mode in dict.fromkeys(access.mode for access in view.nodes[number].accesses if access.plane in asked):
            modes[mode].append(number)
    return [row for mode, nodes in modes.items() for row in _rows_of_mode(view, mode, nodes, index)]


def _rows_of_mode(view: View, mode: str, nodes: Sequence[int], index: int | None) -> Iterator[tuple[str, ...]]:
    for group in groups_by_place(view, nodes, index):
        step = step_told(view, group.first, index)
        place = "" if step is None else place_text(view, step)
        yield mode, view.nodes[group.first].label, place, runs_text(view, group.runs) or "once"


def _slots(kernel: ViewKernel) -> list[tuple[str, ...]]:
    return [
        (str(number), slot.name, slot.kind, slot.element or "", slot.access or "")
        for number, slot in enumerate(kernel.slots or ())
    ]

"""Short texts for pictures: what a node is called, what it does, where it comes from.

Receives a view whose names may hold anything; guarantees single lines without control or direction characters, each no
longer than its bound. Escaping for a file format is left to the exporter.
"""

from collections.abc import Iterable, Iterator, Sequence

from cgraph.diagnostics.display import safe_text
from cgraph.view.model import View, ViewArgument, ViewEdge, ViewNode
from cgraph.view.totals import command_count

LABEL_LENGTH = 60
NAME_LENGTH = 30
TEXT_LENGTH = 400
MOST_ARGUMENTS = 40
SETTINGS_IN_LINE = 6


def line(text: str, length: int = LABEL_LENGTH) -> str:
    """One printable line of at most `length` characters, with … where it is cut."""
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return safe_text(cut).replace("\r", " ")


def node_caption(view: View, index: int) -> list[str]:
    """Number and name of a node, and in lines of their own the planes that it writes."""
    planes = written_planes(view, view.nodes[index])
    more = [f"… and {len(planes) - MOST_ARGUMENTS} more"] if len(planes) > MOST_ARGUMENTS else []
    return [line(f"{index} {view.nodes[index].label}"), *map(line, planes[:MOST_ARGUMENTS]), *more]


def edge_text(view: View, edge: ViewEdge) -> str:
    """The reason of an edge: `read-after-write plane, bytes 0 to 64`, or one word."""
    if edge.plane is None:
        return edge.reason
    part = "" if edge.start is None or edge.stop is None else f", bytes {edge.start} to {edge.stop}"
    more = f", one of {edge.count}" if edge.count > 1 else ""
    return f"{edge.reason} {view.planes[edge.plane].name}{part}{more}"


def written_planes(view: View, node: ViewNode) -> list[str]:
    """Names of the planes that a node writes, each once."""
    written = dict.fromkeys(access.plane for access in node.accesses if access.mode != "read")
    return [view.planes[plane].name for plane in written]


def few_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many others there are: `a, b +3`."""
    more = f" +{len(names) - most}" if len(names) > most else ""
    return ", ".join(line(name, NAME_LENGTH) for name in names[:most]) + more


def description(view: View, index: int) -> Iterator[str]:
    """Lines on a node, for a tooltip: what it does with what, where it comes from, what it costs."""
    node = view.nodes[index]
    sizes = launch_sizes(node)
    if node.shared_bytes:
        sizes.append(f"shared {size_text(node.shared_bytes)}")
    yield line(f"{index} {node.label}" + (f" ({', '.join(sizes)})" if sizes else ""), TEXT_LENGTH)
    for argument in node.arguments[:MOST_ARGUMENTS]:
        yield line(argument_text(view, argument), TEXT_LENGTH)
    if len(node.arguments) > MOST_ARGUMENTS:
        yield f"… and {len(node.arguments) - MOST_ARGUMENTS} more"
    yield from (line(f"{key}: {text}", TEXT_LENGTH) for key, text in node.details[:MOST_ARGUMENTS])
    if node.origin is not None:
        yield line(place_text(view, node.origin), TEXT_LENGTH)
    cost = cost_text(node)
    if cost:
        yield cost


def launch_sizes(node: ViewNode) -> list[str]:
    """`grid 2×1×1` and `block 32×1×1`, as far as they are known."""
    return [f"{name} {'×'.join(map(str, size))}" for name, size in (("grid", node.grid), ("block", node.block)) if size]


def argument_text(view: View, argument: ViewArgument) -> str:
    """`slot = mode plane[extent]`, with the offset where there is one, or `slot = value`."""
    if argument.plane is None:
        return f"{argument.slot} = {argument.value}"
    access = f"{argument.access} " if argument.access else ""
    extent = f"[{', '.join(map(str, argument.extent))}]" if argument.extent else ""
    offset = f" from byte {argument.offset_bytes}" if argument.offset_bytes else ""
    return f"{argument.slot} = {access}{view.planes[argument.plane].name}{extent}{offset}"


def place_text(view: View, origin: int) -> str:
    """`file:line:column` of an origin."""
    step = view.origins[origin]
    return f"{view.sources[step.source].name}:{step.start_line}:{step.start_column}"


def cost_text(node: ViewNode) -> str:
    """The measured time, or else the estimate; empty where neither is known."""
    if node.elapsed_ms is not None:
        return f"{1e3 * node.elapsed_ms:.1f} µs"
    return "" if node.cost_us is None else f"{node.cost_us:.1f} µs (estimate)"


def size_text(size_bytes: int) -> str:
    """A size for people, in binary units."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.2f}".rstrip("0").rstrip(".") + f" {name}"
    return f"{size_bytes} bytes"


def headline(view: View) -> str:
    """What the graph is, in one line."""
    parts = (view.title, None if view.entry == "main" else view.entry, view.tool)
    return line(", ".join(part for part in parts if part), 2 * LABEL_LENGTH)


def facts(view: View) -> Iterator[str]:
    """Lines on the whole graph: sizes it was built with, how much there is, how long it takes, memory."""
    settings = [f"{name} = {value}" for name, value in view.parameters]
    if view.half is not None:
        settings.append(f"half = {view.half}")
    for start in range(0, len(settings), SETTINGS_IN_LINE):
        yield line(", ".join(settings[start : start + SETTINGS_IN_LINE]), 2 * LABEL_LENGTH)
    amount = f"{command_count(view)} commands, {len(view.edges)} dependencies"
    if view.order is not None:
        amount += f", {view.order} order"
    if view.critical_path_us is not None:
        how = "measured" if view.timed else "estimated"
        amount += f"; longest chain: {len(view.critical_path)} commands, {view.critical_path_us:.1f} µs {how}"
    yield amount
    if view.memory is not None:
        yield (
            f"scratch {size_text(view.memory.arena_bytes)} (without sharing "
            f"{size_text(view.memory.unshared_bytes)}), other planes {size_text(view.memory.persistent_bytes)}"
        )


def common_prefix(names: Iterable[str]) -> str:
    """What all names begin with, up to where a new word starts in each (a capital after it); "" for fewer than two."""
    distinct = sorted(set(names))
    if len(distinct) < 2:
        return ""
    first, last = distinct[0], distinct[-1]
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    while length and not all(name[length : length + 1].isupper() for name in distinct):
        length -= 1
    return first[:length]

r"""Labels of the nodes of CUDA's and HIP's dumps: records (verbose) or lines.

Receives a node of such a dump; guarantees a command for any label, with a doubt where its form is none of those that
real files have. What a label does not say stays None.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, islice

from cgraph.view.captions import size_text
from cgraph.view.dumps.commands import Command
from cgraph.view.dumps.launches import Launch, cut_launch, launch_of, number
from cgraph.view.dumps.limits import LONGEST_FACT, LONGEST_LABEL, MOST_FACTS
from cgraph.view.dumps.model import DotNode
from cgraph.view.dumps.records import cells_of, facts, plain
from cgraph.view.dumps.texts import shortened
from cgraph.view.dumps.transfers import transfer_of
from cgraph.view.model import NodeKind

KINDS: Mapping[str, NodeKind] = {
    "KERNEL": "launch",
    "MEMCPY": "memcpy",
    "MEMSET": "memset",
    "MEM_ALLOC": "alloc",
    "MEM_FREE": "free",
    "EVENT_RECORD": "event_record",
    "EVENT_WAIT": "event_wait",
    "WAIT_EVENT": "event_wait",
    "HOST": "host",
    "EMPTY": "empty",
    "GRAPH": "child",
    "CHILD_GRAPH": "child",
    "CONDITIONAL": "conditional",
}
_LABELS: Mapping[NodeKind, str] = {
    "free": "free",
    "event_record": "event record",
    "event_wait": "event wait",
    "host": "host function",
    "empty": "empty",
    "child": "child graph",
}
_ID = re.compile(r"([0-9]+)(?:\s*\(topoId:\s*([0-9]+)\))?")
_GRAPH = re.compile(r"graph_[0-9]+")
_TRANSFER_KIND = re.compile(r"\(([A-Za-z]+to[A-Za-z]+)\)")
_FILL = re.compile(r"\((-?[0-9]+),\s*([0-9]+)\)")

Facts = Sequence[tuple[str, str]]


def read_label(node: DotNode) -> Command:
    """The command that a node's label tells of."""
    label = node.attributes.get("label", "")
    if label.lstrip().startswith("{"):
        return _of_record(label)
    return _of_lines(plain(label), node.attributes.get("shape", ""), node.name)


def _of_record(label: str) -> Command:
    cut = cut_launch(label)
    rest, place, launch = cut if cut is not None else (label, None, None)
    whole = cells_of(rest)
    rows = whole[0] if whole and isinstance(whole[0], list) else whole
    word = rows[0] if rows and isinstance(rows[0], str) else ""
    found = list(
        islice(chain.from_iterable(facts(row) for row in rows[1:] if isinstance(row, list)), MOST_FACTS),
    )
    if place is not None:
        found.insert(0, ("ID", place))
    elif word == "KERNEL":
        launch, found = _launch_without_sizes(found)
    return _command(word, launch, found)


def _launch_without_sizes(found: list[tuple[str, str]]) -> tuple[Launch | None, list[tuple[str, str]]]:
    """A kernel's row of ID and name, as HIP writes it where nobody asks for sizes."""
    for position, (name, value) in enumerate(found):
        place = _ID.match(value) if name == "ID" else None
        if place is not None:
            found[position] = (name, place[0])
            return launch_of(value[place.end() :]), found
    return None, found


def _of_lines(label: str, shape: str, name: str) -> Command:
    lines = [line.strip() for line in label.strip().splitlines()]
    place = _ID.fullmatch(lines[0]) if lines else None
    if place is None:
        return Command("unknown", shortened(label.strip() or name), doubt="it does not begin with the command's number")
    found: list[tuple[str, str]] = [("ID", place[0])]
    rest = lines[1:]
    word = rest[0] if rest else ""
    if word not in KINDS and (shape == "octagon" or "<<<" in label):
        return _command("KERNEL", launch_of("\n".join(rest)), found)
    for number_of_line, line in enumerate(rest[:MOST_FACTS]):
        name, colon, value = line.partition(":")
        if _GRAPH.fullmatch(line):
            found.append(("", line))
        elif colon:
            found.append((name.strip(), value.strip()))
        elif moved := _TRANSFER_KIND.fullmatch(line):
            found.append(("kind", moved[1]))
        elif filled := _FILL.fullmatch(line):
            found.extend((("value", filled[1]), ("size", filled[2])))
        elif line and number_of_line:
            found.append(("text", line))
    return _command(word, None, found)


def _command(word: str, launch: Launch | None, found: Facts) -> Command:
    """A command of a kind that a word names, or else its facts."""
    graphs = tuple((name, value) for name, value in found if _GRAPH.fullmatch(value))
    named = {name.lower(): value for name, value in found}
    kind = KINDS.get(word) or _kind_of_facts(named, len(graphs))
    doubt = None
    if kind == "launch" and (launch is None or not launch.symbol):
        doubt = "the kernel's name is missing"
    elif launch is not None and launch.sizes is not None and launch.grid is None:
        doubt = f"the sizes of the launch: `{shortened(launch.sizes)}`"
    elif kind == "unknown" and not word:
        doubt = "it does not say what the command is"
    size_bytes = number(named.get("bytesize", ""))
    return Command(
        kind=kind,
        label=_label(kind, word, named, size_bytes),
        launch=launch if kind == "launch" else None,
        transfer=transfer_of(kind, named),
        address=number(named.get("dptr", "")) if kind in ("alloc", "free") else None,
        size_bytes=size_bytes if kind == "alloc" else None,
        graphs=graphs,
        details=tuple(_details(found, named, launch)),
        flags=("cooperative",) if named.get("cooperative", "0") not in ("0", "") else (),
        doubt=doubt,
    )


def _kind_of_facts(named: Mapping[str, str], graphs: int) -> NodeKind:
    """What a label without a known word is: older drivers do not name conditional nodes, and no one child graphs."""
    if graphs > 1 or (graphs and "type" in named):
        return "conditional"
    return "child" if graphs else "unknown"


def _label(kind: NodeKind, word: str, named: Mapping[str, str], size_bytes: int | None) -> str:
    if kind == "memcpy":
        moved = re.match(r"[A-Za-z]+", named.get("kind", ""))
        return f"memcpy {moved[0]}"[:LONGEST_LABEL] if moved else "memcpy"
    if kind == "memset":
        return f"memset with {shortened(named['value'])}" if "value" in named else "memset"
    if kind == "alloc":
        return "allocate" if size_bytes is None else f"allocate {size_text(size_bytes)}"
    if kind == "conditional":
        condition = named.get("conditional type") or named.get("type")
        return f"conditional {shortened(condition)}" if condition else "conditional"
    return _LABELS.get(kind) or shortened(word.replace("_", " ").lower()) or "unknown"


def _details(found: Facts, named: Mapping[str, str], launch: Launch | None) -> Facts:
    """The facts that are shown nowhere else, with the topological number apart; a window of no bytes is none."""
    details = []
    for name, value in found:
        place = _ID.fullmatch(value) if name == "ID" else None
        if place is not None:
            details.append(("ID", place[1]))
            if place[2] is not None:
                details.append(("topoId", place[2]))
        elif not _GRAPH.fullmatch(value) and not (
            name.startswith("accessPolicyWindow") and named.get("accesspolicywindow num_bytes") == "0"
        ):
            details.append((shortened(name), value[:LONGEST_FACT]))
    if launch is not None and launch.sizes is not None and launch.grid is None:
        details.append(("launch", launch.sizes[:LONGEST_FACT]))
    return details

"""Views for tests of the page: made by hand, so that a test knows what the page must say."""

from collections.abc import Sequence

from cgraph.view.model import (
    View,
    ViewAccess,
    ViewEdge,
    ViewKernel,
    ViewLifetime,
    ViewMemory,
    ViewNode,
    ViewNote,
    ViewPhase,
    ViewPlane,
)

PLANE_BYTES = 1024


def chain_view(names: Sequence[str], phases: Sequence[ViewPhase] = (), phase_of: Sequence[int | None] = ()) -> View:
    """Commands in a row: each writes a plane that the next reads. Node i has kernel i, plane i and name i."""
    count = len(names)
    nodes = tuple(
        ViewNode(
            kind="launch",
            label=name,
            phase=phase_of[index] if phase_of else None,
            kernel=index,
            accesses=(
                *((ViewAccess(index - 1, 0, PLANE_BYTES, "read"),) if index else ()),
                ViewAccess(index, 0, PLANE_BYTES, "write"),
            ),
            read_bytes=PLANE_BYTES if index else 0,
            written_bytes=PLANE_BYTES,
            cost_us=1.0 + index,
        )
        for index, name in enumerate(names)
    )
    return View(
        title="chain.cg",
        kind="program",
        entry="main",
        order="dataflow",
        phases=tuple(phases),
        kernels=tuple(ViewKernel(name, name) for name in names),
        planes=tuple(
            ViewPlane(
                f"plane{index}", f"plane{index}", "f32", (256,), "scratch", PLANE_BYTES, (index % 2) * PLANE_BYTES
            )
            for index in range(count)
        ),
        nodes=nodes,
        edges=tuple(
            ViewEdge(index, index + 1, "read-after-write", index, 0, PLANE_BYTES, 1) for index in range(count - 1)
        ),
        sequence=tuple(range(count)),
        memory=ViewMemory(2 * PLANE_BYTES, 2 * PLANE_BYTES, count * PLANE_BYTES, 0),
        lifetimes=tuple(ViewLifetime(index, index, min(count - 1, index + 1)) for index in range(count)),
        critical_path=tuple(range(count)),
        critical_path_us=sum(1.0 + index for index in range(count)),
    )


def wide_view(commands: int) -> View:
    """One phase of many commands, of which each waits for one or two earlier ones."""
    nodes = tuple(ViewNode("launch", f"command{index}", phase=0, cost_us=1.0 + index % 7) for index in range(commands))
    edges = tuple(
        ViewEdge(index - step, index, "given")
        for index in range(1, commands)
        for step in {1 + index % 3, 1 + index * 7 % 11}
        if step <= index
    )
    return View(
        title="wide.cg",
        kind="program",
        phases=(ViewPhase("everything", "everything", None),),
        nodes=nodes,
        edges=edges,
        sequence=tuple(range(commands)),
    )


def dump_view() -> View:
    """What a dump holds: an allocation that is never freed, twelve commands in a row, a child graph and two bodies, one
    of them empty.
    """
    row = 12
    nodes = [ViewNode("alloc", "allocate", phase=0, flags=("never freed",))]
    nodes += [ViewNode("launch", f"row{index}", phase=0) for index in range(row)]
    nodes += [
        ViewNode("conditional", "while", phase=0, body=(2, 3)),
        ViewNode("launch", "in the body", phase=2),
        ViewNode("child", "call", phase=0, body=(1,)),
        ViewNode("memcpy", "in the child", phase=1),
    ]
    last = row + 1
    edges = [ViewEdge(index, index + 1, "given") for index in range(last)] + [ViewEdge(last, last + 2, "given")]
    return View(
        title="dump.dot",
        kind="dump",
        tool="a tool",
        phases=(
            ViewPhase("graph_1", "whole graph", None, "graph"),
            ViewPhase("graph_2", "child graph", 0, "child"),
            ViewPhase("body_0", "body 0", 0, "body"),
            ViewPhase("body_1", "empty body", 0, "body", "the dump shows no commands"),
        ),
        nodes=tuple(nodes),
        edges=tuple(edges),
        sequence=tuple(range(len(nodes))),
        notes=(ViewNote("warning", "an allocation is never freed", 0, 12),),
    )


def long_view(commands: int, *, waiting: bool) -> View:
    """What a dump holds: commands in no box, each of which waits for the one before it, or for none."""
    return View(
        title="long.dot",
        kind="dump",
        nodes=tuple(ViewNode("empty", f"empty{index}") for index in range(commands)),
        edges=tuple(ViewEdge(index, index + 1, "given") for index in range(commands - 1)) if waiting else (),
        sequence=tuple(range(commands)),
    )


def switch_view() -> View:
    """What a dump holds: a command before, one that chooses among three branches of two commands each, one behind."""
    branches = 3
    nodes = [ViewNode("launch", "before"), ViewNode("conditional", "switch", body=tuple(range(branches)))]
    edges = [ViewEdge(0, 1, "given")]
    for branch in range(branches):
        nodes += [
            ViewNode("launch", f"branch{branch}", phase=branch),
            ViewNode("launch", f"beside{branch}", phase=branch),
        ]
    nodes.append(ViewNode("launch", "behind"))
    edges.append(ViewEdge(1, len(nodes) - 1, "given"))
    return View(
        title="switch.dot",
        kind="dump",
        phases=tuple(ViewPhase(f"branch {branch}", f"branch {branch}", None, "body") for branch in range(branches)),
        nodes=tuple(nodes),
        edges=tuple(edges),
        sequence=tuple(range(len(nodes))),
    )

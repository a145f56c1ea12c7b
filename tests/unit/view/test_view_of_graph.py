"""Views of graphs at every stage, by facts worked out by hand."""

import pytest

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.pipeline import compile_program
from cgraph.schedule.cost import CostModel
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.view.captions import facts
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View, ViewAccess, ViewArgument, ViewEdge, ViewLifetime, ViewMemory
from cgraph.view.places import short_names
from cgraph.view.references import first_wrong_reference
from tests.support.graphs import GraphMaker
from tests.support.views import small_graph, view_of

DOCUMENTED = """-- What goes in.
plane given : f32 [n] input
plane result : f32 [n] output
-- How many.
parameter n : Nat = 6
-- First and only.
phase step "the step"
-- Adds.
image add = kernel "add.cu" "add" { slot 0 out : write f32 [n] slot 1 in : read f32 [n] slot 2 n : natural block 32 }
def main =
  (cgPhase step
    (cgLaunch add 1 1 1
      (cgPointer (cgArgument 0) result (cgPointer (cgArgument 1) given (cgNatural (cgArgument 2) n cgNoSlots)))))
"""


def test_nodes_say_what_they_run_and_touch() -> None:
    view = view_of(small_graph())
    assert [node.kind for node in view.nodes] == ["fill", "launch", "join", "copy", "launch"]
    fill, launch, join, copy, _ = view.nodes
    assert fill.arguments == (ViewArgument("destination", 1, 0, (4,), "write"), ViewArgument("value", value="1.5"))
    assert launch.arguments == (
        ViewArgument("s0", 1, 0, (4,), "accumulate"),
        ViewArgument("s1", 0, 16, (4,), "read"),
        ViewArgument("n", value="4"),
    )
    assert launch.accesses == (ViewAccess(1, 0, 16, "accumulate"), ViewAccess(0, 16, 32, "read"))
    assert (launch.read_bytes, launch.written_bytes) == (32, 16)
    assert (launch.grid, launch.block, launch.shared_bytes) == ((1, 1, 1), (32, 1, 1), 0)
    assert (join.read_bytes, join.written_bytes, join.operations, join.cost_us) == (0, 0, 0, 0.0)
    assert copy.arguments == (
        ViewArgument("destination", 1, 0, (2,), "write"),
        ViewArgument("source", 0, 0, (2,), "read"),
    )
    assert [node.operations for node in view.nodes] == [0, None, 0, 0, None]
    assert all(node.elapsed_ms is None for node in view.nodes)


def test_edges_name_their_hazard() -> None:
    view = view_of(small_graph())
    assert view.edges == (
        ViewEdge(0, 1, "read-after-write", 1, 0, 16, 1),
        ViewEdge(1, 3, "write-after-write", 1, 0, 8, 1),
        ViewEdge(3, 4, "read-after-write", 1, 4, 8, 1),
    )
    serial = view_of(small_graph(), Order.SERIAL)
    assert [(edge.before, edge.after, edge.reason) for edge in serial.edges] == [
        (0, 1, "read-after-write"),
        (1, 2, "order"),
        (2, 3, "order"),
        (3, 4, "read-after-write"),
    ]


def test_without_a_schedule_all_hazards_are_edges_and_nothing_else_is_known() -> None:
    view = view_of_graph(small_graph())
    assert (1, 4) in {(edge.before, edge.after) for edge in view.edges}  # a schedule leaves it out: 1 → 3 → 4
    assert (view.order, view.memory, view.critical_path, view.critical_path_us) == (None, None, (), None)
    assert all(plane.offset is None for plane in view.planes)


def test_two_hazards_between_two_nodes_are_one_edge() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 4), maker.plane("b", 4)
    maker.launch(maker.write(a), maker.write(b))
    maker.launch(maker.read(a), maker.read(b), maker.write(maker.plane("c", 1, Role.OUTPUT)))
    graph = maker.graph()
    for view in (view_of_graph(graph), view_of(graph)):
        assert view.edges == (ViewEdge(0, 1, "read-after-write", 0, 0, 16, 2),)


def test_memory_and_lifetimes() -> None:
    view = view_of(small_graph())
    assert view.memory == ViewMemory(256, 256, 256, 8 * 4 + 2 * 4)
    assert view.lifetimes == (ViewLifetime(0, 1, 3), ViewLifetime(1, 0, 4), ViewLifetime(2, 4, 4))
    assert [plane.offset for plane in view.planes] == [None, 0, None]


def test_the_critical_path_follows_estimates_or_times() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 100, Role.OUTPUT), maker.plane("b", 1, Role.OUTPUT)
    maker.fill(a)
    maker.fill(b)
    graph = maker.graph()
    estimated = view_of(graph)
    assert estimated.critical_path == (0,)
    assert not estimated.timed
    measured = view_of(graph, elapsed_ms=(0.25, 0.5))
    assert (measured.critical_path, measured.critical_path_us) == ((1,), pytest.approx(500.0))
    assert [node.elapsed_ms for node in measured.nodes] == [0.25, 0.5]
    assert measured.timed


def test_the_roofline_is_the_model_of_the_estimates() -> None:
    model = CostModel(overhead_us=2.0, bandwidth_bytes_per_us=4.0, operations_per_us=1.0, device="mine")
    view = view_of_graph(small_graph(), model=model)
    assert view.nodes[0].cost_us == pytest.approx(2 + 16 / 4)
    assert view.roofline is not None
    assert (view.roofline.device, view.roofline.overhead_us) == ("mine", 2.0)


def test_origins_lead_from_a_command_to_the_entry() -> None:
    view = view_of(small_graph())
    step = view.nodes[1].origin
    texts = []
    while step is not None:
        texts.append((view.origins[step].text, view.origins[step].start_line))
        step = view.origins[step].parent
    assert texts == [("launch", 2), ("l = 3", 8), ("main", 1)]
    assert view.origins[0].start_column == 1
    assert view.origins[0].stop_column == 8
    assert [source.name for source in view.sources] == ["hand.cg"]


def test_comments_above_declarations_are_documents() -> None:
    compiled = compile_program(Source("folder/p.cg", DOCUMENTED))
    view = view_of_graph(compiled.graph, compiled.schedule, compiled.plan)
    assert [phase.note for phase in view.phases] == ["First and only."]
    assert [kernel.doc for kernel in view.kernels] == ["Adds."]
    assert {plane.name: plane.doc for plane in view.planes} == {"given": "What goes in.", "result": None}
    assert [slot.access for slot in view.kernels[0].slots or ()] == ["write", "read", None]
    declared = view.planes[0].origin
    assert declared is not None
    assert view.origins[declared].start_line in (2, 3)


def wide(count: int) -> CommandGraph:
    maker = GraphMaker()
    for phase in ("first", "second"):
        with maker.phase(phase):
            for number in range(count):
                maker.fill(maker.plane(f"{phase} {number}", 1, Role.OUTPUT))
    return maker.graph()


def paths(view: View) -> set[tuple[int, int]]:
    """Pairs of fills with a path from one to the other, over at most one node between them."""
    edges = {(edge.before, edge.after) for edge in view.edges}
    through = {(a, d) for a, b in edges for c, d in edges if b == c}
    return {pair for pair in edges | through if max(pair) < 2 * 30}


@pytest.mark.parametrize("count", [3, 30])
def test_a_wide_barrier_is_a_node(count: int) -> None:
    view = view_of(wide(count), Order.PHASE)
    assert first_wrong_reference(view) is None
    barriers = [number for number, node in enumerate(view.nodes) if "barrier" in node.flags]
    if count == 3:
        assert not barriers
        assert len(view.edges) == 9
        return
    assert barriers == [60]
    assert any("60 commands, 60 dependencies" in fact for fact in facts(view))
    assert len(view.edges) == 60
    assert paths(view) == {(before, after) for before in range(30) for after in range(30, 60)}
    assert view.sequence == (*range(30), 60, *range(30, 60))
    assert view.lifetimes[30] == ViewLifetime(30, 31, 31)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["/a/b/c.cg"], ["c.cg"]),
        (["/a/b/c.cg", "/a/d/c.cg", "e.cg"], ["b/c.cg", "d/c.cg", "e.cg"]),
        (["c.cg", "/c.cg"], ["c.cg", "/c.cg"]),
        (["a\\b.cg", "<text>"], ["b.cg", "<text>"]),
        (["same.cg", "same.cg"], ["same.cg", "same.cg"]),
    ],
)
def test_names_of_texts_are_as_short_as_tells_them_apart(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short

"""Text forms of graphs: exact, for a graph small enough to be read."""

from cgraph.core.origins import Origin
from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.graph.origins import origin_notes
from cgraph.graph.text import graph_text
from tests.support.graphs import GraphMaker


def _graph() -> CommandGraph:
    maker = GraphMaker()
    x, y = maker.plane("x", 8, Role.INPUT), maker.plane("y 0", 4, Role.OUTPUT)
    with maker.phase("outer"):
        maker.fill(y, 0, 4, 1.5)
        with maker.phase("inner"):
            maker.launch(maker.accumulate(y, 0, 4), maker.read(x, 4, 8), naturals=[("n", 4)])
    maker.join()
    maker.copy(maker.write(y, 0, 2), maker.read(x, 0, 2))
    return maker.graph()


def test_graph_text() -> None:
    graph = _graph()
    assert graph_text(graph, find_hazards(graph)) == (
        "graph main, half = f32\n"
        "plane 0 x : f32 [8] input, 32 bytes\n"
        "plane 1 y 0 : f32 [4] output, 16 bytes\n"
        'phase 0 outer "Outer"\n'
        'phase 1 inner "Inner" in phase 0\n'
        "node 0 fill y 0[0:4] with 1.5, phase 0, hand.cg:1:1\n"
        "node 1 launch handImage (grid 1×1×1, block 32×1×1) s0=accumulate y 0[0:4], s1=read x[4:8], n=4, phase 1, "
        "hand.cg:2:1\n"
        "node 2 join, hand.cg:3:1\n"
        "node 3 copy x[0:2] to y 0[0:2], hand.cg:4:1\n"
        "hazard 0 -> 1 read-after-write y 0[0:4]\n"
        "hazard 1 -> 3 write-after-write y 0[0:2]\n"
    )


def test_origin_notes_name_calls_and_loops_inside_out() -> None:
    maker = GraphMaker()
    origin = Origin(maker.span(0), "main")
    for line, step in enumerate(["l = 3", "cgLayerBackward", "i = 1", "launch"], start=1):
        origin = Origin(maker.span(line), step, origin)
    assert origin_notes(origin) == ("where i = 1", "in cgLayerBackward, called at folder/hand.cg:3:1; l = 3")


def test_long_ways_are_cut_in_the_middle() -> None:
    maker = GraphMaker()
    origin = Origin(maker.span(0), "main")
    for depth in range(100_000):
        origin = Origin(maker.span(depth), f"f{depth}", origin)
    notes = origin_notes(Origin(maker.span(0), "fill", origin))
    assert [note.split(",")[0] for note in notes] == [
        "in f99999",
        "in f99998",
        "in f99997",
        "… 99995 more calls …",
        "in f1",
        "in f0",
    ]

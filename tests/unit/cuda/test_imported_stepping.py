"""Nodes of imported graphs one by one: their order, the memory they name, and each as a graph of its own."""

import attrs
import pytest

from cgraph.backends.cuda.imported.model import ChildGraphNode, Edge, EmptyNode, Level, MemsetNode, Place
from cgraph.backends.cuda.imported.stepping import alone, named_allocations, topological_order
from tools.fuzz.imported_sample import every_kind


@pytest.mark.parametrize(
    ("count", "edges", "expected"),
    [
        (0, (), []),
        (3, (), [0, 1, 2]),
        (3, ((2, 0), (2, 1)), [2, 0, 1]),
        (4, ((3, 1), (1, 0), (3, 2)), [3, 1, 0, 2]),
        (2, ((1, 0), (1, 0)), [1, 0]),  # two edges between the same nodes
    ],
)
def test_orders(count: int, edges: tuple[tuple[int, int], ...], expected: list[int]) -> None:
    level = Level((EmptyNode(),) * count, tuple(Edge(*pair) for pair in edges))
    assert topological_order(level) == expected


def test_memory_that_nodes_name() -> None:
    # A fill of 0, a kernel with an address in 0, a copy to 1, two events, a child graph that fills 2.
    graph = every_kind()
    assert [named_allocations(graph, index) for index in range(6)] == [(0,), (0,), (1,), (), (), (2,)]


def test_a_node_alone() -> None:
    graph = every_kind()
    (level,) = alone(graph, 1).levels
    assert level == Level((graph.levels[0].nodes[1],), ())
    own, child = alone(graph, 5).levels
    assert own == Level((ChildGraphNode(1),), ())
    assert child == graph.levels[1]


def test_child_graphs_in_child_graphs_get_new_numbers() -> None:
    """Of children 1 and 2, and 3 inside 2, the second is taken with what is in it."""
    fill = MemsetNode(Place(2, 0), 8, 255, 1, 8, 1)
    graph = attrs.evolve(
        every_kind(),
        levels=(
            Level((ChildGraphNode(1), ChildGraphNode(2)), (Edge(0, 1),)),
            Level((EmptyNode(),), ()),
            Level((EmptyNode(), ChildGraphNode(3)), (Edge(0, 1),)),
            Level((fill,), ()),
        ),
    )
    assert [level.nodes for level in alone(graph, 1).levels] == [
        (ChildGraphNode(1),),
        (EmptyNode(), ChildGraphNode(2)),
        (fill,),
    ]
    assert alone(graph, 1).levels[1].edges == (Edge(0, 1),)
    assert named_allocations(graph, 1) == (2,)
    assert named_allocations(graph, 0) == ()

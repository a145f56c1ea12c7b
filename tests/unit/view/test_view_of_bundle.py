"""Views of bundles: of a program as its program's, of an imported graph as its levels say."""

import attrs
import pytest

from cgraph.backends.cuda.imported.model import (
    Allocation,
    ChildGraphNode,
    CopySide,
    Edge,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ImportedGraph,
    ImportedKernel,
    ImportedPlane,
    KernelNode,
    Level,
    MemcpyNode,
    MemoryKind,
    MemsetNode,
    ParameterPlace,
    Place,
    Relocation,
)
from cgraph.view.bundles import view_of_bundle
from cgraph.view.data import read_view, view_json
from cgraph.view.formats import FORMATS
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View, ViewAccess, ViewArgument, ViewSlot
from cgraph.view.references import first_wrong_reference
from tests.support.bundles import bundle_of, layer_backward


def imported() -> ImportedGraph:
    """A memset, then a child graph (a copy, then an event), then a kernel; the child stands first in its level."""
    pointer, structure = ParameterPlace(0, 8), ParameterPlace(8, 16)
    kernel = ImportedKernel("_Z3addPf4Pair", (pointer, structure, ParameterPlace(24, 4)), (), ())
    arguments = bytes(16) + (7).to_bytes(8, "little") + (-2).to_bytes(4, "little", signed=True)
    relocations = (Relocation(0, Place(1, 4)), Relocation(8, Place(0, 0)))
    launch = KernelNode(0, (2, 1, 1), (32, 1, 1), 64, arguments, relocations)
    memset = MemsetNode(Place(0, 8), 32, 255, 4, 3, 2)
    copy = MemcpyNode(CopySide(Place(1, 0), 16, 0), CopySide(Place(0, 16), 32, 0), 16, 2, 1)
    return ImportedGraph(
        (9, 0),
        (Allocation(128, MemoryKind.DEVICE), Allocation(64, MemoryKind.DEVICE)),
        (ImportedPlane("a", 0, 0, 128), ImportedPlane("b", 1, 0, 64), ImportedPlane("part", 0, 8, 8)),
        (),
        (kernel,),
        (
            Level((ChildGraphNode(1), memset, launch, EmptyNode()), (Edge(1, 0), Edge(0, 2))),
            Level((copy, EventRecordNode(0), EventWaitNode(0)), (Edge(0, 1),)),
        ),
        1,
        remarks=("parameter 2 looks like an address",),
    )


@pytest.fixture
def view() -> View:
    return view_of_bundle(imported(), "step.cgb")


def test_an_imported_graph_is_a_legal_view(view: View) -> None:
    assert first_wrong_reference(view) is None
    assert read_view(view_json(view), "x") == view
    for name in FORMATS.keys() - {"trace"}:
        assert FORMATS[name].write(view)


def test_levels_are_boxes_behind_the_node_that_runs_them(view: View) -> None:
    assert [(phase.title, phase.kind, phase.parent) for phase in view.phases] == [("child graph 1", "child", None)]
    assert [node.kind for node in view.nodes] == [
        "child",
        "memset",
        "launch",
        "empty",
        "memcpy",
        "event_record",
        "event_wait",
    ]
    assert [node.phase for node in view.nodes] == [None, None, None, None, 0, 0, 0]
    assert view.nodes[0].body == (0,)
    assert {(edge.before, edge.after, edge.reason) for edge in view.edges} == {
        (1, 0, "given"),
        (0, 2, "given"),
        (4, 5, "given"),
    }
    order = view.sequence
    assert order.index(1) < order.index(0) < order.index(4) < order.index(2)


def test_bytes_of_memsets_and_copies(view: View) -> None:
    # rows of 12 bytes at 8 and 40; rows of 16 bytes at 16 and 48 go to 0 and 16
    assert view.nodes[1].accesses == (ViewAccess(0, 8, 52, "write"),)
    assert view.nodes[1].written_bytes == 24
    assert view.nodes[4].accesses == (ViewAccess(1, 0, 32, "write"), ViewAccess(0, 16, 64, "read"))
    assert (view.nodes[4].read_bytes, view.nodes[4].written_bytes) == (32, 32)


def test_arguments_are_places_or_bytes(view: View) -> None:
    assert view.nodes[2].arguments == (
        ViewArgument("parameter 0", 1, 4),
        ViewArgument("parameter 1", value="0x0000000000000000" + "0700000000000000"),
        ViewArgument("parameter 1 + 0", 0, 0),
        ViewArgument("parameter 2", value="-2 (0xfeffffff)"),
    )
    assert view.kernels[0].slots == tuple(ViewSlot(f"parameter {number}", "bytes") for number in range(3))


def test_memory_and_remarks(view: View) -> None:
    assert [(plane.name, plane.size_bytes, plane.role) for plane in view.planes] == [
        ("a", 128, "memory"),
        ("b", 64, "memory"),
    ]
    assert [note.text for note in view.notes] == ["parameter 2 looks like an address"]
    assert (view.order, view.memory, view.nodes[2].operations, view.nodes[2].cost_us) == (None, None, None, None)


def test_a_program_s_bundle_looks_as_its_program() -> None:
    compiled = layer_backward()
    bundle = bundle_of(compiled, code=False)
    expected = view_of_graph(compiled.graph, compiled.schedule, compiled.plan, title="step.cgb", kind="bundle")
    assert view_of_bundle(bundle, "step.cgb") == expected
    assert attrs.evolve(expected, kind="program") != expected

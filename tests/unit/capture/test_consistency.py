"""Bundles whose parts do not belong together never reach a backend."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from cgraph.backends import devices
from cgraph.capture import replay as replaying
from cgraph.capture.consistency import check_bundle
from cgraph.capture.model import Bundle
from cgraph.capture.replay import Replay
from cgraph.core.roles import AccessMode
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Access, CommandGraph, Node, PlaneArgument
from cgraph.memory.model import MemoryPlan
from cgraph.pipeline import compile_program
from cgraph.source import Source
from tests.support.bundles import THRICE, bundle_of


@pytest.fixture
def bundle() -> Bundle:
    return bundle_of(compile_program(Source("sums.cg", THRICE)), code=False)


def with_node(bundle: Bundle, position: int, /, **changes: Any) -> Bundle:
    nodes: list[Node] = list(bundle.graph.nodes)
    nodes[position] = attrs.evolve(nodes[position], **changes)
    return attrs.evolve(bundle, graph=attrs.evolve(bundle.graph, nodes=tuple(nodes)))


def argument(bundle: Bundle, slot: int, value: Any) -> Bundle:
    """The first launch with another argument, and its accesses as before."""
    arguments = list(bundle.graph.nodes[0].arguments)  # type: ignore[union-attr]  # it is a launch
    arguments[slot] = value
    return with_node(bundle, 0, arguments=tuple(arguments))


def access(bundle: Bundle, node: int, number: int, **changes: Any) -> Bundle:
    accesses = list(bundle.graph.nodes[node].accesses)
    accesses[number] = attrs.evolve(accesses[number], **changes)
    return with_node(bundle, node, accesses=tuple(accesses))


def moved_argument(bundle: Bundle) -> Bundle:
    """Argument and access agree with each other, and both lie behind the plane."""
    plane = bundle.graph.nodes[0].accesses[0].plane
    there = access(bundle, 0, 0, start=160, stop=320)
    return argument(there, 0, PlaneArgument(plane, 160))


def sequence(bundle: Bundle, *order: int) -> Bundle:
    return attrs.evolve(bundle, schedule=attrs.evolve(bundle.schedule, sequence=order))


def offsets(bundle: Bundle, place: int) -> Bundle:
    changed = tuple(None if offset is None else place for offset in bundle.plan.offsets)
    return attrs.evolve(bundle, plan=attrs.evolve(bundle.plan, offsets=changed))


FIRST = Access(0, 0, 4, AccessMode.READ)
CASES: list[tuple[str, Callable[[Bundle], Bundle], str]] = [
    ("behind", moved_argument, "slot out is bytes 160 to 320 of plane h, which has 160"),
    ("before", lambda b: argument(b, 0, PlaneArgument(1, -160)), "slot out is bytes -160 to 0"),
    ("another plane", lambda b: argument(b, 0, PlaneArgument(2, 0)), "does not follow from slot out"),
    ("no such plane", lambda b: argument(b, 0, PlaneArgument(4, 0)), "slot out names no plane of the graph"),
    ("an address", lambda b: argument(b, 0, 0x7F00_0000_0000), "slot out names no plane of the graph"),
    ("no pointer", lambda b: argument(b, 0, None), "slot out names no plane of the graph"),
    ("no natural", lambda b: argument(b, 3, 40.5), "is no natural"),
    ("too few arguments", lambda b: with_node(b, 0, arguments=()), "it has 0 arguments for"),
    ("access too long", lambda b: access(b, 2, 0, stop=1 << 40), "of plane z, which has 160"),
    ("access backwards", lambda b: access(b, 2, 0, start=8, stop=4), "it touches bytes 8 to 4"),
    ("access of no plane", lambda b: access(b, 2, 0, plane=-1), "there is no plane -1"),
    ("mode", lambda b: access(b, 0, 0, mode=AccessMode.READ), "does not follow from slot"),
    ("copy of two sizes", lambda b: access(b, 2, 0, stop=80), "a copy writes as many bytes as it reads"),
    ("more accesses", lambda b: with_node(b, 0, accesses=(*b.graph.nodes[0].accesses, FIRST)), "touches more than"),
    ("index", lambda b: with_node(b, 1, index=5), "it stands at 1"),
    ("phase", lambda b: with_node(b, 1, phase=99), "there is no phase 99"),
    ("sequence", lambda b: sequence(b, 2, 1, 0), "runs before one that it waits for"),
    ("twice", lambda b: sequence(b, 0, 0, 1), "the schedule does not have each command once"),
    ("fewer", lambda b: sequence(b, 0, 1), "the schedule does not have each command once"),
    ("arena", lambda b: offsets(b, 1 << 20), "plane h does not lie in the arena"),
    ("before the arena", lambda b: offsets(b, -256), "plane h does not lie in the arena"),
    ("places", lambda b: attrs.evolve(b, plan=MemoryPlan((0,), 0, 0, 0, 0)), "the memory plan has 1 places for 4"),
    ("scratch", lambda b: attrs.evolve(b, plan=attrs.evolve(b.plan, offsets=(0, 0, 0, 0))), "is no scratch plane"),
    ("modules", lambda b: attrs.evolve(b, module_of=(None, None)), "2 images have a module, the graph has 1"),
    ("module", lambda b: attrs.evolve(b, module_of=(3,)), "an image's module is none of the bundle's"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("device", ["host", "emulated"])
def test_parts_that_do_not_belong_together(
    bundle: Bundle, change: Callable[[Bundle], Bundle], text: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (devices, replaying):
        monkeypatch.setattr(module, "prepare", lambda *_: pytest.fail("it reached a backend"))
    with pytest.raises(ProblemsFound) as stopped:
        Replay(change(bundle), device)
    assert {problem.code for problem in stopped.value.problems} == {"CG833"}
    titles = [problem.render_title() for problem in stopped.value.problems]
    assert any(text in title for title in titles), titles


def test_rules_of_graphs_hold_for_bundles(bundle: Bundle) -> None:
    """Here the first command writes nothing, so the second reads what nothing wrote."""
    graph = bundle.graph
    nodes = (attrs.evolve(graph.nodes[1], index=0), attrs.evolve(graph.nodes[2], index=1))
    schedule = attrs.evolve(bundle.schedule, sequence=(0, 1), predecessors=((), (0,)))
    changed = attrs.evolve(bundle, graph=attrs.evolve(graph, nodes=nodes), schedule=schedule)
    with pytest.raises(ProblemsFound) as stopped:
        check_bundle(changed)
    assert all(problem.code.startswith("CG5") for problem in stopped.value.problems)


def test_a_bundle_as_it_is_has_no_faults(bundle: Bundle) -> None:
    check_bundle(bundle)
    assert isinstance(bundle.graph, CommandGraph)

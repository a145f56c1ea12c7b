import sys
from typing import Any

import attrs
import ml_dtypes
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.host import HostExecutable, prepare_host
from cgraph.backends.protocol import Executable
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph, LaunchNode
from cgraph.images import registry
from cgraph.images.context import HostContext
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.graphs import GraphMaker


def prepare(graph: CommandGraph, order: Order = Order.SERIAL) -> HostExecutable:
    schedule = make_schedule(graph, find_hazards(graph), order)
    return prepare_host(graph, schedule, plan_memory(graph, schedule))


def renamed(
    graph: CommandGraph, node: int, file: str, entry: str, names: list[str], extents: list[tuple[int, ...]]
) -> CommandGraph:
    """The graph with one hand-made launch turned into a launch of an image with these slot names and extents."""
    launch = graph.nodes[node]
    assert isinstance(launch, LaunchNode)
    signature = launch.image.signature
    slots = tuple(attrs.evolve(slot, name=name) for slot, name in zip(signature.slots, names, strict=True))
    image = attrs.evolve(launch.image, signature=attrs.evolve(signature, file=file, entry=entry, slots=slots))
    nodes = list(graph.nodes)
    nodes[node] = attrs.evolve(launch, image=image, extents=tuple(extents))
    return attrs.evolve(graph, nodes=tuple(nodes))


def problem(error: pytest.ExceptionInfo[ProblemsFound]) -> str:
    (found,) = error.value.problems
    return f"{found.code}: {found.render_title()}"


@pytest.fixture
def doubling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand-made image of GraphMaker: s0 = 2·s1, where s1 is there, else 7."""

    def double(context: HostContext, *, s0: NDArray[Any], s1: NDArray[Any] | None = None, **sizes: int | None) -> None:
        assert isinstance(context, HostContext)
        assert all(isinstance(size, int) for size in sizes.values())
        s0[...] = 7.0 if s1 is None else 2.0 * s1

    monkeypatch.setitem(vars(registry)["_MEANINGS"], ("hand.cu", "hand"), double)


def chain() -> CommandGraph:
    """z = 8·x through scratch planes that can share bytes, with a fill, a copy of a part and a join."""
    maker = GraphMaker()
    x = maker.plane("x", 100, Role.INPUT)
    first, second, third = (maker.plane(f"scratch {n}", 100) for n in range(3))
    z = maker.plane("z", 100, Role.OUTPUT)
    maker.launch(maker.write(first), maker.read(x))
    maker.launch(maker.write(second), maker.read(first))
    maker.launch(maker.write(third), maker.read(second), naturals=[("n", 100)])
    maker.join()
    maker.fill(z, 0, 40, value=-1.5)
    maker.copy(maker.write(z, 40, 100), maker.read(third, 20, 80))
    return maker.graph()


@pytest.mark.usefixtures("doubling")
@pytest.mark.parametrize("order", Order)
def test_launches_fills_and_copies(order: Order) -> None:
    executable = prepare(chain(), order)
    x = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    executable.set("x", x)
    executable.run()
    z = executable.get("z")
    assert np.all(z[:40] == -1.5)
    assert np.array_equal(z[40:], 8.0 * x[20:80])
    assert np.array_equal(executable.get("x"), x)


@pytest.mark.usefixtures("doubling")
def test_a_second_run_starts_from_the_planes_as_they_are() -> None:
    executable = prepare(chain())
    executable.run()
    assert np.all(executable.get("z")[40:] == 0.0)
    executable.set("x", np.ones(100, np.float32))
    executable.run()
    executable.run()
    assert np.all(executable.get("z")[40:] == 8.0)


@pytest.mark.usefixtures("doubling")
def test_the_callback_gets_every_node_in_order() -> None:
    executable: Executable = prepare(chain())
    seen: list[tuple[int, float]] = []
    executable.run(lambda index, elapsed_ms: seen.append((index, elapsed_ms)))
    assert [index for index, _ in seen] == [0, 1, 2, 3, 4, 5]
    assert all(elapsed_ms >= 0.0 for _, elapsed_ms in seen)


@pytest.mark.usefixtures("doubling")
def test_what_is_handed_in_and_out_is_a_copy() -> None:
    executable = prepare(chain())
    x = np.ones(100, np.float32)
    executable.set("x", x)
    x[...] = 5.0
    executable.get("x")[...] = 6.0
    assert np.all(executable.get("x") == 1.0)


@pytest.mark.usefixtures("doubling")
def test_scratch_planes_lie_in_one_arena_and_all_planes_are_aligned() -> None:
    graph = chain()
    schedule = make_schedule(graph, find_hazards(graph), Order.SERIAL)
    plan = plan_memory(graph, schedule)
    executable = prepare_host(graph, schedule, plan)
    addresses = [executable.planes.whole(plane.name).ctypes.data for plane in graph.planes]
    assert all(address % 64 == 0 for address in addresses)
    offsets = [offset for offset in plan.offsets if offset is not None]
    assert len(offsets) == 3
    assert [addresses[index] - addresses[1] for index in (1, 2, 3)] == [offset - offsets[0] for offset in offsets]
    assert plan.size_bytes < 3 * 512


@pytest.mark.usefixtures("doubling")
def test_a_slot_that_was_left_out_is_none() -> None:
    maker = GraphMaker()
    z = maker.plane("z", 4, Role.OUTPUT)
    maker.launch(maker.write(z), naturals=[("s1", 0)])
    graph = maker.graph()
    launch = graph.nodes[0]
    assert isinstance(launch, LaunchNode)
    graph = attrs.evolve(graph, nodes=(attrs.evolve(launch, arguments=(launch.arguments[0], None)),))
    executable = prepare(graph)
    executable.run()
    assert np.all(executable.get("z") == 7.0)


@pytest.mark.usefixtures("doubling")
def test_overflow_gives_infinity_and_no_warning() -> None:
    executable = prepare(chain())
    executable.set("x", np.full(100, 3e38, np.float32))
    executable.run()
    assert np.all(executable.get("z")[40:] == np.inf)


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        (Element.F16, np.float16),
        (Element.BF16, ml_dtypes.bfloat16),
        (Element.F32, np.float32),
        (Element.F64, np.float64),
        (Element.I32, np.int32),
    ],
)
def test_element_types(element: Element, dtype: type) -> None:
    maker = GraphMaker()
    x, z = maker.plane("x", 6, Role.INPUT, element), maker.plane("z", 6, Role.OUTPUT, element)
    maker.fill(z, 0, 2, value=3.0)
    maker.copy(maker.write(z, 2, 6), maker.read(x, 0, 4))
    executable = prepare(maker.graph())
    executable.set("x", np.arange(6).astype(dtype))
    executable.run()
    result = executable.get("z")
    assert result.dtype == dtype
    assert np.array_equal(result.astype(np.float64), [3, 3, 0, 1, 2, 3])


def test_a_library_image_gets_planes_of_its_extents_from_an_offset() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 3 + 6, Role.INPUT), maker.plane("b", 8, Role.WEIGHT)
    out = maker.plane("out", 12, Role.OUTPUT)
    sizes = [("m", 3), ("n", 4), ("k", 2)]
    maker.launch(maker.write(out), maker.read(a, 3), maker.read(b), naturals=sizes)
    names = ["out", "a", "b", "m", "n", "k"]
    extents = [(3, 4), (3, 2), (4, 2), (), (), ()]
    executable = prepare(renamed(maker.graph(), 0, "product.cu", "cgProductForward", names, extents))
    left, right = np.arange(9, dtype=np.float32), np.arange(8, dtype=np.float32)
    executable.set("a", left)
    executable.set("b", right)
    executable.run()
    # Row i of a is (3 + 2i, 4 + 2i), row j of b (2j, 2j + 1): the product is 14j + 4 + 2i·(4j + 1) by hand.
    expected = [[14 * j + 4 + 2 * i * (4 * j + 1) for j in range(4)] for i in range(3)]
    assert np.array_equal(executable.get("out"), np.ravel(expected))


def test_images_that_nothing_can_run_are_named_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if cuda-python were not installed: the kernels cannot be compiled.
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.delitem(sys.modules, "cgraph.backends.cuda.on_host", raising=False)
    monkeypatch.delitem(sys.modules, "cgraph.backends.cuda.compiler", raising=False)
    monkeypatch.delitem(sys.modules, "cgraph.backends.cuda.nvrtc", raising=False)
    maker = GraphMaker()
    x = maker.plane("x", 4, Role.OUTPUT)
    with maker.call("cgLayer", 7):
        maker.launch(maker.write(x))
        maker.launch(maker.write(x))
    maker.launch(maker.write(x))
    graph = renamed(maker.graph(), 2, "other.cu", "cgOther", ["out"], [(4,)])
    with pytest.raises(ProblemsFound) as error:
        prepare(graph)
    first, second = error.value.problems
    assert (first.code, second.code) == ("CG701", "CG701")
    assert first.render_title() == "the host does not know what handImage means"
    assert first.span == graph.nodes[0].origin.span
    way, reason = first.notes()
    assert way == "in cgLayer, called at folder/hand.cg:8:1"
    assert reason.startswith("the kernel itself cannot be compiled: there is no module cuda.bindings")
    assert "install cgraph-lang[cuda]" in first.helps()[0]
    assert 'meaning("other.cu", "cgOther")' in second.helps()[1]


@pytest.mark.usefixtures("doubling")
def test_unknown_planes() -> None:
    executable = prepare(chain())
    with pytest.raises(ProblemsFound) as error:
        executable.get("scratch 9")
    assert problem(error) == "CG702: the graph has no plane scratch 9"
    assert "scratch 0" in error.value.problems[0].helps()[0]
    with pytest.raises(ProblemsFound) as error:
        executable.set("nothingLikeIt", np.zeros(1))
    assert problem(error) == "CG702: the graph has no plane nothingLikeIt"
    assert list(error.value.problems[0].helps()) == ["it has x, scratch 0, scratch 1, scratch 2, z"]


@pytest.mark.usefixtures("doubling")
@pytest.mark.parametrize(
    ("array", "given"),
    [
        (np.zeros(99, np.float32), "float32 [99]"),
        (np.zeros((100, 1), np.float32), "float32 [100, 1]"),
        (np.zeros(100, np.float64), "float64 [100]"),
        (1.0, "float64 []"),
    ],
)
def test_arrays_that_do_not_fit(array: ArrayLike, given: str) -> None:
    executable = prepare(chain())
    with pytest.raises(ProblemsFound) as error:
        executable.set("x", array)
    assert problem(error) == f"CG703: plane x takes float32 [100], not {given}"
    assert error.value.problems[0].span == executable.graph.planes[0].span

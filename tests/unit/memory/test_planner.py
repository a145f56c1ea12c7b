"""Memory plans on graphs small enough to know the best arena."""

from itertools import pairwise

import pytest

from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.memory.bitsets import packed, transposed, unpacked
from cgraph.memory.model import ALIGNMENT_BYTES, MemoryPlan, aligned
from cgraph.memory.placement import place_blocks
from cgraph.memory.planner import plan_memory
from cgraph.memory.text import memory_text
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.graphs import GraphMaker

KIB = 1024


def _plan(graph: CommandGraph, order: Order) -> MemoryPlan:
    return plan_memory(graph, make_schedule(graph, find_hazards(graph), order))


def _chain(maker: GraphMaker, count: int) -> list[int]:
    """Scratch planes of 1 KiB, each copied to the next."""
    planes = [maker.plane(f"t {number}", KIB // 4) for number in range(count)]
    maker.fill(planes[0])
    for before, after in pairwise(planes):
        maker.copy(maker.write(after), maker.read(before))
    return planes


@pytest.mark.parametrize("order", list(Order))
def test_a_chain_needs_two_planes(order: Order) -> None:
    maker = GraphMaker()
    planes = _chain(maker, 10)
    plan = _plan(maker.graph(), order)
    assert (plan.size_bytes, plan.lower_bound_bytes, plan.unshared_bytes) == (2 * KIB, 2 * KIB, 10 * KIB)
    offsets = [plan.offsets[plane] for plane in planes]
    assert set(offsets) == {0, KIB}
    assert all(one != other for one, other in pairwise(offsets))


def test_two_chains_share_only_where_the_order_keeps_them_apart() -> None:
    maker = GraphMaker()
    _chain(maker, 3)
    _chain(maker, 3)
    serial, dataflow = (_plan(maker.graph(), order) for order in (Order.SERIAL, Order.DATAFLOW))
    assert (serial.size_bytes, serial.lower_bound_bytes) == (2 * KIB, 2 * KIB)
    assert (dataflow.size_bytes, dataflow.lower_bound_bytes) == (4 * KIB, 4 * KIB)


def test_a_barrier_between_phases_lets_planes_share() -> None:
    maker = GraphMaker()
    for name in ("first", "second"):
        with maker.phase(name):
            for number in range(3):
                maker.fill(maker.plane(f"{name} {number}", KIB // 4))
    assert _plan(maker.graph(), Order.PHASE).size_bytes == 3 * KIB
    assert _plan(maker.graph(), Order.DATAFLOW).size_bytes == 6 * KIB


def test_only_scratch_planes_lie_in_the_arena() -> None:
    maker = GraphMaker()
    x, t = maker.plane("x", 100, Role.INPUT), maker.plane("t", 3)
    y, unused, empty = maker.plane("y", 10, Role.OUTPUT), maker.plane("unused", 8), maker.plane("empty", 0)
    maker.launch(maker.write(t), maker.read(x), maker.write(empty))
    maker.launch(maker.write(y), maker.read(t))
    plan = _plan(maker.graph(), Order.SERIAL)
    assert [plan.offsets[plane] for plane in (x, t, y, unused, empty)] == [None, 0, None, None, 0]
    assert (plan.size_bytes, plan.persistent_bytes) == (ALIGNMENT_BYTES, 440)


@pytest.mark.parametrize("order", list(Order))
def test_a_graph_without_scratch_needs_no_arena(order: Order) -> None:
    plan = _plan(GraphMaker().graph(), order)
    assert (plan.offsets, plan.size_bytes, plan.lower_bound_bytes) == ((), 0, 0)


def test_several_last_readers_all_come_first() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 64), maker.plane("b", 64)
    left, right = maker.plane("left", 64, Role.SAVED), maker.plane("right", 64, Role.SAVED)
    maker.fill(a)
    maker.copy(maker.write(left), maker.read(a))
    maker.copy(maker.write(right), maker.read(a))
    maker.launch(maker.write(b), maker.read(left))  # after one reader of a, not after the other
    assert _plan(maker.graph(), Order.DATAFLOW).size_bytes == 512
    maker.launch(maker.read(b))
    assert _plan(maker.graph(), Order.SERIAL).size_bytes == 256


def test_the_smallest_gap_that_holds_a_block_is_taken() -> None:
    sizes = [100, 50, 100, 20, 100, 20]
    everyone = 0b111111
    # Blocks 1 and 3 leave gaps of 50 and 20 between the others; block 5 conflicts with all but those two.
    conflicts = [everyone ^ 1 << block for block in range(6)]
    conflicts[5] ^= 0b001010
    conflicts[1] ^= 1 << 5
    conflicts[3] ^= 1 << 5
    offsets, size = place_blocks(sizes, conflicts, [0, 1, 2, 3, 4, 5])
    assert offsets == [0, 100, 150, 250, 270, 250]
    assert size == 370


def test_alignment() -> None:
    assert [aligned(size) for size in (0, 1, 256, 257)] == [0, 256, 256, 512]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 1030])
def test_bit_rows(count: int) -> None:
    rows = [(row * 0x9E3779B97F4A7C15F39CC0605CEDC834 >> row % 7) % (1 << count) for row in range(1, count + 1)]
    turned = transposed(rows)
    sample = range(0, count, max(1, count // 50))
    assert all(turned[column] >> row & 1 == rows[row] >> column & 1 for row in sample for column in sample)
    assert transposed(turned) == rows
    assert packed(unpacked(rows[-1], count)) == rows[-1]


def test_memory_text() -> None:
    maker = GraphMaker()
    _chain(maker, 3)
    maker.plane("x", 2, Role.INPUT)
    graph = maker.graph()
    assert memory_text(graph, _plan(graph, Order.SERIAL)) == (
        "arena 2048 bytes, lower bound 2048, without sharing 3072, outside 8\n"
        "plane 0 t 0 at [0:1024]\n"
        "plane 2 t 2 at [0:1024]\n"
        "plane 1 t 1 at [1024:2048]\n"
    )

"""Memory that commands allocate, use and free."""

from cgraph.view.model import ViewAccess
from tests.support.dumps import driver_dump, examine


def alloc(number: int, address: int, size_bytes: int) -> str:
    return (
        f"{{\nMEM_ALLOC\n| {{{{ID | node handle}} | {{{number} (topoId: 0) | 0x1}}}}\n"
        f"| {{{{bytesize | dptr}} | {{{size_bytes} | 0x{address:016X}}}}}\n}}"
    )


def free(number: int, address: int) -> str:
    return f"{{\nMEM_FREE\n| {{{{ID | node handle}} | {{{number} | 0x1}}}}\n| {{{{dptr}} | {{0x{address:016X}}}}}\n}}"


def memset(number: int, address: int, width: int) -> str:
    names = "ID | node handle | dptr | pitch | value | elementSize | width | height"
    return f"{{MEMSET\n| {{{{{names}}} | {{{number} | 0x1 | 0x{address:016X} | 0 | 0 | 1 | {width} | 1}}}}}}"


def test_memory_that_is_freed_and_memory_that_is_not() -> None:
    labels = [alloc(0, 0x1000, 64), alloc(1, 0x2000, 32), free(2, 0x1000), "0 -> 2"]
    view = examine(driver_dump([(1, labels)])).view
    assert [plane.size_bytes for plane in view.planes] == [64, 32]
    assert [plane.offset for plane in view.planes] == [0, 0x1000]
    assert [node.flags for node in view.nodes] == [(), ("never freed",), ()]
    assert [(life.first, life.last) for life in view.lifetimes] == [(0, 2), (1, 2)]


def test_an_address_that_is_allocated_again() -> None:
    labels = [alloc(0, 0x1000, 64), free(1, 0x1000), alloc(2, 0x1000, 16), free(3, 0x1000)]
    view = examine(driver_dump([(1, [*labels, "0 -> 1", "1 -> 2", "2 -> 3"])])).view
    assert [plane.size_bytes for plane in view.planes] == [64, 16]
    assert [(life.first, life.last) for life in view.lifetimes] == [(0, 1), (2, 3)]
    assert not any(node.flags for node in view.nodes)


def test_the_order_of_edges_counts_not_that_of_the_file() -> None:
    labels = [free(0, 0x1000), alloc(1, 0x1000, 64), "1 -> 0"]
    view = examine(driver_dump([(1, labels)])).view
    assert view.sequence == (1, 0)
    assert [node.flags for node in view.nodes] == [(), ()]
    assert [(life.first, life.last) for life in view.lifetimes] == [(0, 1)]


def test_frees_and_allocations_that_do_not_match() -> None:
    labels = [free(0, 0x5000), alloc(1, 0x1000, 8), alloc(2, 0x1000, 8)]
    view = examine(driver_dump([(1, [*labels, "0 -> 1", "1 -> 2"])])).view
    assert [node.flags for node in view.nodes] == [
        ("frees what this graph did not allocate",),
        (),
        ("allocates what is in use", "never freed"),
    ]
    assert [(life.first, life.last) for life in view.lifetimes] == [(1, 2), (2, 2)]


def test_bytes_that_memsets_touch() -> None:
    labels = [alloc(0, 0x1000, 64), memset(1, 0x1010, 16), memset(2, 0x1030, 100), memset(3, 0x1040, 1)]
    chain = [f"{number} -> {number + 1}" for number in range(4)]
    view = examine(driver_dump([(1, [*labels, free(4, 0x1000), *chain])])).view
    assert [node.accesses for node in view.nodes] == [
        (),
        (ViewAccess(0, 16, 32, "write"),),
        (ViewAccess(0, 48, 64, "write"),),
        (),
        (),
    ]
    assert view.nodes[2].flags == ("writes past the end of what was allocated",)
    assert [node.written_bytes for node in view.nodes] == [None, 16, 100, 1, None]


def test_memory_of_others_has_no_plane() -> None:
    view = examine(driver_dump([(1, [memset(0, 0x7000, 16)])])).view
    assert (view.planes, view.nodes[0].accesses, view.nodes[0].arguments) == ((), (), ())
    assert dict(view.nodes[0].details)["dptr"] == "0x0000000000007000"


def test_in_a_file_that_is_cut_off_nothing_is_said_to_lack_its_counterpart() -> None:
    text = driver_dump([(1, [free(0, 0x5000), alloc(1, 0x1000, 8)])])
    view = examine(text[: text.rindex("}")]).view
    assert [node.flags for node in view.nodes] == [(), ()]
    assert [(life.first, life.last) for life in view.lifetimes] == [(1, 1)]
    assert [node.flags != () for node in examine(text).view.nodes] == [True, True]

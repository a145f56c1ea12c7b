"""Every form of label that tools are known to write, in both modes. The right values stand in the examples' text."""

import pytest

from cgraph.view.model import View, ViewAccess, ViewNode
from tests.support.dumps import codes, driver_dump, examine, example

CHOICES = "{\nCONDITIONAL\n| {ID | 0 (topoId: 0)}\n| {node handle| 0x1}\n| {Conditional Handle|1}\n"


def nodes_of(name: str) -> tuple[ViewNode, ...]:
    reading = example(name)
    assert reading.problems == ()
    return reading.view.nodes


def detail(node: ViewNode, name: str) -> str:
    return dict(node.details)[name]


def test_kinds_of_a_verbose_dump() -> None:
    kinds = [node.kind for node in nodes_of("cuda_verbose")]
    assert kinds == [
        *("launch", "memcpy", "memset", "alloc", "free", "event_record", "event_wait", "conditional", "child"),
        *("host", "empty", "launch"),
    ]


def test_kinds_of_a_plain_dump() -> None:
    kinds = [node.kind for node in nodes_of("cuda_plain")]
    assert kinds == [
        *("launch", "memcpy", "memset", "event_record", "event_wait", "host", "empty", "child", "alloc", "free"),
        "launch",
    ]


def test_a_verbose_launch() -> None:
    view = example("cuda_verbose").view
    node = view.nodes[0]
    assert (node.grid, node.block, node.shared_bytes) == ((16, 10, 2), (2, 64, 1), 784)
    assert node.kernel is not None
    kernel = view.kernels[node.kernel]
    assert (kernel.name, kernel.symbol, kernel.doc) == ("scale", "_Z5scalePffm", "scale(float*, float, unsigned long)")
    assert node.flags == ("cooperative",)
    assert detail(node, "node handle") == "0x0000000000A00000"
    assert detail(node, "func handle") == "0x0000000000B00000"
    assert detail(node, "priority") == "-2"
    assert detail(node, "accessPolicyWindow hitProp") == "P"
    assert (detail(node, "ID"), detail(node, "topoId")) == ("0", "9")


def test_sizes_of_one_dimension_and_a_window_of_no_bytes() -> None:
    node = nodes_of("cuda_verbose")[11]
    assert (node.grid, node.block, node.shared_bytes) == ((65535, 1, 1), (256, 1, 1), 0)
    assert not any(name.startswith("accessPolicyWindow") for name, _ in node.details)
    assert node.flags == ()


def test_a_verbose_copy_with_pitches() -> None:
    node = nodes_of("cuda_verbose")[1]
    assert node.label == "memcpy HtoD"
    assert (node.read_bytes, node.written_bytes) == (600, 600)
    # Two slices of 4 rows of 256 bytes; the last row that is touched is row 2 of slice 1, 100 bytes of it.
    assert node.accesses == (ViewAccess(0, 0, 256 * (4 + 2) + 100, "write"),)
    assert detail(node, "srcPtr ptr") == "0x0000000000D00000"
    assert detail(node, "srcPos x") == "16"
    assert detail(node, "port") == "1 of graph_7_node_0"


def test_a_verbose_memset_with_style_twice() -> None:
    node = nodes_of("cuda_verbose")[2]
    assert node.label == "memset with 255"
    assert (node.read_bytes, node.written_bytes) == (None, 4 * 32)
    assert node.accesses == (ViewAccess(0, 0x40, 0x40 + 128, "write"),)


def test_memory_of_a_verbose_dump() -> None:
    view = example("cuda_verbose").view
    (plane,) = view.planes
    assert (plane.size_bytes, plane.offset, plane.role) == (4096, 0, "memory")
    assert detail(view.nodes[3], "poolProps location type") == "DEVICE"
    assert detail(view.nodes[3], "poolProps handleTypes") == "NONE"
    assert [argument.plane for argument in view.nodes[4].arguments] == [0]
    assert view.nodes[3].flags == view.nodes[4].flags == ()


def test_events_keep_their_handles() -> None:
    for node in nodes_of("cuda_verbose")[5:7]:
        assert detail(node, "event") == "0x0000000000E00000"
        assert node.label in ("event record", "event wait")


def test_a_loop_with_an_empty_body() -> None:
    view = example("cuda_verbose").view
    node = view.nodes[7]
    assert (node.label, node.body) == ("conditional WHILE", (0,))
    assert (view.phases[0].kind, view.phases[0].note) == ("body", "graph_8 in the dump")
    assert not any(other.phase == 0 for other in view.nodes)
    assert (view.phases[1].kind, view.nodes[8].body, view.nodes[11].phase) == ("child", (1,), 1)


@pytest.mark.parametrize(
    ("label", "branches"),
    [
        (CHOICES + "| {Conditional Type| SWITCH}\n| {0|  graph_2}\n| {1|  graph_3}\n}\n", 2),
        (CHOICES + "| {Conditional Type| IF}\n| {0|  graph_2}\n}\n", 1),
        ("0 (topoId: 0)\nnode handle: 0x1\nHandle: 1\nType: SWITCH\ngraph_2\ngraph_3\n", 2),
        ("0 (topoId: 0)\nnode handle: 0x1\nHandle: 1\nType: WHILE\ngraph_3\n", 1),
        ("0\nCONDITIONAL\ngraph_2\n", 1),
        ("0\ngraph_2\ngraph_3\n", 2),
    ],
)
def test_forms_of_conditionals(label: str, branches: int) -> None:
    reading = examine(driver_dump([(1, [label]), (2, []), (3, [])]))
    node = reading.view.nodes[0]
    assert (node.kind, len(node.body)) == ("conditional", branches)
    assert {reading.view.phases[box].kind for box in node.body} == {"body"}


def test_the_older_conditional() -> None:
    view = example("older_conditional").view
    assert [node.kind for node in view.nodes] == ["launch", "conditional", "launch"]
    assert view.nodes[1].label == "conditional IF"
    assert view.nodes[2].phase == view.nodes[1].body[0]
    assert view.tool == "CUDA debug dot, verbose; kernels of CuPy"


def test_a_plain_dump_says_little() -> None:
    view = example("cuda_plain").view
    assert [node.label for node in view.nodes] == [
        *("mean<8>", "memcpy DtoH", "memset with 7", "event record", "event wait", "host function", "empty"),
        *("child graph", "allocate", "free", "plain_name"),
    ]
    assert {(node.grid, node.block, node.shared_bytes) for node in view.nodes} == {(None, None, None)}
    assert {(node.read_bytes, node.written_bytes) for node in view.nodes} == {(None, None)}
    assert detail(view.nodes[2], "size") == "640"
    assert view.tool == "CUDA debug dot"
    assert view.planes == ()


def test_plain_hip() -> None:
    view = example("hip_plain").view
    assert [node.kind for node in view.nodes] == [
        *("memset", "launch", "memcpy", "event_record", "host", "empty", "child", "launch"),
    ]
    assert [(edge.before, edge.after) for edge in view.edges] == [
        *((0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6)),
    ]
    assert view.nodes[1].label == "vectorAdd"
    assert view.tool == "HIP debug dot"


def test_verbose_hip() -> None:
    view = example("hip_verbose").view
    assert [node.kind for node in view.nodes] == ["memset", "launch", "memcpy"]
    assert view.nodes[0].written_bytes == 128
    assert (view.nodes[1].grid, view.nodes[1].block, view.nodes[1].shared_bytes) == ((80, 2, 1), (64, 4, 1), 1024)
    assert (view.nodes[2].read_bytes, view.nodes[2].written_bytes) == (320, 320)
    assert view.tool == "HIP debug dot, verbose"


def test_sizes_of_hip_in_lines() -> None:
    text = driver_dump([(1, ["0\n_Z3addi\n\\<\\<\\<(2,3,4),(5,6,7),8\\>\\>\\>"])])
    node = examine(text).view.nodes[0]
    assert (node.kind, node.label) == ("launch", "add")
    assert (node.grid, node.block, node.shared_bytes) == ((2, 3, 4), (5, 6, 7), 8)


def test_a_record_of_hip_without_sizes() -> None:
    node = examine(driver_dump([(1, ["{\nKERNEL\n| {ID | 0 | _Z3addi}\n| {cooperative | 0}\n}"])])).view.nodes[0]
    assert (node.kind, node.label, node.grid) == ("launch", "add", None)
    assert detail(node, "ID") == "0"


def test_mlx() -> None:
    view = example("mlx").view
    assert [node.kind for node in view.nodes] == ["launch", "child", "launch"]
    assert view.nodes[0].label == "copy_v<float, float, unsigned int, 4>"
    assert view.kernels[0].name == "mlx::core::cu::copy_v<float, float, unsigned int, 4>"
    assert view.tool == "CUDA debug dot; kernels of MLX"


@pytest.mark.parametrize(
    "name", ["a<b>", "f(x) {lambda(int)#1}", "a|b", "void g<1, (E)2>(T*)", "</script>", "a\\<\\<b", "x" * 20_000]
)
def test_names_may_hold_anything(name: str) -> None:
    label = f"{{KERNEL\n| {{ID | 0 (topoId: 0) | {name}\\<\\<\\<3,\\{{2,2\\}},5\\>\\>\\>}}\n| {{priority | 4}}\n}}"
    view: View = examine(driver_dump([(1, [label])])).view
    assert [kernel.symbol for kernel in view.kernels] == [name.replace("\\<", "<")]
    assert (view.nodes[0].grid, view.nodes[0].block, view.nodes[0].shared_bytes) == ((3, 1, 1), (2, 2, 1), 5)
    assert detail(view.nodes[0], "priority") == "4"
    assert len(view.nodes[0].label) <= 300


@pytest.mark.parametrize("sizes", ["1,2", "1,2,3,4", "1,x,0", "\\{1,2,3,4\\},1,0", "1,1,99999999999999999999999", ""])
def test_sizes_of_another_form_are_a_doubt(sizes: str) -> None:
    reading = examine(driver_dump([(1, [f"{{KERNEL\n| {{ID | 0 (topoId: 0) | f\\<\\<\\<{sizes}\\>\\>\\>}}\n}}"])]))
    assert codes(reading) == ["CG899"]
    node = reading.view.nodes[0]
    assert (node.kind, node.label, node.grid, node.block, node.shared_bytes) == ("launch", "f", None, None, None)


@pytest.mark.parametrize("label", ["", "no number", "{}", "{|}", "{KERNEL}", "\\x", "0", "{\n| {ID | 3}\n}"])
def test_labels_of_another_form_are_a_doubt(label: str) -> None:
    reading = examine(driver_dump([(1, [label, "1\nEMPTY\n"])]))
    assert codes(reading) == ["CG899"]
    assert reading.problems[0].span is not None
    assert [node.kind for node in reading.view.nodes][1] == "empty"


def test_a_kind_that_is_new_is_shown_with_its_facts() -> None:
    reading = examine(driver_dump([(1, ["{\nBATCH_MEM_OP\n| {{ID | count} | {0 (topoId: 0) | 2}}\n}"])]))
    assert codes(reading) == []
    node = reading.view.nodes[0]
    assert (node.kind, node.label) == ("unknown", "batch mem op")
    assert detail(node, "count") == "2"

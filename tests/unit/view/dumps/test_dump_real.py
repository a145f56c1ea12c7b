"""Files that real drivers wrote. The right numbers are counted by hand, with regular expressions and by Graphviz."""

import re
import shutil
import subprocess
from collections import Counter

import pytest

from tests.support.dumps import REAL_NAMES, examine, real_dump

# Counted in the files, with grep: statements of nodes, of edges, and words in their labels.
COUNTS = {
    "05": (77, 76, {"launch": 26, "alloc": 26, "free": 25}),
    "07": (7, 4, {"launch": 5, "conditional": 1, "memset": 1}),
    "09": (9, 3, {"launch": 6, "conditional": 1, "event_record": 2}),
    "10": (7, 4, {"launch": 5, "conditional": 1, "memset": 1}),
    "12": (14, 11, {"launch": 12, "child": 2}),
    "13": (4, 3, {"launch": 3, "memcpy": 1}),
}


@pytest.mark.parametrize("name", REAL_NAMES)
def test_numbers_of_nodes_edges_and_kinds(name: str) -> None:
    reading = examine(real_dump(name).read_bytes(), f"{name}.dot")
    nodes, edges, kinds = COUNTS[name]
    assert reading.problems == ()
    assert (len(reading.view.nodes), len(reading.view.edges)) == (nodes, edges)
    assert Counter(node.kind for node in reading.view.nodes) == kinds


@pytest.mark.parametrize("name", REAL_NAMES)
def test_as_many_as_regular_expressions_find(name: str) -> None:
    text = real_dump(name).read_text(encoding="utf-8")
    view = examine(text).view
    assert len(view.nodes) == len(re.findall(r'^"graph_\d+_node_\d+"\[', text, re.MULTILINE))
    assert len(view.edges) == len(re.findall(r'^"graph_\d+_node_\d+" -> ', text, re.MULTILINE))
    assert len(view.phases) + 1 == len(re.findall(r"^subgraph cluster_\d+ \{", text, re.MULTILINE))
    launches = re.findall(r"\\<\\<\\<(.*?)\\>\\>\\>", text)
    assert sum(node.grid is not None for node in view.nodes) == len(launches)
    symbols = set(re.findall(r"\| (\w+)\\<\\<\\<", text)) | set(re.findall(r'octagon" label="\d+\n(\w+)\n', text))
    assert {kernel.symbol for kernel in view.kernels} == symbols


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", REAL_NAMES)
def test_edges_as_graphviz_reads_them(name: str) -> None:
    path = real_dump(name)
    plain = subprocess.run(["dot", "-Tplain", str(path)], capture_output=True, text=True, check=True).stdout  # noqa: S607
    expected = Counter(tuple(line.split()[1:3]) for line in plain.splitlines() if line.startswith("edge "))
    view = examine(path.read_text(encoding="utf-8")).view

    def name_of(node: int) -> str:
        origin = view.origins[view.nodes[node].origin or 0]
        return view.sources[0].text.splitlines()[origin.start_line - 1].split('"')[1]

    assert Counter((name_of(edge.before), name_of(edge.after)) for edge in view.edges) == expected


def test_memory_that_is_never_freed() -> None:
    # 26 allocations, 25 frees: node 74 allocates 2,048 bytes that no later node frees. The first block is freed by node
    # 4, the second by node 7.
    view = examine(real_dump("05").read_bytes()).view
    assert [(number, node.flags) for number, node in enumerate(view.nodes) if node.flags] == [(74, ("never freed",))]
    assert [plane.size_bytes for plane in view.planes] == [2048] * 26
    assert [sum(plane.offset == offset for plane in view.planes) for offset in (0, 0x800)] == [13, 13]
    assert [(life.first, life.last) for life in view.lifetimes[:2]] == [(0, 4), (2, 7)]


def test_sizes_of_launches() -> None:
    view = examine(real_dump("07").read_bytes()).view
    assert [(node.grid, node.block, node.shared_bytes) for node in view.nodes if node.kind == "launch"] == [
        ((1, 1, 1), (1, 1, 1), 0),
        ((8, 16, 1), (128, 1, 1), 18816),
        ((1, 1, 1), (1, 1, 1), 0),
        ((8, 8, 5), (128, 1, 1), 33792),
        ((1, 1, 1), (1, 1, 1), 0),
    ]


def test_an_empty_branch_is_a_box() -> None:
    view = examine(real_dump("10").read_bytes()).view
    assert view.nodes[1].body == (0, 1, 2)
    assert [sum(node.phase == phase for node in view.nodes) for phase in range(3)] == [0, 2, 3]


def test_a_child_in_a_child() -> None:
    view = examine(real_dump("12").read_bytes()).view
    assert [phase.parent for phase in view.phases] == [None, 0]
    assert [node.label for node in view.nodes if node.phase == 1] == [
        "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_1_64x64x128_4x1x1_cga1x1x1_kernel0_0"
    ]
    assert view.tool == "CUDA debug dot; kernels of MLX"

"""Operations of commands, counted pair by pair."""

import attrs
import pytest

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph, LaunchNode
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.operations import ATTENTION_PRODUCTS, node_operations
from cgraph.syntax.loading import load_source
from tests.support.graphs import GraphMaker

PRODUCTS = {
    "cgAttention": ["scores", "merged"],
    "cgAttentionBackwardKeys": ["scores", "probabilities", "values", "keys"],
    "cgAttentionBackwardQueries": ["scores", "probabilities", "queries"],
    "cgAttentionPadded": ["scores", "merged"],
    "cgAttentionPaddedBackwardKeys": ["scores", "probabilities", "values", "keys"],
    "cgAttentionPaddedBackwardQueries": ["scores", "probabilities", "queries"],
}


def graph_of(program: str, **parameters: int) -> CommandGraph:
    return compile_program(load_source(programs_directory() / program), parameters).graph


def counted(node: LaunchNode, heads: int, seq: int, width: int, *, causal: bool) -> int:
    """Multiplications and additions, one product, head, query, key and channel after the other."""
    count = 0
    for _product in PRODUCTS[node.image.signature.entry]:
        for _head in range(heads):
            for query in range(seq):
                for key in range(seq):
                    if not causal or key <= query:
                        count += 2 * width
    return count


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("program", "heads"), [("layer_backward.cg", 2), ("gpt.cg", 2 * 3), ("bert.cg", 2 * 3)])
def test_attention(program: str, heads: int, causal: int) -> None:
    sizes = {"cgSeq": 5, "cgHeads": 2, "cgHeadWidth": 4, "cgLayers": 1}
    if program == "layer_backward.cg":
        sizes["cgCausal"] = causal
    else:
        sizes["cgBatch"] = 3
        causal = int(program == "gpt.cg")
    found = [
        node
        for node in graph_of(program, **sizes).nodes
        if isinstance(node, LaunchNode) and node.image.signature.entry in PRODUCTS
    ]
    assert {node.image.signature.entry.replace("Padded", "") for node in found} >= set(list(PRODUCTS)[:3])
    for node in found:
        assert node_operations(node) == counted(node, heads, 5, 4, causal=bool(causal))


def test_every_attention_kernel_of_the_table_is_one_of_the_library() -> None:
    assert {entry for _, entry in ATTENTION_PRODUCTS} == PRODUCTS.keys()


def test_products_and_others() -> None:
    maker = GraphMaker()
    out = maker.plane("out", 6, Role.OUTPUT)
    maker.launch(maker.write(out), naturals=[("m", 2), ("n", 3), ("k", 7)])
    maker.launch(maker.write(out), naturals=[("m", 2), ("n", 3)])
    maker.fill(out)
    maker.join()
    assert [node_operations(node) for node in maker.graph().nodes] == [84, None, 0, 0]


def test_a_kernel_of_the_same_name_with_other_slots() -> None:
    maker = GraphMaker()
    maker.launch(maker.write(maker.plane("out", 6, Role.OUTPUT)), naturals=[("heads", 2), ("headWidth", 3)])
    node = maker.graph().nodes[0]
    assert isinstance(node, LaunchNode)
    signature = attrs.evolve(node.image.signature, file="attention.cu", entry="cgAttention")
    assert node_operations(attrs.evolve(node, image=attrs.evolve(node.image, signature=signature))) is None

"""How many floating-point operations a command's products take: a multiplication and an addition are two.

The rule: a launch with naturals called m, n and k is a product, 2·m·n·k operations. A kernel of streaming attention
does as many products as `ATTENTION_PRODUCTS` says, each 2·headWidth operations for every pair of a query and a key that
may see each other: seq² pairs a head, or seq·(seq + 1) / 2 where causal is 1; padding is data, so it is not
subtracted. What a kernel computes beyond products (exponentials, sums of rows) is left out, and so are tiles that it
computes in vain. Any other launch is a kernel whose products nobody stated: None. Fills, copies and joins do none: 0.
"""

from collections.abc import Mapping

from cgraph.graph.model import LaunchNode, Node

# Forward: scores and their product with the values. Keys: scores, gradient of the probabilities, gradients of values
# and of keys. Queries: scores, gradient of the probabilities, gradient of queries. (kernels_cu/attention*.cu)
ATTENTION_PRODUCTS = {
    ("attention.cu", "cgAttention"): 2,
    ("attention_padded.cu", "cgAttentionPadded"): 2,
    ("attention_backward.cu", "cgAttentionBackwardKeys"): 4,
    ("attention_padded_backward.cu", "cgAttentionPaddedBackwardKeys"): 4,
    ("attention_backward.cu", "cgAttentionBackwardQueries"): 3,
    ("attention_padded_backward.cu", "cgAttentionPaddedBackwardQueries"): 3,
}
_PAIRED = frozenset({"seq", "causal", "heads", "headWidth"})


def node_operations(node: Node) -> int | None:
    """Operations of one command's products, None where they are not known."""
    if not isinstance(node, LaunchNode):
        return 0
    signature = node.image.signature
    sizes = {
        slot.name: value for slot, value in zip(signature.slots, node.arguments, strict=True) if isinstance(value, int)
    }
    if {"m", "n", "k"} <= sizes.keys():
        return 2 * sizes["m"] * sizes["n"] * sizes["k"]
    products = ATTENTION_PRODUCTS.get((signature.file, signature.entry))
    if products is None or not sizes.keys() >= _PAIRED:
        return None
    return products * 2 * sizes["headWidth"] * _pairs(sizes)


def _pairs(sizes: Mapping[str, int]) -> int:
    """Pairs of a query and a key that may see each other, over all heads of all sequences."""
    seq = sizes["seq"]
    pairs = seq * (seq + 1) // 2 if sizes["causal"] else seq * seq
    return pairs * sizes["heads"] * sizes.get("batch", 1)

"""One layer's recompute and backward pass as a list of calls of the host's meanings, in the order of the program.

Receives the sizes; gives the planes by name and the calls by phase. No checker, graph or planner takes part, so what
is timed is the images alone. The half type is f32.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from cgraph.images import attention, attention_backward, elementwise, gelu, layout, norm, product, rope
from cgraph.images.context import HostContext, aligned_bytes

Array: TypeAlias = NDArray[Any]
NORM_BLOCK_ROWS = 32
ROPE_BASE = 10000.0
EPSILON = 1.0e-5
WEIGHTS = ("qkv", "output", "gate", "up", "down")


class Sizes(NamedTuple):
    """Tokens, channels, heads and inner width of a layer."""

    seq: int
    width: int
    heads: int
    ffn: int

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.width // self.heads


class Call(NamedTuple):
    """One launch, ready to run; `phase` groups launches in the report."""

    phase: str
    name: str
    run: Callable[[], None]


class Layer:
    """A layer's planes by name and its calls in order: casts of the weights, recompute, backward pass."""

    def __init__(self, context: HostContext, sizes: Sizes) -> None:
        self.context = context
        self.sizes = sizes
        self.planes = {name: _plane(shape) for name, shape in plane_shapes(sizes).items()}
        self.calls: list[Call] = []
        p = self.planes
        rope.rope_table(context, cosine=p["cosine"], sine=p["sine"], base=ROPE_BASE, cg_head_width=sizes.head_width)
        for name in WEIGHTS:
            self.add("casts", elementwise.cast_down, out=flat(p[name + "Half"]), in_=flat(p[name + "Weight"]))
        _recompute(self)
        _backward_ffn(self)
        _backward_attention(self)

    def add(self, phase: str, function: Callable[..., None], **arguments: Any) -> None:
        """Appends a call."""
        self.calls.append(Call(phase, function.__name__, partial(function, self.context, **arguments)))

    def take(self, names: str) -> dict[str, Array]:
        """Planes by keyword where both have the same name."""
        return {name: self.planes[name] for name in names.split()}


def flat(plane: Array) -> Array:
    """The plane as one row of elements."""
    return plane.reshape(-1)


def plane_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Extents of the layer's planes; weights are stored [outputs, inputs]."""
    seq, width, heads, ffn = sizes
    head = sizes.head_width
    weights = ((3 * width, width), (width, width), (ffn, width), (ffn, width), (width, ffn))
    groups: list[tuple[str, tuple[int, ...]]] = [
        ("x projection current other dyHalf norm1 norm2", (seq, width)),
        ("normUpGradient normGradient normInputGradient mergedGradient", (seq, width)),
        ("merged_half", (seq, heads, head)),
        ("gain1 shift1 gain2 shift2 gain1Gradient shift1Gradient gain2Gradient shift2Gradient", (width,)),
        ("statistics1 statistics2", (seq, 2)),
        ("gain_parts shift_parts", (-(-seq // NORM_BLOCK_ROWS), width)),
        ("qkv qkv_gradient_half", (seq, 3, width)),
        ("cosine sine", (seq, head // 2)),
        ("queries keys values context_gradient queries_gradient keys_gradient values_gradient", (heads, seq, head)),
        ("queries_t keys_t values_t context_gradient_t", (heads, head, seq)),
        ("statistics row_dot", (heads, seq)),
        ("gate up gelu gated_half d_gated up_gradient_half gate_gradient_half", (seq, ffn)),
    ]
    for name, shape in zip(WEIGHTS, weights, strict=True):
        groups.append((f"{name}Weight {name}Half {name}Gradient", shape))
    return {name: shape for names, shape in groups for name in names.split()}


def _plane(shape: tuple[int, ...]) -> Array:
    elements = 1
    for extent in shape:
        elements *= extent
    return aligned_bytes(4 * elements).view("f4").reshape(shape)


def _recompute(layer: Layer) -> None:
    p, take, add, (seq, width, heads, _ffn) = layer.planes, layer.take, layer.add, layer.sizes
    norm1 = {"gain": p["gain1"], "shift": p["shift1"], "statistics": p["statistics1"]}
    add("norms", norm.layer_norm, out_half=p["norm1"], in_=p["x"], epsilon=EPSILON, **norm1)
    add("products", product.product_forward, out=p["qkv"].reshape(seq, -1), a=p["norm1"], b=p["qkvHalf"])
    head_sizes = {"cg_heads": heads, "cg_head_width": layer.sizes.head_width}
    add("layouts", rope.rope, **take("queries keys values_t qkv cosine sine"), **head_sizes)
    add("attention", attention.attention, **take("merged_half statistics queries keys values_t"), causal=1)
    merged = p["merged_half"].reshape(seq, width)
    add("products", product.product_forward_adding, out=p["projection"], a=merged, b=p["outputHalf"], addend=p["x"])
    norm2 = {"gain": p["gain2"], "shift": p["shift2"], "statistics": p["statistics2"]}
    add("norms", norm.layer_norm, out_half=p["norm2"], in_=p["projection"], epsilon=EPSILON, **norm2)
    add("products", product.product_forward, out=p["gate"], a=p["norm2"], b=p["gateHalf"])
    add("products", product.product_forward, out=p["up"], a=p["norm2"], b=p["upHalf"])
    inner = {name: flat(plane) for name, plane in take("gelu gated_half up gate").items()}
    add("gelu", gelu.gated_gelu, **inner)


def _norm_backward(layer: Layer, number: str, source: str, out: str, residual: str) -> None:
    p, take, add = layer.planes, layer.take, layer.add
    add(
        "norms",
        norm.layer_norm_backward_rows,
        input_gradient=p["normInputGradient"],
        in_=p[source],
        dy=p["normGradient"],
        gain=p["gain" + number],
        statistics=p["statistics" + number],
        cg_norm_block_rows=NORM_BLOCK_ROWS,
        **take("gain_parts shift_parts"),
    )
    gradients = {"gain_gradient": p[f"gain{number}Gradient"], "shift_gradient": p[f"shift{number}Gradient"]}
    add("norms", norm.layer_norm_backward_sum, **gradients, **take("gain_parts shift_parts"))
    add("norms", elementwise.add, out=flat(p[out]), a=flat(p[residual]), b=flat(p["normInputGradient"]))


def _backward_ffn(layer: Layer) -> None:
    p, take, add = layer.planes, layer.take, layer.add
    add("casts", elementwise.cast_down, out=flat(p["dyHalf"]), in_=flat(p["current"]))
    add("products", product.product_data, out=p["d_gated"], a=p["dyHalf"], b=p["downHalf"])
    add("products", product.product_weight, out=p["downGradient"], a=p["dyHalf"], b=p["gated_half"])
    inner = take("up_gradient_half gate_gradient_half d_gated gelu up gate")
    add("gelu", gelu.gated_gelu_backward, **{name: flat(plane) for name, plane in inner.items()})
    up, gate = p["up_gradient_half"], p["gate_gradient_half"]
    add("products", product.product_weight, out=p["upGradient"], a=up, b=p["norm2"])
    add("products", product.product_data, out=p["normUpGradient"], a=up, b=p["upHalf"])
    add("products", product.product_weight, out=p["gateGradient"], a=gate, b=p["norm2"])
    addend = p["normUpGradient"]
    add("products", product.product_data_adding, out=p["normGradient"], a=gate, b=p["gateHalf"], addend=addend)
    _norm_backward(layer, "2", "projection", "other", "current")


def _backward_attention(layer: Layer) -> None:
    p, take, add, (seq, width, heads, _ffn) = layer.planes, layer.take, layer.add, layer.sizes
    add("casts", elementwise.cast_down, out=flat(p["dyHalf"]), in_=flat(p["other"]))
    merged = p["merged_half"].reshape(seq, width)
    add("products", product.product_weight, out=p["outputGradient"], a=p["dyHalf"], b=merged)
    add("products", product.product_data, out=p["mergedGradient"], a=p["dyHalf"], b=p["outputHalf"])
    head_sizes = {"cg_heads": heads, "cg_head_width": layer.sizes.head_width}
    add("layouts", layout.token_to_head, out=p["context_gradient"], out_t=None, in_=p["mergedGradient"], **head_sizes)
    add("layouts", layout.head_transpose, out=p["values"], in_=p["values_t"])
    for name in ("queries", "keys", "context_gradient"):
        add("layouts", layout.head_transpose, out=p[name + "_t"], in_=p[name])
    add("attention", attention.attention_row_dot, **take("row_dot merged_half context_gradient"))
    planes = take("queries keys values context_gradient statistics row_dot")
    keys = take("keys_gradient values_gradient queries_t context_gradient_t")
    add("attention", attention_backward.attention_backward_keys, **planes, **keys, causal=1)
    queries = take("queries_gradient keys_t")
    add("attention", attention_backward.attention_backward_queries, **planes, **queries, causal=1)
    planes = take("qkv_gradient_half queries_gradient keys_gradient values_gradient cosine sine")
    add("layouts", rope.inverse_rope, **planes, **head_sizes)
    gradient = p["qkv_gradient_half"].reshape(seq, 3 * width)
    add("products", product.product_weight, out=p["qkvGradient"], a=gradient, b=p["norm1"])
    add("products", product.product_data, out=p["normGradient"], a=gradient, b=p["qkvHalf"])
    _norm_backward(layer, "1", "x", "current", "other")

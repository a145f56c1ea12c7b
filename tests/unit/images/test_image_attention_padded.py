from functools import partial

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, complex_step_gradient, context, f64, normal, poisoned, relative_error

from cgraph.images import attention, attention_backward, attention_padded

TOLERANCE = {"f32": 5e-6, "f64": 1e-13, "f16": 5e-6, "bf16": 5e-6}
# seq, batch, heads of a sequence, headWidth: one token; odd; a block and two tokens.
SIZES = [(1, 1, 1, 1), (7, 3, 2, 5), (130, 2, 1, 3)]


def attended(queries: Array, keys: Array, values: Array, *, present: Array, causal: int) -> Array:
    """Dense attention of one head to the keys that are there; 0 for a query that sees none. Real or complex."""
    seq = len(queries)
    visible = np.broadcast_to(present != 0, (seq, seq)) & (np.tri(seq, dtype=bool) if causal else True)
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    weights = np.where(visible, np.exp(scores - scores.real.max()), 0)
    total = weights.sum(axis=1, keepdims=True)
    result: Array = weights @ values / np.where(total == 0, 1, total)
    return result


def attended_with(planes: list[Array], index: int, present: Array, causal: int, plane: Array) -> Array:
    """The same with another plane for one of queries, keys and values."""
    queries, keys, values = (plane if number == index else other for number, other in enumerate(planes))
    return attended(queries, keys, values, present=present, causal=causal)


def absences(seq: int, batch: int, kind: str) -> Array:
    present = np.ones((seq, batch), np.int32)
    if kind == "at the end":
        present[seq // 2 + 1 :, 0] = 0
    elif kind == "at the start":
        present[: seq // 2, -1] = 0
    elif kind == "scattered":
        present = np.random.default_rng(1).integers(0, 3, (seq, batch)).astype(np.int32)
    elif kind == "a whole sequence":
        present[:, batch // 2] = 0
    return present


class Case:
    """Random planes, with what both passes make of them."""

    def __init__(self, half: Half, size: tuple[int, int, int, int], present: Array, causal: int) -> None:
        seq, batch, heads, head_width = size
        shape = (batch * heads, seq, head_width)
        self.queries, self.keys, self.values, self.dy = (normal(shape, half.half, seed) for seed in (1, 2, 3, 4))
        self.merged, self.statistics = (
            poisoned((seq, batch * heads, head_width), half.half),
            poisoned(shape[:2], half.wide),
        )
        transposed = {
            f"{name}_t": np.ascontiguousarray(plane.transpose(0, 2, 1))
            for name, plane in (("queries", self.queries), ("keys", self.keys), ("context_gradient", self.dy))
        }
        common = {"seq": seq, "heads": heads, "batch": batch, "head_width": head_width, "present": present}
        attention_padded.attention_padded(
            context(),
            merged_half=self.merged,
            statistics=self.statistics,
            queries=self.queries,
            keys=self.keys,
            values_t=np.ascontiguousarray(self.values.transpose(0, 2, 1)),
            causal=causal,
            **common,
        )
        row_dot = poisoned(shape[:2], half.wide)
        attention.attention_row_dot(context(), row_dot=row_dot, merged_half=self.merged, context_gradient=self.dy)
        self.gradients = [poisoned(shape, half.wide) for _ in range(3)]
        given = {
            "queries": self.queries,
            "keys": self.keys,
            "values": self.values,
            "context_gradient": self.dy,
            "statistics": self.statistics,
            "row_dot": row_dot,
            "causal": causal,
        }
        attention_padded.attention_padded_backward_queries(
            context(), queries_gradient=self.gradients[0], keys_t=transposed["keys_t"], **given, **common
        )
        attention_padded.attention_padded_backward_keys(
            context(),
            keys_gradient=self.gradients[1],
            values_gradient=self.gradients[2],
            queries_t=transposed["queries_t"],
            context_gradient_t=transposed["context_gradient_t"],
            **given,
            **common,
        )


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("kind", ["nowhere", "at the end", "at the start", "scattered", "a whole sequence"])
@pytest.mark.parametrize("size", SIZES)
def test_forward(name: str, size: tuple[int, int, int, int], kind: str, causal: int) -> None:
    half = HALVES[name]
    present = absences(size[0], size[1], kind)
    case = Case(half, size, present, causal)
    for head in range(len(case.queries)):
        of_head = present[:, head // size[2]]
        queries, keys, values = (f64(plane[head]) for plane in (case.queries, case.keys, case.values))
        expected = attended(queries, keys, values, present=of_head, causal=causal)
        blind = ~expected.any(axis=1)
        assert not case.merged[blind, head].any()
        assert not case.statistics[head, blind].any()
        if not blind.all():
            assert relative_error(case.merged[:, head], expected) <= TOLERANCE[name] + half.half_unit


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("kind", ["nowhere", "at the end", "at the start", "scattered", "a whole sequence"])
@pytest.mark.parametrize("size", SIZES[:2])
def test_backward(size: tuple[int, int, int, int], kind: str, causal: int) -> None:
    present = absences(size[0], size[1], kind)
    case = Case(HALVES["f64"], size, present, causal)
    for head in range(len(case.queries)):
        of_head = present[:, head // size[2]]
        planes = [case.queries[head], case.keys[head], case.values[head]]
        for index, gradient in enumerate(case.gradients):
            moved = partial(attended_with, planes, index, of_head, causal)
            expected = complex_step_gradient(moved, planes[index], case.dy[head])
            assert np.abs(gradient[head] - expected).max() <= 1e-13
            if index > 0:
                assert not gradient[head][of_head == 0].any()


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("name", HALVES)
def test_without_absences_the_same_bits_as_plain_attention(name: str, causal: int) -> None:
    half, size = HALVES[name], (7, 3, 2, 5)
    case = Case(half, size, np.ones((7, 3), np.int32), causal)
    merged, statistics = poisoned(case.merged.shape, half.half), poisoned(case.statistics.shape, half.wide)
    attention.attention(
        context(),
        merged_half=merged,
        statistics=statistics,
        queries=case.queries,
        keys=case.keys,
        values_t=np.ascontiguousarray(case.values.transpose(0, 2, 1)),
        causal=causal,
    )
    assert merged.tobytes() == case.merged.tobytes()
    assert statistics.tobytes() == case.statistics.tobytes()
    row_dot, gradient = poisoned(statistics.shape, half.wide), poisoned(case.queries.shape, half.wide)
    attention.attention_row_dot(context(), row_dot=row_dot, merged_half=merged, context_gradient=case.dy)
    attention_backward.attention_backward_queries(
        context(),
        queries_gradient=gradient,
        queries=case.queries,
        keys=case.keys,
        values=case.values,
        context_gradient=case.dy,
        keys_t=np.ascontiguousarray(case.keys.transpose(0, 2, 1)),
        statistics=statistics,
        row_dot=row_dot,
        causal=causal,
    )
    assert gradient.tobytes() == case.gradients[0].tobytes()


@pytest.mark.parametrize("name", HALVES)
def test_nobody_there_leaves_zeros(name: str) -> None:
    case = Case(HALVES[name], (5, 2, 2, 3), np.zeros((5, 2), np.int32), 0)
    for plane in (case.merged, case.statistics, *case.gradients):
        assert not plane.any()

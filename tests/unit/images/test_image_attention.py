import tracemalloc

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, complex_step_gradient, context, f64, normal, poisoned, relative_error

from cgraph.images import attention, attention_backward

TOLERANCE = {"f32": 5e-6, "f64": 1e-13, "f16": 5e-6, "bf16": 5e-6}
# One token; odd everything; one block exactly; a block and two tokens; three blocks.
SIZES = [(1, 1, 1), (3, 7, 5), (1, 128, 4), (2, 130, 3), (3, 300, 8)]


def attended(queries: Array, keys: Array, values: Array, *, causal: int) -> tuple[Array, Array]:
    """Dense attention on [seq, channels] of one head, real or complex; also the log-sum-exp of each row."""
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    if causal:
        scores = np.where(np.tri(scores.shape[0], dtype=bool), scores, -np.inf)
    top = scores.real.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total @ values, (np.log(total) + top)[:, 0]


class Case:
    """Random planes of one size, with the outputs of the forward image."""

    def __init__(
        self, half: Half, heads: int, seq: int, head_width: int, causal: int, scale: float = 1.0, threads: int = 2
    ) -> None:
        self.half, self.causal, self.context = half, causal, context(threads)
        shape = (heads, seq, head_width)
        self.sizes = {"seq": seq, "heads": heads, "head_width": head_width, "causal": causal}
        self.queries = normal(shape, half.half, 1, scale)
        self.keys, self.values, self.gradient = (normal(shape, half.half, seed) for seed in (2, 3, 4))
        self.merged = poisoned((seq, heads, head_width), half.half)
        self.statistics = poisoned((heads, seq), half.wide)
        attention.attention(
            self.context,
            merged_half=self.merged,
            statistics=self.statistics,
            queries=self.queries,
            keys=self.keys,
            values_t=np.ascontiguousarray(self.values.transpose(0, 2, 1)),
            **self.sizes,
        )

    def backward(self) -> tuple[Array, Array, Array]:
        """Gradients of queries, keys and values, each [heads, seq, headWidth]."""
        shape = self.queries.shape
        row_dot = poisoned(shape[:2], self.half.wide)
        common = {name: self.sizes[name] for name in ("seq", "heads", "head_width")}
        attention.attention_row_dot(
            self.context, row_dot=row_dot, merged_half=self.merged, context_gradient=self.gradient, **common
        )
        queries, keys, values = (poisoned(shape, self.half.wide) for _ in range(3))
        given = {
            "queries": self.queries,
            "keys": self.keys,
            "values": self.values,
            "context_gradient": self.gradient,
            "statistics": self.statistics,
            "row_dot": row_dot,
            **self.sizes,
        }
        attention_backward.attention_backward_keys(
            self.context,
            keys_gradient=keys,
            values_gradient=values,
            queries_t=np.ascontiguousarray(self.queries.transpose(0, 2, 1)),
            context_gradient_t=np.ascontiguousarray(self.gradient.transpose(0, 2, 1)),
            **given,
        )
        attention_backward.attention_backward_queries(
            self.context,
            queries_gradient=queries,
            keys_t=np.ascontiguousarray(self.keys.transpose(0, 2, 1)),
            **given,
        )
        return queries, keys, values


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("heads", "seq", "head_width"), SIZES)
@pytest.mark.parametrize("name", HALVES)
def test_forward(name: str, heads: int, seq: int, head_width: int, causal: int) -> None:
    half = HALVES[name]
    case = Case(half, heads, seq, head_width, causal)
    for head in range(heads):
        planes = [f64(plane[head]) for plane in (case.queries, case.keys, case.values)]
        output, log_sum = attended(*planes, causal=causal)
        assert relative_error(case.merged[:, head], output) <= TOLERANCE[name] + half.half_unit
        assert np.all(np.abs(f64(case.statistics[head]) - log_sum) <= TOLERANCE[name] * (1.0 + np.abs(log_sum)))


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("heads", "seq", "head_width"), [(1, 1, 1), (3, 7, 5), (1, 128, 2), (2, 130, 3)])
@pytest.mark.parametrize("name", HALVES)
def test_backward(name: str, heads: int, seq: int, head_width: int, causal: int) -> None:
    half = HALVES[name]
    case = Case(half, heads, seq, head_width, causal)
    actual = case.backward()
    for head in range(heads):
        planes = [f64(plane[head]) for plane in (case.queries, case.keys, case.values)]
        dy = f64(case.gradient[head])
        for slot in range(3):

            def moved(point: Array, slot: int = slot, planes: list[Array] = planes) -> Array:
                return attended(*(point if n == slot else plane for n, plane in enumerate(planes)), causal=causal)[0]

            expected = complex_step_gradient(moved, planes[slot], dy)
            # The row sums come from the output in half, so its rounding reaches each gradient once.
            error = np.linalg.norm(f64(actual[slot][head]) - expected)
            assert error <= (TOLERANCE[name] + half.half_unit) * max(np.linalg.norm(expected), np.linalg.norm(dy))


@pytest.mark.parametrize("causal", [0, 1])
def test_large_scores_stay_finite(causal: int) -> None:
    case = Case(HALVES["f32"], 1, 150, 4, causal, scale=1e4)
    assert np.all(np.isfinite(case.merged))
    assert np.all(np.isfinite(case.statistics))
    for gradient in case.backward():
        assert np.all(np.isfinite(gradient))


def test_a_token_sees_no_later_one() -> None:
    case = Case(HALVES["f32"], 1, 200, 4, 1)
    before = case.merged[:150].copy()
    case.values[0, 150:] = 1e30
    case.keys[0, 150:] = -7.0
    attention.attention(
        case.context,
        merged_half=case.merged,
        statistics=case.statistics,
        queries=case.queries,
        keys=case.keys,
        values_t=np.ascontiguousarray(case.values.transpose(0, 2, 1)),
        **case.sizes,
    )
    assert np.array_equal(case.merged[:150], before)


@pytest.mark.parametrize("name", HALVES)
def test_same_bits_whatever_the_team(name: str) -> None:
    results = set()
    for threads in (1, 2, 2, 3):
        case = Case(HALVES[name], 3, 200, 8, 1, threads=threads)
        planes = (case.merged, case.statistics, *case.backward())
        results.add(b"".join(plane.tobytes() for plane in planes))
    assert len(results) == 1


def test_memory_stays_below_a_plane_of_scores() -> None:
    seq = 2048
    tracemalloc.start()
    case = Case(HALVES["f32"], 1, seq, 4, 0)
    case.backward()
    _now, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < seq * seq * 4 // 2

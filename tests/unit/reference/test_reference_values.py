"""Values worked out by hand or from the definition, and properties that fix what an operation means."""

import math

import numpy as np
import pytest

from cgraph.reference.attention import attention, attention_bwd
from cgraph.reference.gated_gelu import gated_gelu
from cgraph.reference.gelu import gelu, gelu_bwd
from cgraph.reference.heads import merge_heads, split_heads
from cgraph.reference.layer import layer_forward
from cgraph.reference.linear import linear
from cgraph.reference.norm import layer_norm
from cgraph.reference.rotary import rope, rope_bwd, rope_table
from cgraph.reference.softmax import softmax
from cgraph.reference.weights import LayerWeights

POINTS = np.array([-5.0, -2.0, -1.0, 0.0, 1.0, 2.0, 5.0])


def test_rope_pairs_halves_and_not_neighbours() -> None:
    turned = rope(np.array([[9.0, 9.0, 9.0, 9.0], [1.0, 2.0, 3.0, 4.0]]), base=10000.0)
    np.testing.assert_allclose(turned[1], [-1.98411, 1.95990, 2.46238, 4.01980], atol=5e-6)
    np.testing.assert_array_equal(turned[0], [9, 9, 9, 9])
    # Neighbours are pairs where the two in the middle change places before and after: what other layouts would give.
    middle = [0, 2, 1, 3]
    neighbours = rope(np.tile(np.array([1.0, 2.0, 3.0, 4.0])[middle], (2, 1)), base=10000.0)[1, middle]
    np.testing.assert_allclose(neighbours, [-1.14264, 1.92208, 2.95985, 4.02980], atol=6e-6)
    assert np.abs(turned[1] - neighbours).max() > 0.03


def test_rope_turns_back() -> None:
    x = np.random.default_rng(0).standard_normal((3, 7, 6))
    np.testing.assert_allclose(rope_bwd(rope(x, base=10000.0), base=10000.0), x, atol=1e-14)


def test_rope_products_depend_on_the_distance_only() -> None:
    query, key = np.random.default_rng(1).standard_normal((2, 6))
    queries, keys = (rope(np.tile(row, (9, 1)), base=100.0) for row in (query, key))
    products = queries @ keys.T
    np.testing.assert_allclose(products[3:, 3:], products[:-3, :-3], atol=1e-13)
    assert abs(products[3, 3] - products[3, 0]) > 0.1


def test_rope_table_angles() -> None:
    cosine, sine = rope_table(3, 4, base=10000.0)
    assert cosine[2, 1] == pytest.approx(math.cos(2 / 100), abs=1e-15)
    assert sine[2, 0] == pytest.approx(math.sin(2), abs=1e-15)


def test_gelu_erf_values() -> None:
    values = gelu(POINTS, form="erf")
    np.testing.assert_allclose(values[:6], [-1.433e-6, -0.0455003, -0.158655, 0, 0.841345, 1.954500], rtol=4e-4)
    np.testing.assert_allclose(values[1:6], [-0.0455003, -0.158655, 0, 0.841345, 1.954500], atol=6e-7)


def test_gelu_tanh_values() -> None:
    values = gelu(POINTS, form="tanh")
    np.testing.assert_allclose(values[:6], [-2.292e-7, -0.0454023, -0.158808, 0, 0.841192, 1.954598], rtol=4e-4)
    np.testing.assert_allclose(values[1:6], [-0.0454023, -0.158808, 0, 0.841192, 1.954598], atol=6e-7)


def test_gelu_forms_differ_by_the_known_amounts() -> None:
    x = np.linspace(-6, 6, 100_001)
    assert np.abs(gelu(x, form="erf") - gelu(x, form="tanh")).max() == pytest.approx(4.73e-4, rel=2e-3)
    ones = np.ones_like(x)
    slopes = np.abs(gelu_bwd(x, ones, form="erf") - gelu_bwd(x, ones, form="tanh"))
    assert slopes.max() == pytest.approx(8.68e-4, rel=2e-3)


def test_gelu_far_from_zero() -> None:
    x = np.array([-1e200, -60.0, 60.0, 1e200])
    for form in ("tanh", "erf"):
        np.testing.assert_allclose(gelu(x, form=form), [0, 0, 60, 1e200], atol=1e-50)
        np.testing.assert_allclose(gelu_bwd(x, np.ones(4), form=form), [0, 0, 1, 1], atol=1e-50)


def test_gated_gelu_gates_with_the_second_argument_in_tanh_form() -> None:
    assert gated_gelu([3.0], [-1.0])[0] == pytest.approx(3 * -0.158808, abs=2e-6)


def test_layer_norm_of_a_row_worked_out_by_hand() -> None:
    y, statistics = layer_norm([[1.0, 2.0, 6.0]], [1.0, 2.0, 1.0], [0.0, 0.0, 10.0], epsilon=1 / 3)
    # mean 3, deviations -2 -1 3, variance 14/3, with epsilon 5.
    np.testing.assert_allclose(statistics, [[3, 1 / math.sqrt(5)]], rtol=1e-15)
    np.testing.assert_allclose(y, [[-2 / math.sqrt(5), -2 / math.sqrt(5), 10 + 3 / math.sqrt(5)]], rtol=1e-15)


def test_linear_stores_weights_outputs_by_inputs() -> None:
    np.testing.assert_array_equal(linear([[1.0, 2.0]], [[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]]), [[1, 6, 3]])


def test_heads_are_contiguous_channels() -> None:
    x = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(split_heads(x, 3)[1], [[2, 3], [8, 9]])
    np.testing.assert_array_equal(merge_heads(split_heads(x, 3)), x)


def test_softmax_values_and_great_scores() -> None:
    np.testing.assert_allclose(softmax([[0.0, math.log(3)]]), [[0.25, 0.75]], rtol=1e-15)
    np.testing.assert_allclose(softmax([[1e300, -1e300, 1e300]]), [[0.5, 0, 0.5]], rtol=1e-15)


def test_causal_attention_sees_no_later_token() -> None:
    rng = np.random.default_rng(2)
    queries, keys, values = rng.standard_normal((3, 2, 5, 4))
    before, probabilities = attention(queries, keys, values, causal=True)
    assert not np.triu(probabilities, 1).any()
    keys[:, 3:] += 1
    values[:, 3:] -= 1
    after, _ = attention(queries, keys, values, causal=True)
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.abs(before[:, 3:] - after[:, 3:]).min() > 0


def test_attention_scales_by_the_root_of_the_head_width() -> None:
    queries = np.zeros((1, 2, 4))
    queries[0, 1] = 1
    keys = np.zeros((1, 2, 4))
    keys[0, 1] = math.log(3) / 2  # score 4 · log(3)/2 / sqrt(4) = log 3
    _, probabilities = attention(queries, keys, np.zeros((1, 2, 4)), causal=False)
    np.testing.assert_allclose(probabilities[0], [[0.5, 0.5], [0.25, 0.75]], rtol=1e-14)


@pytest.mark.parametrize("causal", [True, False])
def test_a_row_masked_in_full_gives_zero_and_finite_gradients(*, causal: bool) -> None:
    rng = np.random.default_rng(3)
    queries, keys, values, dcontext = 30 * rng.standard_normal((4, 2, 4, 6))
    mask = np.ones((2, 4, 4), dtype=np.bool_)
    mask[:, 2] = False
    context, probabilities = attention(queries, keys, values, causal=causal, mask=mask)
    assert not context[:, 2].any()
    assert not probabilities[:, 2].any()
    gradients = attention_bwd(queries, keys, values, probabilities, dcontext)
    assert all(np.isfinite(plane).all() for plane in gradients)
    assert not gradients[0][:, 2].any()
    nothing, none_seen = attention(queries, keys, values, causal=causal, mask=np.zeros((1, 1), dtype=np.bool_))
    assert not nothing.any()
    assert not any(plane.any() for plane in attention_bwd(queries, keys, values, none_seen, dcontext))


def test_layer_of_one_token_worked_out_by_hand() -> None:
    # Width 2, one head: norm of (1, 3) is (-1, 1) at epsilon 0. One token attends to itself, so context = value.
    # values = identity: (-1, 1); output = identity: projection (0, 4), whose norm is (-1, 1).
    # up row (0, 2): 2. gate row (-1, 0): 1. gated = gelu(1) · 2. down column (1, 0).
    identity, one, zero = np.eye(2), np.ones(2), np.zeros(2)
    weights = LayerWeights(
        qkv=np.vstack([7 * identity, 5 * identity, identity]),
        output=identity,
        up=np.array([[0.0, 2.0]]),
        gate=np.array([[-1.0, 0.0]]),
        down=np.array([[1.0], [0.0]]),
        norm1_gain=one,
        norm1_shift=zero,
        norm2_gain=one,
        norm2_shift=zero,
    )
    y, saved = layer_forward([[1.0, 3.0]], weights, heads=1, causal=True, epsilon=0.0, rope_base=10000.0)
    np.testing.assert_allclose(saved.projection, [[0, 4]], atol=1e-14)
    np.testing.assert_allclose(y, [[2 * 0.841192, 4]], atol=2e-6)

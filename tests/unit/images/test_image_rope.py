import numpy as np
import pytest
from image_cases import HALVES, Array, Half, context, f64, normal, poisoned, relative_error

from cgraph.images import rope

TOLERANCE = {"f32": 5e-7, "f64": 1e-14, "f16": 5e-7, "bf16": 5e-7}
SIZES = [(1, 1, 2), (7, 3, 6), (301, 2, 16)]


def table(half: Half, seq: int, head_width: int, base: float = 10000.0) -> tuple[Array, Array]:
    cosine, sine = (poisoned((seq, head_width // 2), half.wide) for _ in range(2))
    rope.rope_table(context(), cosine=cosine, sine=sine, rows=seq, base=base, cg_head_width=head_width)
    return cosine, sine


def forward(half: Half, qkv: Array, heads: int, head_width: int) -> tuple[Array, Array, Array]:
    seq = qkv.shape[0]
    cosine, sine = table(half, seq, head_width)
    queries, keys = (poisoned((heads, seq, head_width), half.half) for _ in range(2))
    values_t = poisoned((heads, head_width, seq), half.half)
    rope.rope(
        context(),
        queries=queries,
        keys=keys,
        values_t=values_t,
        qkv=qkv,
        cosine=cosine,
        sine=sine,
        cg_heads=heads,
        cg_head_width=head_width,
    )
    return queries, keys, values_t


def turned(tokens: Array, direction: int) -> Array:
    """Rotation by complex numbers: pairs (c, c + half) of tokens[s, h, d] as real and imaginary parts."""
    seq, _heads, head_width = tokens.shape
    pairs = head_width // 2
    angle = np.arange(seq)[:, None] * 10000.0 ** (-2.0 * np.arange(pairs) / head_width)
    numbers = (tokens[..., :pairs] + 1j * tokens[..., pairs:]) * np.exp(direction * 1j * angle)[:, None]
    return np.concatenate([numbers.real, numbers.imag], axis=-1)


def test_values_computed_by_hand() -> None:
    qkv = np.zeros((2, 3, 4), np.float32)
    qkv[1, :2] = [1, 2, 3, 4]
    qkv[1, 2] = [5, 6, 7, 8]
    queries, keys, values_t = forward(HALVES["f32"], qkv, 1, 4)
    expected = [-1.98411, 1.95990, 2.46238, 4.01980]
    assert np.all(np.abs(queries[0, 1] - expected) <= 6e-6)
    assert np.all(np.abs(keys[0, 1] - expected) <= 6e-6)
    assert np.array_equal(values_t[0, :, 1], [5, 6, 7, 8])
    # Pairs of neighbours, by another order of the channels.
    qkv[1, :2] = [1, 3, 2, 4]
    queries, keys, _ = forward(HALVES["f32"], qkv, 1, 4)
    expected = [-1.14264, 2.95985, 1.92208, 4.02980]
    assert np.all(np.abs(queries[0, 1] - expected) <= 6e-6)
    assert np.all(np.abs(keys[0, 1] - expected) <= 6e-6)


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "heads", "head_width"), SIZES)
def test_forward(name: str, seq: int, heads: int, head_width: int) -> None:
    half = HALVES[name]
    qkv = normal((seq, 3, heads * head_width), half.wide, 1)
    queries, keys, values_t = forward(half, qkv, heads, head_width)
    tokens = f64(qkv).reshape(seq, 3, heads, head_width)
    tolerance = TOLERANCE[name] + half.half_unit
    assert relative_error(queries, turned(tokens[:, 0], 1).transpose(1, 0, 2)) <= tolerance
    assert relative_error(keys, turned(tokens[:, 1], 1).transpose(1, 0, 2)) <= tolerance
    assert np.array_equal(f64(values_t), f64(tokens[:, 2].transpose(1, 2, 0).astype(half.half)))


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "heads", "head_width"), SIZES)
def test_inverse_turns_back_and_packs(name: str, seq: int, heads: int, head_width: int) -> None:
    half = HALVES[name]
    cosine, sine = table(half, seq, head_width)
    gradients = [normal((heads, seq, head_width), half.wide, seed) for seed in (1, 2, 3)]
    packed = poisoned((seq, 3, heads * head_width), half.half)
    rope.inverse_rope(
        context(),
        qkv_gradient_half=packed,
        queries_gradient=gradients[0],
        keys_gradient=gradients[1],
        values_gradient=gradients[2],
        cosine=cosine,
        sine=sine,
        cg_heads=heads,
        cg_head_width=head_width,
    )
    tokens = [f64(gradient).transpose(1, 0, 2) for gradient in gradients]
    expected = [turned(tokens[0], -1), turned(tokens[1], -1), tokens[2]]
    for part in range(3):
        actual = packed[:, part].reshape(seq, heads, head_width)
        assert relative_error(actual, expected[part]) <= TOLERANCE[name] + half.half_unit


def test_far_positions_keep_their_angles() -> None:
    # An angle of 100,000 rounded to f32 would be off by 0.004.
    cosine, sine = table(HALVES["f32"], 100_001, 2)
    assert abs(float(cosine[-1, 0]) - np.cos(100_000.0)) <= 1e-7
    assert abs(float(sine[-1, 0]) - np.sin(100_000.0)) <= 1e-7

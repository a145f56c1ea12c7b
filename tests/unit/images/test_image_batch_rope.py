"""RoPE of a batch: every sequence as if it were alone, turned by complex numbers."""

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, context, f64, normal, poisoned, relative_error

from cgraph.images import rope

TOLERANCE = {"f32": 5e-7, "f64": 1e-14, "f16": 5e-7, "bf16": 5e-7}
# seq, batch, heads, headWidth
SIZES = [(1, 1, 1, 2), (1, 3, 2, 4), (7, 2, 3, 6), (35, 5, 1, 16)]


def table(half: Half, seq: int, head_width: int) -> tuple[Array, Array]:
    angle = np.arange(seq)[:, None] * 10000.0 ** (-2.0 * np.arange(head_width // 2) / head_width)
    return np.cos(angle).astype(half.wide), np.sin(angle).astype(half.wide)


def turned(tokens: Array, direction: int) -> Array:
    """Rotation by complex numbers: pairs (c, c + half) of tokens[s, b, h, d] as real and imaginary parts."""
    pairs = tokens.shape[-1] // 2
    angle = np.arange(len(tokens))[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    numbers = (tokens[..., :pairs] + 1j * tokens[..., pairs:]) * np.exp(direction * 1j * angle)[:, None, None]
    return np.concatenate([numbers.real, numbers.imag], axis=-1)


def by_head(tokens: Array) -> Array:
    """[seq, batch, heads, headWidth] as [batch · heads, seq, headWidth]."""
    seq, batch, heads, head_width = tokens.shape
    return tokens.transpose(1, 2, 0, 3).reshape(batch * heads, seq, head_width)


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "batch", "heads", "head_width"), SIZES)
def test_forward(name: str, seq: int, batch: int, heads: int, head_width: int) -> None:
    half = HALVES[name]
    qkv = normal((seq, batch, 3, heads * head_width), half.wide, 1)
    cosine, sine = table(half, seq, head_width)
    queries, keys = (poisoned((batch * heads, seq, head_width), half.half) for _ in range(2))
    values_t = poisoned((batch * heads, head_width, seq), half.half)
    rope.batch_rope(
        context(),
        queries=queries,
        keys=keys,
        values_t=values_t,
        qkv=qkv,
        cosine=cosine,
        sine=sine,
        batch=batch,
        cg_heads=heads,
        cg_head_width=head_width,
    )
    tokens = f64(qkv).reshape(seq, batch, 3, heads, head_width)
    tolerance = TOLERANCE[name] + half.half_unit
    assert relative_error(queries, by_head(turned(tokens[:, :, 0], 1))) <= tolerance
    assert relative_error(keys, by_head(turned(tokens[:, :, 1], 1))) <= tolerance
    values = by_head(tokens[:, :, 2]).transpose(0, 2, 1)
    assert np.array_equal(f64(values_t), f64(values.astype(half.half)))


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "batch", "heads", "head_width"), SIZES)
def test_inverse_turns_back_and_packs(name: str, seq: int, batch: int, heads: int, head_width: int) -> None:
    half = HALVES[name]
    cosine, sine = table(half, seq, head_width)
    gradients = [normal((batch * heads, seq, head_width), half.wide, seed) for seed in (1, 2, 3)]
    packed = poisoned((seq, batch, 3, heads * head_width), half.half)
    rope.batch_inverse_rope(
        context(),
        qkv_gradient_half=packed,
        queries_gradient=gradients[0],
        keys_gradient=gradients[1],
        values_gradient=gradients[2],
        cosine=cosine,
        sine=sine,
        batch=batch,
        cg_heads=heads,
        cg_head_width=head_width,
    )
    tokens = [f64(part).reshape(batch, heads, seq, head_width).transpose(2, 0, 1, 3) for part in gradients]
    expected = [turned(tokens[0], -1), turned(tokens[1], -1), tokens[2]]
    for part in range(3):
        actual = packed[:, :, part].reshape(seq, batch, heads, head_width)
        assert relative_error(actual, expected[part]) <= TOLERANCE[name] + half.half_unit

"""RoPE of one sequence, and of a batch as if every sequence were alone, turned by complex numbers."""

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, context, f64, normal, poisoned, relative_error

from cgraph.images import rope

TOLERANCE = {"f32": 5e-7, "f64": 1e-14, "f16": 5e-7, "bf16": 5e-7}
# seq, batch, heads, headWidth; without a batch it is the image for one sequence.
SIZES = [
    (1, None, 1, 2),
    (7, None, 3, 6),
    (301, None, 2, 16),
    (1, 1, 1, 2),
    (1, 3, 2, 4),
    (7, 2, 3, 6),
    (35, 5, 1, 16),
]


def table(half: Half, seq: int, head_width: int, base: float = 10000.0) -> tuple[Array, Array]:
    cosine, sine = (poisoned((seq, head_width // 2), half.wide) for _ in range(2))
    rope.rope_table(context(), cosine=cosine, sine=sine, rows=seq, base=base, cg_head_width=head_width)
    return cosine, sine


def forward(half: Half, qkv: Array, batch: int | None, heads: int, head_width: int) -> tuple[Array, Array, Array]:
    """Of qkv[s, 3, w], or [s, b, 3, w]."""
    seq, all_heads = len(qkv), heads * (batch or 1)
    cosine, sine = table(half, seq, head_width)
    queries, keys = (poisoned((all_heads, seq, head_width), half.half) for _ in range(2))
    values_t = poisoned((all_heads, head_width, seq), half.half)
    planes = {"queries": queries, "keys": keys, "values_t": values_t, "qkv": qkv, "cosine": cosine, "sine": sine}
    if batch is None:
        rope.rope(context(), **planes, cg_heads=heads, cg_head_width=head_width)
    else:
        rope.batch_rope(context(), **planes, batch=batch, cg_heads=heads, cg_head_width=head_width)
    return queries, keys, values_t


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


def test_values_computed_by_hand() -> None:
    qkv = np.zeros((2, 3, 4), np.float32)
    qkv[1, :2] = [1, 2, 3, 4]
    qkv[1, 2] = [5, 6, 7, 8]
    queries, keys, values_t = forward(HALVES["f32"], qkv, None, 1, 4)
    expected = [-1.98411, 1.95990, 2.46238, 4.01980]
    assert np.all(np.abs(queries[0, 1] - expected) <= 6e-6)
    assert np.all(np.abs(keys[0, 1] - expected) <= 6e-6)
    assert np.array_equal(values_t[0, :, 1], [5, 6, 7, 8])
    # Pairs of neighbours, by another order of the channels.
    qkv[1, :2] = [1, 3, 2, 4]
    queries, keys, _ = forward(HALVES["f32"], qkv, None, 1, 4)
    expected = [-1.14264, 2.95985, 1.92208, 4.02980]
    assert np.all(np.abs(queries[0, 1] - expected) <= 6e-6)
    assert np.all(np.abs(keys[0, 1] - expected) <= 6e-6)


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "batch", "heads", "head_width"), SIZES)
def test_forward(name: str, seq: int, batch: int | None, heads: int, head_width: int) -> None:
    half = HALVES[name]
    qkv = normal((seq, *([] if batch is None else [batch]), 3, heads * head_width), half.wide, 1)
    queries, keys, values_t = forward(half, qkv, batch, heads, head_width)
    tokens = f64(qkv).reshape(seq, batch or 1, 3, heads, head_width)
    tolerance = TOLERANCE[name] + half.half_unit
    assert relative_error(queries, by_head(turned(tokens[:, :, 0], 1))) <= tolerance
    assert relative_error(keys, by_head(turned(tokens[:, :, 1], 1))) <= tolerance
    values = by_head(tokens[:, :, 2]).transpose(0, 2, 1)
    assert np.array_equal(f64(values_t), f64(values.astype(half.half)))


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "batch", "heads", "head_width"), SIZES)
def test_inverse_turns_back_and_packs(name: str, seq: int, batch: int | None, heads: int, head_width: int) -> None:
    half, sequences = HALVES[name], batch or 1
    cosine, sine = table(half, seq, head_width)
    gradients = [normal((sequences * heads, seq, head_width), half.wide, seed) for seed in (1, 2, 3)]
    packed = poisoned((seq, *([] if batch is None else [batch]), 3, heads * head_width), half.half)
    planes = dict(zip(("queries_gradient", "keys_gradient", "values_gradient"), gradients, strict=True))
    planes |= {"qkv_gradient_half": packed, "cosine": cosine, "sine": sine}
    if batch is None:
        rope.inverse_rope(context(), **planes, cg_heads=heads, cg_head_width=head_width)
    else:
        rope.batch_inverse_rope(context(), **planes, batch=batch, cg_heads=heads, cg_head_width=head_width)
    tokens = [f64(part).reshape(sequences, heads, seq, head_width).transpose(2, 0, 1, 3) for part in gradients]
    expected = [turned(tokens[0], -1), turned(tokens[1], -1), tokens[2]]
    found = packed.reshape(seq, sequences, 3, heads, head_width)
    for part in range(3):
        assert relative_error(found[:, :, part], expected[part]) <= TOLERANCE[name] + half.half_unit


def test_far_positions_keep_their_angles() -> None:
    # An angle of 100,000 rounded to f32 would be off by 0.004.
    cosine, sine = table(HALVES["f32"], 100_001, 2)
    assert abs(float(cosine[-1, 0]) - np.cos(100_000.0)) <= 1e-7
    assert abs(float(sine[-1, 0]) - np.sin(100_000.0)) <= 1e-7

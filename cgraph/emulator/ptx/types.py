"""Types of PTX: their names, sizes and NumPy counterparts."""

import numpy as np

# Bytes of each type. A predicate has none in memory; in a register it is one NumPy bool.
SIZE_BYTES = {
    **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (8, 16, 32, 64)},
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "f16x2": 4,
    "bf16x2": 4,
    "tf32": 4,
    "pred": 1,
    **{f"{kind}16x2": 4 for kind in "us"},
}

# bf16 has no NumPy type: its bits are kept in u16, and its arithmetic widens them.
_DTYPES = {
    **{f"{kind}{bits}": f"{'i' if kind == 's' else 'u'}{bits // 8}" for kind in "bus" for bits in (8, 16, 32, 64)},
    "f16": "f2",
    "bf16": "u2",
    "f32": "f4",
    "f64": "f8",
    "f16x2": "u4",
    "bf16x2": "u4",
    "tf32": "u4",
    "pred": "?",
    **{f"{kind}16x2": "u4" for kind in "us"},
}
DTYPES: dict[str, np.dtype[np.generic]] = {name: np.dtype(code) for name, code in _DTYPES.items()}

REGISTER_TYPES = frozenset(
    {"pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64"}
    | {"f16x2", "bf16", "bf16x2"}
)


def is_float(name: str) -> bool:
    """Whether a constant of this type is a floating-point number."""
    return name in {"f16", "bf16", "f32", "f64", "f16x2", "bf16x2"}

"""Names for what the machine computes with: one NumPy array a register, one element a lane."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]

U8, U16, U32, U64 = (np.dtype(f"u{size}") for size in (1, 2, 4, 8))
S8, S16, S32, S64 = (np.dtype(f"i{size}") for size in (1, 2, 4, 8))
F16, F32, F64 = (np.dtype(f"f{size}") for size in (2, 4, 8))
BOOL = np.dtype(bool)
UNSIGNED = {1: U8, 2: U16, 4: U32, 8: U64}
SIGNED = {1: S8, 2: S16, 4: S32, 8: S64}

WARP_LANES = 32

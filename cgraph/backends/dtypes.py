"""The NumPy type of each element type."""

from typing import Any

import ml_dtypes
import numpy as np

from cgraph.core.elements import Element

DTYPES: dict[Element, np.dtype[Any]] = {
    Element.F16: np.dtype(np.float16),
    Element.BF16: np.dtype(ml_dtypes.bfloat16),
    Element.F32: np.dtype(np.float32),
    Element.F64: np.dtype(np.float64),
    Element.I32: np.dtype(np.int32),
}

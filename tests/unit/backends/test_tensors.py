"""Arrays as bytes of safetensors, and back."""

import ml_dtypes
import numpy as np
import pytest

from cgraph.backends.tensors import tensors_from_bytes, tensors_to_bytes, texts_from_bytes

DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8]


def test_arrays_come_back_in_the_order_of_their_names() -> None:
    arrays = {f"p {9 - index}": np.arange(6).reshape(2, 3).astype(dtype) for index, dtype in enumerate(DTYPES)}
    arrays["empty"] = np.zeros((0, 4), np.float32)
    arrays["turned"] = np.arange(6, dtype=np.float32).reshape(2, 3).T
    data = tensors_to_bytes(arrays)
    for _ in range(5):
        found = tensors_from_bytes(data)
        assert list(found) == sorted(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
    assert tensors_to_bytes(found) == data


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\xff" * 100, (2**62).to_bytes(8, "little") + b"{}"])
def test_bytes_that_are_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="header"):
        tensors_from_bytes(data)


def test_elements_that_no_plane_has() -> None:
    with pytest.raises(ValueError, match="planes hold F64"):
        tensors_from_bytes(tensors_to_bytes({"a": np.zeros(1, np.int8)}))


def test_texts_come_back() -> None:
    texts = {"format": "é", "": "x\n"}
    assert texts_from_bytes(tensors_to_bytes({"a": np.zeros(1)}, texts)) == texts
    assert texts_from_bytes(tensors_to_bytes({"a": np.zeros(1)}, {})) == {}
    assert texts_from_bytes(tensors_to_bytes({"a": np.zeros(1)})) == {}


def test_a_header_whose_texts_are_null_has_none() -> None:
    header = b'{"__metadata__":null}   '
    data = len(header).to_bytes(8, "little") + header
    assert tensors_from_bytes(data) == {}
    assert texts_from_bytes(data) == {}

"""Arrays that other libraries keep on a GPU, read through `__cuda_array_interface__` on the emulated driver."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from cuda.bindings import driver as cu
from numpy.typing import NDArray

from cgraph.backends.cuda.context import DeviceContext, open_context
from cgraph.diagnostics import ProblemsFound
from cgraph.models.backward import bert_backward
from cgraph.models.config import GptConfig
from cgraph.models.host_arrays import host_array
from tests.support.emulated import INSTALLATION, call
from tests.support.model_cases import random_weights

assert INSTALLATION is not None
CONFIG = GptConfig(vocab=7, context=4, width=4, heads=2, layers=1, ffn=3)
OPENED: list[tuple[DeviceContext, int]] = []


@pytest.fixture(autouse=True)
def _given_back() -> Iterator[None]:
    """A context that stays retained would keep a later test's failed kernel as its own error."""
    yield
    while OPENED:
        context, address = OPENED.pop()
        with context.current():
            cu.cuMemFree(address)
        context.close()


@frozen
class OnDevice:
    """Nothing but the interface."""

    __cuda_array_interface__: dict[str, Any]


def moved(array: NDArray[Any], **changes: Any) -> OnDevice:
    """The array in device memory of its own, which stays allocated until the test ends."""
    context = open_context(0, call)  # type: ignore[arg-type]  # it makes the same calls
    with context.current():
        address = int(call(cu.cuMemAlloc, max(1, array.nbytes)))
        if array.nbytes:
            call(cu.cuMemcpyHtoD, address, array.ctypes.data, array.nbytes)
    OPENED.append((context, address))
    interface = {"shape": array.shape, "typestr": array.dtype.str, "data": (address, False), "version": 3}
    return OnDevice({**interface, **changes})


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "?"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0, 4)])
def test_copies(shape: tuple[int, ...], dtype: str) -> None:
    array = (10 * np.random.default_rng(1).standard_normal(shape)).astype(dtype)
    for changes in ({}, {"stream": 1}, {"strides": None}, {"strides": array.strides}):
        found = host_array("x", moved(np.asarray(array), **changes))
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)


def test_a_model_whose_arrays_are_on_the_device() -> None:
    weights = random_weights(CONFIG, 1)
    given = (np.array([1, 2, 3]), np.array([2, 3, 4]), np.array([True, False, True]))
    loss, grads = bert_backward(CONFIG, weights, *given)
    found, others = bert_backward(CONFIG, {name: moved(array) for name, array in weights.items()}, *map(moved, given))
    assert found == loss
    for name, gradient in grads.named().items():
        assert np.array_equal(gradient, others.named()[name]), name


def test_values_on_the_device_are_checked_like_others() -> None:
    weights = random_weights(CONFIG, 1)
    given = {"ids": [1, 2, 3], "targets": [2, 3, 4], "mask": [True, False, True], "padding": [False, False, False]}
    for name, values, message in (
        ("ids", [1, 7, 3], r"^ids: expected 0 to 6, got 7 at \[1\]$"),
        ("ids", [1, 2, 3, 4, 5], "^ids: 5 tokens are more than the context of 4$"),
        ("targets", [2, 3], r"^targets: expected shape \[3\], as ids have, got \[2\]$"),
        ("mask", [True] * 4, r"^mask: expected shape \[3\], as ids have, got \[4\]$"),
        ("padding", [2, 0, 0], "^padding: expected booleans, or zeros and ones, got other integers$"),
    ):
        arguments = {key: moved(np.array(value)) for key, value in {**given, name: values}.items()}
        with pytest.raises(ValueError, match=message):
            bert_backward(CONFIG, weights, **arguments)
    with pytest.raises(ValueError, match=r"^head_b: expected shape \[7\], got \[6\]$"):
        bert_backward(CONFIG, {**weights, "head_b": moved(weights["head_b"][:-1])}, **given)


def test_what_cannot_be_read() -> None:
    array = np.zeros((4, 6), np.float32)
    with pytest.raises(ValueError, match="x: its elements on the GPU do not lie one after the other"):
        host_array("x", moved(array, strides=(48, 8)))
    with pytest.raises(ValueError, match="x: masked arrays on a GPU are not read"):
        host_array("x", moved(array, mask=moved(array)))


def test_an_address_that_is_none_is_the_drivers_problem() -> None:
    with pytest.raises(ProblemsFound) as stopped:
        host_array("x", moved(np.zeros(4), data=(12345, False)))
    assert [problem.code for problem in stopped.value.problems][-1] == "CG742"

import tracemalloc

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, complex_step_gradient, context, f64, normal, poisoned, relative_error

from cgraph.images import gelu

TOLERANCE = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-5, "bf16": 2e-5}


def tanh_gelu(x: Array) -> Array:
    result: Array = 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))
    return result


def forward(half: Half, gate: Array, up: Array) -> tuple[Array, Array]:
    activated, gated = poisoned(gate.shape, half.wide), poisoned(gate.shape, half.half)
    gelu.gated_gelu(context(), gelu=activated, gated_half=gated, up=up, gate=gate, n=gate.size)
    return activated, gated


def backward(half: Half, d_gated: Array, activated: Array, up: Array, gate: Array) -> tuple[Array, Array]:
    up_gradient, gate_gradient = poisoned(gate.shape, half.half), poisoned(gate.shape, half.half)
    gelu.gated_gelu_backward(
        context(),
        up_gradient_half=up_gradient,
        gate_gradient_half=gate_gradient,
        d_gated=d_gated,
        gelu=activated,
        up=up,
        gate=gate,
        n=gate.size,
    )
    return up_gradient, gate_gradient


def test_values_computed_by_hand() -> None:
    gate = np.array([-5, -2, -1, 0, 1, 2], np.float32)
    activated, gated = forward(HALVES["f32"], gate, np.full(6, 2.0, np.float32))
    # Rounded to the digits given; the erf form differs by 1e-4 and more.
    expected = [-2.292e-7, -0.0454023, -0.158808, 0, 0.841192, 1.954598]
    assert np.all(np.abs(activated - expected) <= [5e-11, 1e-7, 1e-6, 0, 1e-6, 1e-6])
    assert np.array_equal(gated, 2.0 * activated)


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("length", [1, 7, 70_001])
def test_forward(name: str, length: int) -> None:
    half = HALVES[name]
    gate, up = normal((length,), half.wide, 1, 3.0), normal((length,), half.wide, 2)
    activated, gated = forward(half, gate, up)
    expected = tanh_gelu(f64(gate))
    assert relative_error(activated, expected) <= TOLERANCE[name]
    assert relative_error(gated, expected * f64(up)) <= TOLERANCE[name] + half.half_unit


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("length", [1, 7, 301])
def test_backward(name: str, length: int) -> None:
    half = HALVES[name]
    gate, up, d_gated = (normal((length,), half.wide, seed, 2.0) for seed in (1, 2, 3))
    activated = tanh_gelu(f64(gate)).astype(half.wide)
    up_gradient, gate_gradient = backward(half, d_gated, activated, up, gate)
    expected = complex_step_gradient(tanh_gelu, f64(gate), f64(d_gated) * f64(up))
    assert relative_error(gate_gradient, expected) <= TOLERANCE[name] + half.half_unit
    assert relative_error(up_gradient, f64(d_gated) * f64(activated)) <= TOLERANCE[name] + half.half_unit


def test_backward_of_many_is_that_of_each() -> None:
    half = HALVES["f32"]
    gate, up, d_gated, activated = (normal((70_001,), half.wide, seed) for seed in (1, 2, 3, 4))
    _, gate_gradient = backward(half, d_gated, activated, up, gate)
    x = f64(gate)
    inner = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    slope = np.sqrt(2.0 / np.pi) * (1.0 + 3.0 * 0.044715 * x**2)
    derivative = 0.5 * (1.0 + np.tanh(inner)) + 0.5 * x * slope / np.cosh(inner) ** 2
    assert relative_error(gate_gradient, f64(d_gated) * f64(up) * derivative) <= 2e-5


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_far_from_zero(name: str) -> None:
    half = HALVES[name]
    gate = np.array([-1e30, -1e4, -100, -33, -20, 0, 20, 33, 100, 1e4, 1e30], half.wide)
    one = np.ones_like(gate)
    activated, gated = forward(half, gate, one)
    right = np.where(gate > 0, gate, 0)
    assert np.all(np.abs(activated - right) <= 1e-30)
    assert np.all(np.abs(gated - right) <= 1e-30)
    _, gate_gradient = backward(half, one, activated, one, gate)
    assert np.all(np.abs(gate_gradient - [0, 0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1]) <= 1e-30)


def test_a_second_call_allocates_nothing_of_the_planes_size() -> None:
    half = HALVES["f32"]
    planes = [normal((1_000_000,), half.wide, seed) for seed in range(6)]
    names = ("up_gradient_half", "gate_gradient_half", "d_gated", "gelu", "up", "gate")
    run = context()
    tracemalloc.start()
    gelu.gated_gelu_backward(run, **dict(zip(names, planes, strict=True)))
    before_bytes, _peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    gelu.gated_gelu_backward(run, **dict(zip(names, planes, strict=True)))
    _now, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes - before_bytes < 65536

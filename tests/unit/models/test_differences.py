"""Differences accept right gradients and show each kind of wrong one."""

import math

import numpy as np
import pytest
from attrs import asdict
from numpy.typing import NDArray

from cgraph.models.differences import GradientRow, check_gradient

Array = NDArray[np.float64]
RIGHT = 1e-8


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


INPUTS = {"x": drawn(6, 8), "weight": drawn(8, 8), "shift": np.zeros(8)}
DY = drawn(6, 8, seed=1)


def loss(planes: dict[str, Array]) -> float:
    """sum(dy · tanh(x · weightᵀ + shift))."""
    return float((DY * np.tanh(planes["x"] @ planes["weight"].T + planes["shift"])).sum())


def loss_gradients() -> dict[str, Array]:
    inner = DY * (1 - np.tanh(INPUTS["x"] @ INPUTS["weight"].T + INPUTS["shift"]) ** 2)
    return {"x": inner @ INPUTS["weight"], "weight": inner.T @ INPUTS["x"], "shift": inner.sum(axis=0)}


def row(name: str, gradient: Array, *, samples: int = 100, seed: int = 0) -> GradientRow:
    return check_gradient(loss, INPUTS, {name: gradient}, [name], samples=samples, seed=seed)[0]


@pytest.mark.parametrize("samples", [1, 10, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_right_gradients_pass(samples: int, seed: int) -> None:
    gradients = loss_gradients()
    rows = check_gradient(loss, INPUTS, gradients, ["weight", "x", "shift"], samples=samples, seed=seed)
    assert [found.name for found in rows] == ["weight", "x", "shift"]
    for found in rows:
        assert found.element_error <= RIGHT
        assert found.direction_error <= RIGHT
        assert 0 < found.resolution <= RIGHT
        assert found.finding == ""
        assert found.elements == gradients[found.name].size
        assert found.checked == min(samples, found.elements)
        assert found.norm == pytest.approx(float(np.linalg.norm(gradients[found.name])), rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_sign_shows(seed: int) -> None:
    found = row("x", -loss_gradients()["x"], seed=seed)
    assert found.element_error > 1
    assert found.direction_error > 0.01


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_a_factor_near_one_shows(factor: float, seed: int) -> None:
    found = row("weight", factor * loss_gradients()["weight"], seed=seed)
    assert found.element_error > 1e-3
    assert found.direction_error > 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_swapped_transposes_show(seed: int) -> None:
    found = row("weight", loss_gradients()["weight"].T, samples=5, seed=seed)
    assert found.element_error > 0.1
    assert found.direction_error > 0.01


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slip", [0.1, -1.0])
def test_one_wrong_element_of_a_big_plane_shows_along_the_direction(slip: float, seed: int) -> None:
    factor = drawn(400, 500)

    def big(planes: dict[str, Array]) -> float:
        return float((factor * np.sin(planes["x"])).sum())

    x = drawn(400, 500, seed=1)
    right = factor * np.cos(x)
    wrong = right.copy()
    wrong[123, 456] += slip
    errors = [
        check_gradient(big, {"x": x}, {"x": gradient}, ["x"], samples=3, seed=seed)[0] for gradient in (right, wrong)
    ]
    assert errors[0].direction_error <= RIGHT
    assert errors[1].element_error <= RIGHT
    assert errors[1].direction_error > 1e-5


def test_two_swapped_elements_do_not_cancel() -> None:
    right = loss_gradients()["shift"]
    swapped = right.copy()
    swapped[[2, 5]] = swapped[[5, 2]]
    for seed in range(20):
        assert row("shift", swapped, samples=1, seed=seed).direction_error > 1e-5


def test_a_gradient_that_is_truly_zero_passes() -> None:
    def ignores(planes: dict[str, Array]) -> float:
        # The softmax does not change when every score moves by the same amount.
        scores = planes["scores"] + planes["offset"]
        powers = np.exp(scores - scores.max())
        return float(1000 * (powers / powers.sum() * drawn(50)).sum())

    inputs = {"scores": drawn(50, seed=1), "offset": drawn(1)}
    found = check_gradient(ignores, inputs, {"offset": np.zeros(1)}, ["offset"], samples=9, seed=0)[0]
    assert found.element_error == 0
    assert found.direction_error == 0
    assert found.finding == "the gradient is zero everywhere"


@pytest.mark.parametrize("seed", range(3))
def test_noise_alone_is_no_error(seed: int) -> None:
    dy, x = drawn(200, 16), drawn(200, 16, seed=1)

    def normalised(planes: dict[str, Array]) -> float:
        # Moving a whole row changes nothing but the last bits.
        rows = x + planes["offset"][:, None]
        return float((dy * (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)).sum())

    inputs, gradients = {"offset": drawn(200, seed=2)}, {"offset": np.zeros(200)}
    found = check_gradient(normalised, inputs, gradients, ["offset"], samples=200, seed=seed)[0]
    assert found.element_error == found.direction_error == 0
    assert found.resolution > 1


def test_checked_elements_are_drawn_from_the_whole_plane() -> None:
    for half in (slice(0, 5000), slice(5000, 10_000)):
        gradient = np.ones(10_000)
        gradient[half] = 2
        found = check_gradient(
            lambda planes: float(planes["x"].sum()), {"x": drawn(10_000)}, {"x": gradient}, ["x"], samples=50, seed=0
        )[0]
        assert found.element_error > 0.1


def test_a_zero_gradient_that_should_not_be_zero_shows() -> None:
    found = row("x", np.zeros((6, 8)))
    assert found.element_error >= 1
    assert found.direction_error == pytest.approx(1, abs=1e-6)
    assert found.norm == 0
    assert found.finding == "the gradient is zero everywhere"


def test_a_gradient_below_the_noise_is_said_to_be() -> None:
    def swamped(planes: dict[str, Array]) -> float:
        return 1e9 + float(1e-9 * planes["x"].sum())

    found = check_gradient(swamped, {"x": drawn(4)}, {"x": np.full(4, 1e-9)}, ["x"], samples=4, seed=0)[0]
    assert found.finding == "the gradient is too small for differences to resolve"


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_errors_do_not_depend_on_the_scale_of_the_values(scale: float) -> None:
    x = scale * drawn(30)

    def scaled(planes: dict[str, Array]) -> float:
        return float(scale * np.sin(planes["x"] / scale).sum())

    right = np.cos(x / scale)
    for gradient, least, most in ((right, 0, RIGHT), (1.001 * right, 1e-3, 1e-2)):
        found = check_gradient(scaled, {"x": x}, {"x": gradient}, ["x"], samples=100, seed=0)[0]
        assert least <= found.element_error <= most


def test_a_function_in_single_precision() -> None:
    def single(planes: dict[str, Array]) -> float:
        x, weight = planes["x"].astype(np.float32), planes["weight"].astype(np.float32)
        return float((DY.astype(np.float32) * np.tanh(x @ weight.T)).sum())

    gradients = loss_gradients()
    right = check_gradient(single, INPUTS, gradients, ["x", "weight"], samples=99, seed=0, roundoff=2.0**-24)
    assert max(max(found.element_error, found.direction_error) for found in right) <= 1e-3
    wrong = {name: 1.02 * gradient for name, gradient in gradients.items()}
    for found in check_gradient(single, INPUTS, wrong, ["x", "weight"], samples=99, seed=0, roundoff=2.0**-24):
        assert found.element_error > 1e-2


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_is_said_to_be(value: float) -> None:
    gradient = loss_gradients()["x"]
    gradient[2, 3] = gradient[4, 1] = value
    found = row("x", gradient)
    assert found.finding == "the gradient is not finite at [2, 3], 2 of its 48 elements"
    assert found.element_error == found.direction_error == found.norm == math.inf


def test_a_function_that_is_not_finite_is_said_to_be() -> None:
    found = check_gradient(lambda _: math.nan, INPUTS, {"x": np.ones((6, 8))}, ["x"], samples=9, seed=0)[0]
    assert found.finding == "the function is not finite here"
    assert found.element_error == found.direction_error == math.inf


def test_a_function_that_is_not_finite_nearby_is_said_to_be() -> None:
    def edge(planes: dict[str, Array]) -> float:
        return math.inf if planes["x"][1] > 1 + 1e-6 else float(planes["x"].sum())

    found = check_gradient(edge, {"x": np.ones(3)}, {"x": np.ones(3)}, ["x"], samples=9, seed=0)[0]
    assert found.finding == "the function is not finite when the element at [1] moves"
    assert found.element_error == found.direction_error == math.inf
    for seed in range(20):
        unseen = check_gradient(edge, {"x": np.ones(3)}, {"x": np.ones(3)}, ["x"], samples=1, seed=seed)[0]
        assert "not finite when" in unseen.finding


def test_a_scalar_and_an_empty_plane() -> None:
    inputs = {"scalar": np.array(0.5), "empty": np.zeros((0, 3))}
    gradients = {"scalar": np.array(math.cos(0.5)), "empty": np.zeros((0, 3))}
    scalar, empty = check_gradient(
        lambda planes: math.sin(planes["scalar"]), inputs, gradients, ["scalar", "empty"], samples=9, seed=0
    )
    assert scalar.element_error <= RIGHT
    assert (scalar.elements, scalar.checked) == (1, 1)
    assert (empty.elements, empty.checked, empty.finding) == (0, 0, "the plane has no elements")


def test_same_seed_same_rows_and_inputs_are_left_alone() -> None:
    before = {name: plane.copy() for name, plane in INPUTS.items()}
    gradients = {name: gradient + 0.01 for name, gradient in loss_gradients().items()}
    rows = [
        [asdict(found) for found in check_gradient(loss, INPUTS, gradients, ["x", "weight"], samples=7, seed=seed)]
        for seed in (3, 3, 4)
    ]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]
    for name, plane in before.items():
        np.testing.assert_array_equal(INPUTS[name], plane)


def test_progress_counts_every_comparison() -> None:
    seen: list[tuple[str, int, int]] = []
    check_gradient(
        loss,
        INPUTS,
        loss_gradients(),
        ["shift", "x"],
        samples=8,
        seed=0,
        on_progress=lambda *step: seen.append(step),
    )
    assert seen == [(name, done, 9) for name in ("shift", "x") for done in range(1, 10)]


def test_names_what_is_wrong() -> None:
    right = loss_gradients()
    with pytest.raises(ValueError, match=r"^names: no input is called y"):
        check_gradient(loss, INPUTS, right, ["y"], samples=1, seed=0)
    with pytest.raises(ValueError, match=r"^gradients: none is given for x"):
        check_gradient(loss, INPUTS, {}, ["x"], samples=1, seed=0)
    with pytest.raises(ValueError, match=r"^gradients: x has shape \[8, 6\], its input \[6, 8\]"):
        check_gradient(loss, INPUTS, {"x": right["x"].T}, ["x"], samples=1, seed=0)
    with pytest.raises(ValueError, match=r"^samples: expected 1 or more, got 0"):
        check_gradient(loss, INPUTS, right, ["x"], samples=0, seed=0)
    with pytest.raises(ValueError, match=r"^roundoff: "):
        check_gradient(loss, INPUTS, right, ["x"], samples=1, seed=0, roundoff=0.0)

import numpy as np
import pytest
from image_cases import HALVES, Array, complex_step_gradient, context, f64, normal, poisoned, relative_error

from cgraph.images import loss

IGNORED = -1
TOLERANCE = {"f32": 2e-6, "f64": 1e-14}


def count_of(targets: Array, mask: Array | None, vocab: int) -> Array:
    count = np.full(1, -7, np.int32)
    loss.supervised_count(context(), count=count, targets=targets, mask=mask, rows=len(targets), vocab=vocab)
    return count


def differentiated(
    logits: Array, targets: Array, mask: Array | None = None, bias: Array | None = None, scale: float = 1.0
) -> tuple[float, Array, Array]:
    """The mean loss, each row's loss, and the logits' gradient."""
    rows, vocab = logits.shape
    gradient, losses, mean = logits.copy(), poisoned((rows,), logits.dtype), poisoned((1,), logits.dtype)
    count = count_of(targets, mask, vocab)
    bias = np.zeros(vocab, logits.dtype) if bias is None else bias
    common = {"targets": targets, "mask": mask, "bias": bias, "rows": rows, "vocab": vocab}
    loss.cross_entropy(
        context(), logits=gradient, losses=losses, count=count, scale=np.full(1, scale, logits.dtype), **common
    )
    loss.loss_mean(context(), loss=mean, losses=losses, count=count, rows=rows)
    again, kept = poisoned((rows,), logits.dtype), logits.copy()
    loss.cross_entropy_losses(context(), logits=kept, losses=again, **common)
    assert np.array_equal(again, losses)
    assert np.array_equal(kept, logits, equal_nan=True)
    return float(mean[0]), losses, gradient


def mean_loss(logits: Array, targets: Array, counting: Array) -> Array:
    """Dense and direct, real or complex."""
    log_sum = np.log(np.exp(logits - logits.real.max(axis=1, keepdims=True)).sum(axis=1))
    log_sum = log_sum + logits.real.max(axis=1)
    picked = logits[np.arange(len(logits)), np.maximum(targets, 0)]
    total: Array = ((log_sum - picked) * counting).sum() / max(counting.sum(), 1)
    return total


def test_values_computed_by_hand() -> None:
    logits = np.array([[2, 0, 0], [0, 1, 0], [0, 0, 3]], np.float32)
    mean, losses, gradient = differentiated(logits, np.array([0, IGNORED, 2], np.int32))
    assert abs(mean - 0.167234) <= 1e-6
    assert losses[1] == 0
    expected = [[-0.106507, 0.053253, 0.053253], [0, 0, 0], [0.022639, 0.022639, -0.045279]]
    assert np.all(np.abs(gradient - expected) <= 1e-6)


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("rows", "vocab"), [(1, 1), (1, 7), (5, 2), (33, 101)])
def test_loss_and_gradient(name: str, masked: bool, rows: int, vocab: int) -> None:
    wide = HALVES[name].wide
    logits, bias = normal((rows, vocab), wide, 1, 3.0), normal((vocab,), wide, 2)
    rng = np.random.default_rng(3)
    targets = rng.integers(-1, vocab, rows).astype(np.int32)
    mask = rng.integers(0, 2, rows).astype(np.int32) if masked else None
    targets[0] = vocab - 1
    if mask is not None:
        mask[0] = -5
    counting = (targets >= 0) if mask is None else (targets >= 0) & (mask != 0)
    mean, losses, gradient = differentiated(logits, targets, mask, bias)
    exact = f64(logits) + f64(bias)
    expected = float(mean_loss(exact, targets, counting))
    assert abs(mean - expected) <= TOLERANCE[name] * max(1, expected)
    assert not losses[~counting].any()
    assert not gradient[~counting].any()
    wanted = complex_step_gradient(lambda moved: mean_loss(moved, targets, counting), exact, np.array(1.0))
    if vocab > 1:
        assert relative_error(gradient, wanted) <= 10 * TOLERANCE[name]
    else:
        assert not gradient.any()


def test_the_scale_is_of_the_gradient_alone() -> None:
    logits, targets = normal((4, 5), np.dtype("f4"), 1), np.array([0, 1, IGNORED, 4], np.int32)
    plain, scaled = differentiated(logits, targets), differentiated(logits, targets, scale=1024.0)
    assert scaled[0] == plain[0]
    assert np.array_equal(scaled[2], 1024 * plain[2])
    never_set = differentiated(logits, targets, scale=0.0)
    assert np.array_equal(never_set[2], plain[2])


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e30])
def test_nothing_supervised_gives_zeros(value: float) -> None:
    logits = np.full((3, 4), value, np.float32)
    for targets, mask in (([-1, -1, -1], None), ([0, 1, 2], [0, 0, 0]), ([-1, 4, -(2**31)], [1, 1, 1])):
        given = None if mask is None else np.array(mask, np.int32)
        mean, losses, gradient = differentiated(logits, np.array(targets, np.int32), given)
        assert mean == 0
        assert not losses.any()
        assert not gradient.any()


def test_huge_logits_do_not_overflow() -> None:
    logits = np.array([[3e38, -3e38, 0], [-1e4, 1e4, 1e4]], np.float32)
    mean, _, gradient = differentiated(logits, np.array([0, 1], np.int32))
    assert abs(mean - np.log(2) / 2) <= 1e-6
    assert np.all(np.abs(gradient - [[0, 0, 0], [0, -0.25, 0.25]]) <= 1e-7)


def test_a_row_alone_does_not_change_with_its_neighbours() -> None:
    logits = normal((2000, 40), np.dtype("f4"), 1)
    targets = np.random.default_rng(2).integers(0, 40, 2000).astype(np.int32)
    _, losses, _ = differentiated(logits, targets)
    _, alone, _ = differentiated(logits[1234:1235], targets[1234:1235])
    assert losses[1234] == alone[0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_count(count: int) -> None:
    targets = np.full(9, IGNORED, np.int32)
    targets[:count] = 6
    assert count_of(targets, None, 7)[0] == count
    assert count_of(targets, np.zeros(9, np.int32), 7)[0] == 0
    assert count_of(targets, None, 6)[0] == 0

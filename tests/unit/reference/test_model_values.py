"""Seed 001's primitives and models: values worked out by hand, and properties that fix what a model computes."""

import math

import numpy as np
import pytest

from cgraph.reference.cross_entropy import (
    cross_entropy,
    cross_entropy_bwd,
    masked_cross_entropy,
    masked_cross_entropy_bwd,
)
from cgraph.reference.embedding import embedding, embedding_bwd
from cgraph.reference.model_parameters import (
    BlockParameters,
    ModelConfig,
    ModelParameters,
    parameters_from_named,
    random_parameters,
)
from cgraph.reference.primitives import gelu, gelu_bwd, layer_norm, layer_norm_bwd, linear, linear_bwd, softmax_bwd
from cgraph.reference.whole_model import bert_backward, bert_forward, gpt_backward, gpt_forward

LOGITS = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
ROWS = [[-0.106507, 0.053253, 0.053253], [0.0, 0.0, 0.0], [0.022639, 0.022639, -0.045279]]
CONFIG = ModelConfig(vocab=11, context=8, width=6, heads=3, layers=2, ffn=7)
WEIGHTS = random_parameters(np.random.default_rng(0), CONFIG)


def test_cross_entropy_is_the_mean_over_supervised_rows() -> None:
    loss, dlogits = cross_entropy_bwd(LOGITS, [0, -1, 2])
    assert loss == pytest.approx(0.167234, abs=5e-7)
    np.testing.assert_allclose(dlogits, ROWS, atol=6e-7)
    assert cross_entropy(LOGITS, [0, -1, 2]) == loss


def test_a_mask_and_an_ignored_target_mean_the_same() -> None:
    loss, dlogits = masked_cross_entropy_bwd(LOGITS, [0, 1, 2], [True, False, True])
    assert loss == pytest.approx(0.167234, abs=5e-7)
    np.testing.assert_allclose(dlogits, ROWS, atol=6e-7)
    assert masked_cross_entropy(LOGITS, [0, 1, 2], [True, False, True]) == loss
    both = masked_cross_entropy_bwd(LOGITS, [0, -1, 2], [True, True, False])
    assert both[0] == pytest.approx(math.log(1 + 2 * math.exp(-2)), rel=1e-14)
    assert not both[1][1:].any()


def test_nothing_supervised_costs_nothing() -> None:
    for loss, dlogits in (
        cross_entropy_bwd(LOGITS, [-1, -1, -1]),
        masked_cross_entropy_bwd(LOGITS, [0, 1, 2], [False] * 3),
        masked_cross_entropy_bwd(LOGITS, [-1, 1, -1], [True, False, True]),
    ):
        assert loss == 0.0
        np.testing.assert_array_equal(dlogits, np.zeros((3, 3)))


def test_cross_entropy_of_great_logits() -> None:
    loss, dlogits = cross_entropy_bwd([[1e4, -1e4], [1e300, 1e300]], [1, 0])
    assert loss == pytest.approx((2e4 + math.log(2)) / 2, rel=1e-15)
    np.testing.assert_allclose(dlogits, [[0.5, -0.5], [-0.25, 0.25]], atol=1e-15)


def test_embedding_adds_up_repeated_ids() -> None:
    dtable = embedding_bwd([1, 1, 2, 1, 1, 2], np.ones((6, 3)), 4)
    np.testing.assert_array_equal(dtable, [[0] * 3, [4] * 3, [2] * 3, [0] * 3])
    np.testing.assert_array_equal(embedding([[1.0, 2.0], [3.0, 4.0]], [1, 0, 1]), [[3, 4], [1, 2], [3, 4]])


def test_linear_worked_out_by_hand() -> None:
    x, w = [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]]
    np.testing.assert_array_equal(linear(x, w, [10.0, 20.0, 30.0]), [[11, 26, 33], [13, 32, 37]])
    dx, dw, db = linear_bwd(x, w, [[1.0, 1.0, 2.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(dx, [[3, 5], [0, 3]])
    np.testing.assert_array_equal(dw, [[1, 2], [4, 6], [2, 4]])
    np.testing.assert_array_equal(db, [1, 2, 2])


def test_layer_norm_worked_out_by_hand() -> None:
    # Mean 3, deviations -2 -1 3, variance 14/3, with epsilon 5.
    x, gamma, beta, root = [[1.0, 2.0, 6.0]], [1.0, 2.0, 1.0], [0.0, 0.0, 10.0], math.sqrt(5)
    np.testing.assert_allclose(layer_norm(x, gamma, beta, 1 / 3), [[-2 / root, -2 / root, 10 + 3 / root]], rtol=1e-15)
    # dy · gamma = (0, 2, 0): mean 2/3; times n = (-2, -1, 3)/√5: mean -2/(3√5).
    dx, dgamma, dbeta = layer_norm_bwd(x, gamma, beta, 1 / 3, [[0.0, 1.0, 0.0]])
    by_hand = [(-2 / 3 - 4 / 15) / root, (4 / 3 - 2 / 15) / root, (-2 / 3 + 6 / 15) / root]
    np.testing.assert_allclose(dx, [by_hand], rtol=1e-14)
    np.testing.assert_allclose(dgamma, [0, -1 / root, 0], rtol=1e-15)
    np.testing.assert_array_equal(dbeta, [0, 1, 0])


def test_gelu_is_the_tanh_form_unless_said_otherwise() -> None:
    np.testing.assert_allclose(gelu([-1.0, 2.0]), [-0.158808, 1.954598], atol=6e-7)
    np.testing.assert_allclose(gelu([-1.0, 2.0], "erf"), [-0.158655, 1.954500], atol=6e-7)
    # gelu'(1) of the erf form is Φ(1) + φ(1).
    np.testing.assert_allclose(gelu_bwd([1.0], [2.0], "erf"), [2 * (0.8413447461 + 0.2419707245)], rtol=1e-9)
    assert abs(gelu_bwd([1.0], [1.0])[0] - gelu_bwd([1.0], [1.0], "erf")[0]) > 1e-5


def test_softmax_gradient_worked_out_by_hand() -> None:
    np.testing.assert_allclose(softmax_bwd([[0.25, 0.75]], [[4.0, 0.0]]), [[0.75, -0.75]], rtol=1e-15)


def model_by_hand() -> tuple[ModelConfig, ModelParameters]:
    """One token, width 2, one head: wte + wpe = (1, 3).

    Its norm at epsilon 0 is (-1, 1). The token attends to itself: context = value = (-1, 1), projection (0, 4), whose
    norm is (-1, 1). Hidden 1·1 + 1 = 2, activated gelu(2); y = (gelu(2), 5), of norm (-1, 1); with gamma (2, 1) and
    beta (0, 3): (-2, 4). Logits: (-2 + 2, 4 - 2) = (0, 2).
    """
    identity, one, zero = np.eye(2), np.ones(2), np.zeros(2)
    block = BlockParameters(
        attn_wq=7 * identity, attn_wk=5 * identity, attn_wv=identity, attn_wo=identity,
        attn_ln_gamma=one, attn_ln_beta=zero, ffn_ln_gamma=one, ffn_ln_beta=zero,
        ffn_w1=np.array([[0.0, 1.0]]), ffn_b1=one[:1], ffn_w2=np.array([[1.0], [0.0]]), ffn_b2=np.array([0.0, 1.0]),
    )  # fmt: skip
    model = ModelParameters(
        wte=np.array([[9.0, 9.0], [1.0, 2.0]]),
        wpe=np.array([[0.0, 1.0]]),
        blocks=(block,),
        ln_gamma=np.array([2.0, 1.0]),
        ln_beta=np.array([0.0, 3.0]),
        head=identity,
        head_b=np.array([2.0, -2.0]),
    )
    return ModelConfig(vocab=2, context=1, width=2, heads=1, layers=1, ffn=1, epsilon=0.0), model


def test_model_of_one_token_worked_out_by_hand() -> None:
    config, model = model_by_hand()
    np.testing.assert_allclose(gpt_forward(config, model, [1]), [[0, 2]], atol=1e-14)
    loss, grads = gpt_backward(config, model, [1], [0])
    assert loss == pytest.approx(math.log(1 + math.exp(2)), rel=1e-14)
    p = 1 / (1 + math.exp(-2))
    np.testing.assert_allclose(grads.head_b, [-p, p], rtol=1e-13)
    np.testing.assert_allclose(grads.head, [[2 * p, -4 * p], [-2 * p, 4 * p]], rtol=1e-13)
    np.testing.assert_allclose(grads.ln_beta, [-p, p], rtol=1e-13)
    np.testing.assert_allclose(grads.ln_gamma, [p, p], rtol=1e-13)
    # A norm of two channels is (-1, 1) whatever they are, so nothing below the last norm matters.
    below = ("wte", "wpe", "blocks.0.ffn_w2", "blocks.0.ffn_b1", "blocks.0.attn_wv", "blocks.0.attn_wo")
    assert all(np.abs(grads.named()[name]).max() < 1e-14 for name in below)
    other, _ = bert_backward(config, model, [1], [0], [True])
    assert other == loss


def test_gpt_sees_no_later_token_and_bert_sees_all() -> None:
    ids, changed = [3, 1, 4, 1, 5], [3, 1, 4, 9, 5]
    before, after = (gpt_forward(CONFIG, WEIGHTS, tokens) for tokens in (ids, changed))
    np.testing.assert_array_equal(before[:3], after[:3])
    assert np.abs(before[3:] - after[3:]).max(axis=1).min() > 1e-3
    before, after = (bert_forward(CONFIG, WEIGHTS, tokens) for tokens in (ids, changed))
    assert np.abs(before - after).max(axis=1).min() > 1e-3


def test_positions_count() -> None:
    logits = bert_forward(CONFIG, WEIGHTS, [3, 3, 3])
    assert np.abs(logits[0] - logits[1]).max() > 1e-2


def test_a_batch_is_the_mean_over_all_its_supervised_positions() -> None:
    ids, targets = np.array([[1, 2, 3], [4, 5, 1]]), np.array([[2, 3, 4], [5, -1, -1]])
    loss, grads = gpt_backward(CONFIG, WEIGHTS, ids, targets)
    alone = [gpt_backward(CONFIG, WEIGHTS, row, of_row) for row, of_row in zip(ids, targets, strict=True)]
    assert loss == pytest.approx((3 * alone[0][0] + alone[1][0]) / 4, rel=1e-13)
    for name, array in grads.named().items():
        np.testing.assert_allclose(
            array, (3 * alone[0][1].named()[name] + alone[1][1].named()[name]) / 4, atol=1e-13, err_msg=name
        )


@pytest.mark.parametrize("filler", [0, 7])
def test_padding_at_the_end_leaves_no_trace(filler: int) -> None:
    short, targets, mask = [3, 1, 4], [1, 4, 2], [True, False, True]
    ids, padding = [*short, filler, filler], [False] * 3 + [True] * 2
    loss, grads = bert_backward(CONFIG, WEIGHTS, ids, [*targets, 0, 0], [*mask, False, False], padding=padding)
    expected, of_short = bert_backward(CONFIG, WEIGHTS, short, targets, mask)
    assert loss == pytest.approx(expected, rel=1e-14)
    for name, array in grads.named().items():
        np.testing.assert_allclose(array, of_short.named()[name], atol=1e-14, err_msg=name)
    unmarked, _ = bert_backward(CONFIG, WEIGHTS, ids, [*targets, 0, 0], [*mask, False, False])
    assert abs(unmarked - expected) > 1e-4


@pytest.mark.parametrize("causal", [True, False])
def test_tokens_that_see_nothing_get_finite_gradients(*, causal: bool) -> None:
    ids, targets = np.array([[3, 1, 4], [1, 5, 9]]), np.array([[1, 4, 2], [5, 9, 2]])
    padding = np.array([[True, True, True], [True, False, False]])
    if causal:
        loss, grads = gpt_backward(CONFIG, WEIGHTS, ids, targets, padding=padding)
        logits = gpt_forward(CONFIG, WEIGHTS, ids, padding=padding)
    else:
        loss, grads = bert_backward(CONFIG, WEIGHTS, ids, targets, targets > 0, padding=padding)
        logits = bert_forward(CONFIG, WEIGHTS, ids, padding=padding)
    assert math.isfinite(loss)
    assert all(np.isfinite(array).all() for array in grads.named().values())
    # Without attention a token's logits are those that it has where the attention writes nothing.
    mute = {name: np.zeros_like(array) if "attn_wo" in name else array for name, array in WEIGHTS.named().items()}
    silent = gpt_forward(CONFIG, parameters_from_named(CONFIG, mute), ids)
    np.testing.assert_allclose(logits[0], silent[0], atol=1e-13)
    assert np.abs(logits[1, 1:] - silent[1, 1:]).max() > 1e-3


def test_a_model_that_nothing_supervises_has_no_gradient() -> None:
    ids = [[3, 1, 4], [1, 5, 9]]
    nothing = np.full((2, 3), -1)
    for loss, grads in (
        gpt_backward(CONFIG, WEIGHTS, ids, nothing),
        bert_backward(CONFIG, WEIGHTS, ids, ids, np.zeros((2, 3), dtype=np.bool_)),
        bert_backward(CONFIG, WEIGHTS, ids, nothing, np.ones((2, 3), dtype=np.bool_)),
    ):
        assert loss == 0.0
        assert not any(array.any() for array in grads.named().values())


def test_embeddings_that_no_token_reads_have_no_gradient() -> None:
    _, grads = gpt_backward(CONFIG, WEIGHTS, [3, 1, 3], [1, 3, 2])
    assert np.flatnonzero(np.abs(grads.wte).max(axis=1)).tolist() == [1, 3]
    assert np.flatnonzero(np.abs(grads.wpe).max(axis=1)).tolist() == [0, 1, 2]
    assert not (grads.wte.sum(axis=0) - grads.wpe.sum(axis=0)).round(13).any()

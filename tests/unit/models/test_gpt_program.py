"""gpt_backward and bert_backward on the host against the float64 reference; bits, arguments, and what is kept."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from attrs import asdict, evolve

from cgraph.backends.devices import HOST
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.models.backward import bert_backward, gpt_backward
from cgraph.models.gpt import Gpt
from cgraph.models.gpt_program import MOST_KEPT, ProgramKey, plane_names, prepared_program
from cgraph.models.token_inputs import token_inputs
from cgraph.reference import whole_model
from cgraph.reference.bounds import gradient_bound
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named
from cgraph.schedule.model import Order
from tests.support.model_cases import CASES, SUPERVISED, Array, Case, Drawn, backward, check, draw, random_weights

SMALL = Case(layers=2, heads=2, vocab=11, batch=2, seq=6)
GIVEN: dict[str, Any] = {"ids": [1, 2, 3], "targets": [2, 3, 4], "mask": [True, False, True]}


def expected_of(case: Case, weights: dict[str, Array], drawn: Drawn, *, causal: bool) -> tuple[float, dict[str, Array]]:
    config = ModelConfig(**asdict(case.config))
    parameters = parameters_from_named(config, weights)
    if causal:
        loss, gradients = whole_model.gpt_backward(config, parameters, drawn.ids, drawn.counted, padding=drawn.padding)
    else:
        loss, gradients = whole_model.bert_backward(
            config, parameters, drawn.ids, drawn.targets, drawn.mask, padding=drawn.padding
        )
    return loss, gradients.named()


@pytest.mark.parametrize("half", ["f64", "f32"])
@pytest.mark.parametrize("supervised", SUPERVISED)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_loss_and_every_gradient(name: str, causal: bool, supervised: str, half: str) -> None:
    case = CASES[name]
    weights, drawn = random_weights(case.config, 1), draw(case, supervised)
    found = backward(case, weights, drawn, causal=causal, half=half)
    if supervised == "none":
        assert found[0] == 0
        assert not any(gradient.any() for gradient in found[1].values())
    check(half, found, expected_of(case, weights, drawn, causal=causal))


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize("causal", [True, False])
def test_rounded_products_stay_within_the_layers_bound(causal: bool, half: Any) -> None:
    case = Case(layers=2, heads=2, head_width=8, ffn=32, vocab=61, context=33, seq=33, batch=2, padded=(0, 4))
    weights, drawn = random_weights(case.config, 1), draw(case, "some")
    found = backward(case, weights, drawn, causal=causal, half=half)
    expected = expected_of(case, weights, drawn, causal=causal)
    bound = gradient_bound(half, seq=66, width=16, ffn=32, layers=2)
    assert abs(found[0] - expected[0]) <= bound * expected[0]
    for name, gradient in expected[1].items():
        assert found[1][name].dtype == np.float32
        error = np.linalg.norm(found[1][name] - gradient) / np.linalg.norm(gradient)
        assert error <= bound, name


def test_f16_keeps_gradients_that_it_cannot_hold() -> None:
    # Each logit's gradient is about 1/(vocab · tokens): most would be 0 in f16, whose smallest number is 6e-8.
    case = Case(vocab=4001, context=256, seq=256, batch=8, head_width=8, ffn=8)
    weights, drawn = random_weights(case.config, 1), draw(case, "all")
    _, found = backward(case, weights, drawn, causal=True, half="f16")
    _, exact = backward(case, weights, drawn, causal=True, half="f64")
    for name in ("wte", "head", "blocks.0.ffn_w1"):
        assert np.linalg.norm(found[name] - exact[name]) <= 0.01 * np.linalg.norm(exact[name]), name


@pytest.mark.parametrize("half", [Element.F64, Element.F32, Element.F16])
@pytest.mark.parametrize("program", ["gpt", "bert"])
@pytest.mark.parametrize("recompute", [False, True])
def test_every_order_every_run_and_both_ways_of_keeping_give_the_same_bits(
    program: str, half: Element, recompute: bool
) -> None:
    case = CASES["padding at the start"]
    drawn = draw(case, "some")
    inputs = token_inputs(case.config, drawn.ids, drawn.targets, mask=drawn.mask, padding=drawn.padding)
    names = plane_names(case.config)
    dtype = np.float64 if half is Element.F64 else np.float32
    planes: dict[str, Any] = {
        names[name][0]: array.astype(dtype) for name, array in random_weights(case.config, 1).items()
    }
    planes |= {"cgTokenIds": inputs.ids, "cgTargets": inputs.targets, "cgPresent": inputs.present}
    if program == "bert":
        planes["cgSupervised"] = inputs.supervised
    key = ProgramKey(program, case.config, case.seq, case.batch, True, recompute, 1.0, half, HOST)
    results = {name: gradient for name, (_, gradient) in names.items()}
    kept = prepared_program(evolve(key, recompute=False)).run(planes, results)
    for order in Order:
        prepared = prepared_program(evolve(key, order=order))
        for _ in range(2):
            loss, gradients = prepared.run(planes, results)
            assert loss == kept[0]
            for name, gradient in gradients.items():
                assert gradient.tobytes() == kept[1][name].tobytes(), name


def test_what_is_built_is_kept_and_bounded() -> None:
    prepared_program.cache_clear()
    weights, drawn = random_weights(SMALL.config, 1), draw(SMALL, "some")
    first = backward(SMALL, weights, drawn, causal=True, half="f32")
    again = backward(SMALL, weights, drawn, causal=True, half="f32")
    assert (prepared_program.cache_info().misses, prepared_program.cache_info().hits) == (1, 1)
    other = random_weights(SMALL.config, 2)
    assert backward(SMALL, other, drawn, causal=True, half="f32")[0] != first[0]
    assert first[0] == again[0]
    for name, gradient in first[1].items():
        assert gradient.tobytes() == again[1][name].tobytes(), name
    for seq in range(1, 3 + MOST_KEPT):
        short = evolve(drawn, **{name: getattr(drawn, name)[:, :seq] for name in ("ids", "counted")})
        backward(SMALL, weights, short, causal=True, half="f32")
    assert prepared_program.cache_info().currsize == MOST_KEPT


def test_results_do_not_change_with_later_calls() -> None:
    drawn = draw(SMALL, "some")
    _, first = backward(SMALL, random_weights(SMALL.config, 1), drawn, causal=True, half="f32")
    copies = {name: gradient.copy() for name, gradient in first.items()}
    backward(SMALL, random_weights(SMALL.config, 2), drawn, causal=True, half="f32")
    assert all(np.array_equal(gradient, copies[name]) for name, gradient in first.items())


def test_several_threads() -> None:
    drawn = draw(SMALL, "some")
    weights = [random_weights(SMALL.config, seed) for seed in range(4)]
    alone = [backward(SMALL, given, drawn, causal=True, half="f32")[0] for given in weights]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda given: backward(SMALL, given, drawn, causal=True, half="f32")[0], weights * 3)
        assert list(together) == alone * 3


def test_one_sequence_is_a_batch_of_one() -> None:
    weights = random_weights(SMALL.config, 1)
    alone = bert_backward(SMALL.config, weights, **GIVEN)
    batched: dict[str, Any] = {name: [values] for name, values in GIVEN.items()}
    batch = bert_backward(SMALL.config, weights, **batched)
    assert alone[0] == batch[0]
    for name, gradient in alone[1].named().items():
        assert np.array_equal(gradient, batch[1].named()[name]), name


def test_padding_does_not_change_what_the_other_sequence_learns() -> None:
    weights, config = random_weights(SMALL.config, 1), SMALL.config
    alone = gpt_backward(config, weights, [5, 6, 7], [6, 7, 8], half="f64")
    ids, targets = [[5, 6, 7, 0], [0, 0, 0, 0]], [[6, 7, 8, -1], [-1, -1, -1, -1]]
    padding = [[False, False, False, True], [True] * 4]
    for given in (None, padding):
        loss, grads = gpt_backward(config, weights, ids, targets, padding=given, half="f64")
        check("f64", (loss, grads.named()), (alone[0], alone[1].named()))


def test_no_padding_at_all_is_no_padding() -> None:
    prepared_program.cache_clear()
    weights = random_weights(SMALL.config, 1)
    gpt_backward(SMALL.config, weights, [1, 2], [2, 3])
    gpt_backward(SMALL.config, weights, [1, 2], [2, 3], padding=[False, False])
    assert prepared_program.cache_info().currsize == 1


class Foreign:
    """Another library's array: nothing but the DLPack protocol."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._array.__dlpack_device__()
        return device


def test_arrays_of_other_libraries() -> None:
    weights = random_weights(SMALL.config, 1)
    expected = bert_backward(SMALL.config, Gpt.from_named(SMALL.config, weights), **GIVEN)
    found = bert_backward(
        SMALL.config,
        {name: Foreign(array) for name, array in weights.items()},
        Foreign(np.array(GIVEN["ids"], np.int64)),
        Foreign(np.array(GIVEN["targets"], np.int16)),
        Foreign(np.array(GIVEN["mask"], np.uint8)),
    )
    assert found[0] == expected[0]
    for name, gradient in expected[1].named().items():
        assert np.array_equal(gradient, found[1].named()[name]), name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": [1, 2, 11]}, "ids: expected 0 to 10, got 11 at [2]"),
        ({"ids": [[1, -1, 3]]}, "ids: expected 0 to 10, got -1 at [0, 1]"),
        ({"ids": []}, "ids: expected one token or more, got shape [0]"),
        ({"ids": [[], []]}, "ids: expected one token or more, got shape [2, 0]"),
        ({"ids": 3}, "ids: expected shape [seq] or [batch, seq], got []"),
        ({"ids": [[[1, 2, 3]]]}, "ids: expected shape [seq] or [batch, seq], got [1, 1, 3]"),
        ({"ids": [1.0, 2.0, 3.0]}, "ids: expected integers, got float64"),
        ({"ids": [[1, 2], [3]]}, "ids: list cannot be read as an array"),
        ({"ids": list(range(10))}, "ids: 10 tokens are more than the context of 9"),
        ({"ids": "abc"}, "ids: expected integers, got <U3"),
        ({"targets": [2, 3]}, "targets: expected shape [3], as ids have, got [2]"),
        ({"targets": [2, 3, 11]}, "targets: expected -1 to 10, got 11 at [2]"),
        ({"targets": [2, -2, 3]}, "targets: expected -1 to 10, got -2 at [1]"),
        ({"mask": [True, False]}, "mask: expected shape [3], as ids have, got [2]"),
        ({"mask": [0.5, 1.0, 0.0]}, "mask: expected booleans, got float64"),
        ({"mask": [0, 2, 1]}, "mask: expected booleans, or zeros and ones, got other integers"),
        ({"mask": None}, "mask: expected booleans in the shape of ids, got None"),
        ({"padding": [[True] * 3]}, "padding: expected shape [3], as ids have, got [1, 3]"),
        ({"half": "f8"}, "half: expected f32, f16, bf16, f64, got 'f8'"),
        ({"device": "gpu"}, "`gpu` is no device"),
    ],
)
def test_wrong_arguments(change: dict[str, Any], message: str) -> None:
    weights = random_weights(SMALL.config, 1)
    with pytest.raises(ValueError) as stopped:  # noqa: PT011  (the message is compared below)
        bert_backward(SMALL.config, weights, **{**GIVEN, **change})
    assert message in str(stopped.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": [1, 11, 3]}, "ids: expected 0 to 10, got 11 at [1]"),
        ({"ids": []}, "ids: expected one token or more, got shape [0]"),
        ({"ids": list(range(10))}, "ids: 10 tokens are more than the context of 9"),
        ({"ids": [1, 2]}, "targets: expected shape [2], as ids have, got [3]"),
        ({"targets": []}, "targets: expected shape [3], as ids have, got [0]"),
        ({"targets": [2, 3, 11]}, "targets: expected -1 to 10, got 11 at [2]"),
        ({"padding": [True, False]}, "padding: expected shape [3], as ids have, got [2]"),
        ({"padding": []}, "padding: expected shape [3], as ids have, got [0]"),
        ({"padding": [0.0, 1.0, 0.0]}, "padding: expected booleans, got float64"),
    ],
)
@pytest.mark.parametrize("foreign", [False, True])
def test_wrong_arguments_of_gpt(change: dict[str, Any], message: str, foreign: bool) -> None:
    before = prepared_program.cache_info().misses
    given: dict[str, Any] = {"ids": GIVEN["ids"], "targets": GIVEN["targets"], **change}
    if foreign:
        given = {name: Foreign(np.array(values, None if values else np.int64)) for name, values in given.items()}
    with pytest.raises(ValueError) as stopped:  # noqa: PT011  (the message is compared below)
        gpt_backward(SMALL.config, random_weights(SMALL.config, 1), **given)
    assert str(stopped.value) == message
    assert prepared_program.cache_info().misses == before


def test_weights_that_do_not_fit() -> None:
    weights = random_weights(SMALL.config, 1)
    wider = Gpt.from_named(evolve(SMALL.config, ffn=6), random_weights(evolve(SMALL.config, ffn=6), 1))
    for given, message in (
        (wider, r"blocks\.0\.ffn_w1: expected shape \[5, 8\], got \[6, 8\]"),
        ({**weights, "head_b": weights["head_b"][:-1]}, r"head_b: expected shape \[11\], got \[10\]"),
        ({name: array for name, array in weights.items() if name != "wpe"}, "wpe: missing"),
        ([weights], "gpt: expected a Gpt or a mapping of names to arrays, got list"),
    ):
        with pytest.raises(ValueError, match=message):
            gpt_backward(SMALL.config, given, [1, 2], [2, 3])  # type: ignore[arg-type]  # that is the point


def test_sizes_beyond_a_grid_are_a_problem() -> None:
    config = evolve(SMALL.config, heads=8)
    with pytest.raises(ProblemsFound) as stopped:
        gpt_backward(config, random_weights(config, 1), np.zeros((8192, 1), int), np.zeros((8192, 1), int))
    assert {problem.code for problem in stopped.value.problems} == {"CG508"}

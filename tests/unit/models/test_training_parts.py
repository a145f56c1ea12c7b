"""Learning rates, first weights, samples and settings: by hand, and by the laws of what is drawn."""

import math
from typing import Any

import numpy as np
import pytest
from attrs import define, evolve, field
from numpy.typing import NDArray

from cgraph.cli.train_setup import new_settings
from cgraph.core.elements import Element
from cgraph.models.training.first_weights import first_weights
from cgraph.models.training.learning_rates import learning_rate
from cgraph.models.training.sampling import Sampling, choose, sample
from cgraph.models.training.settings import settings_data, settings_from
from tests.support.training_graphs import training_graph, weight

SETTINGS = new_settings({"steps": 100}, {})


def test_the_rate_rises_in_equal_parts_and_falls_along_half_a_cosine() -> None:
    settings = evolve(SETTINGS, learning_rate=2.0, warmup_steps=4, steps=14)
    rates = [learning_rate(settings, step) for step in range(14)]
    assert rates[:5] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0])
    assert rates[9] == pytest.approx((2.0 + 0.2) / 2)  # half way
    assert rates[4:] == sorted(rates[4:], reverse=True)
    assert 0.2 < rates[13] < 0.3
    assert learning_rate(settings, 14) == pytest.approx(0.2)


def test_a_constant_rate_stays() -> None:
    settings = evolve(SETTINGS, learning_rate=0.5, warmup_steps=2, schedule="constant")
    assert [learning_rate(settings, step) for step in (0, 1, 2, 50, 99)] == [0.25, 0.5, 0.5, 0.5, 0.5]


def test_a_warm_up_longer_than_the_run() -> None:
    settings = evolve(SETTINGS, learning_rate=1.0, warmup_steps=200, steps=100)
    assert learning_rate(settings, 99) == 0.5


def test_first_weights_follow_the_rules() -> None:
    planes = (
        *(weight(f"{name} {layer}", (300, 200)) for layer in range(3) for name in ("cgOutputWeight", "cgDownWeight")),
        *(weight(name, (300, 200)) for name in ("cgQueryWeight 0", "cgTokenEmbedding", "cgLogitWeight")),
        *(weight(name, (50,)) for name in ("cgNorm1Gain 0", "cgFinalNormGain", "cgNorm1Shift 0", "cgLogitBias")),
    )
    weights = first_weights(training_graph(planes), 7)
    for name, values in weights.items():
        assert values.dtype == np.float32
        if values.ndim == 1:
            assert (values == (1 if "Gain" in name else 0)).all()
            continue
        residual = "Output" in name or "Down" in name
        deviation = 0.02 / math.sqrt(6) if residual else 0.02
        # 60,000 draws: their deviation is known to 1/sqrt(120,000), their mean to 1/sqrt(60,000); 6 times that.
        assert values.std() == pytest.approx(deviation, rel=6 / math.sqrt(120_000))
        assert abs(values.mean()) < 6 * deviation / math.sqrt(60_000)
    matrices = [values.tobytes() for values in weights.values() if values.ndim == 2]
    assert len(set(matrices)) == len(matrices)


def test_first_weights_depend_on_name_and_seed_alone() -> None:
    one = first_weights(training_graph((weight("a", (4, 5)), weight("b", (4, 5)))), 1)
    other = first_weights(training_graph((weight("b", (4, 5)),), half=Element.F64), 1)
    assert one["b"].tobytes() == other["b"].astype(np.float32).tobytes()
    assert one["b"].tobytes() != first_weights(training_graph((weight("b", (4, 5)),)), 2)["b"].tobytes()


def test_a_token_is_chosen_out_of_its_distribution() -> None:
    logits = np.log([0.5, 0.125, 0.375])
    draws = {0.0: 0, 0.49: 0, 0.51: 1, 0.62: 1, 0.63: 2, 0.999: 2}
    assert {number: choose(logits, 1.0, number) for number in draws} == draws
    assert choose(logits, 0.5, 0.24 / 0.40625) == 0  # squares: 0.25, 0.015625, 0.140625
    assert choose(logits, 0.5, 0.26 / 0.40625) == 1
    assert [choose(logits, 0.0, number) for number in (0.0, 0.999)] == [0, 0]


@pytest.mark.parametrize("temperature", [1e-300, 1e-3, 1.0, 1e300])
@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 2.0**-53])
def test_no_temperature_leads_beyond_the_tokens(temperature: float, number: float) -> None:
    for logits in ([0.0, 1e4, -1e4], [3e38, -3e38], [0.0]):
        assert choose(np.array(logits), temperature, number) in range(len(logits))


@define
class Successor:
    """A model of `seq` tokens whose next token is the last one plus 1, of 10; whatever else it sees is wrong."""

    seq: int
    batch: int
    seen: list[list[int]] = field(factory=list)
    _ids: NDArray[Any] = field(factory=lambda: np.zeros(0))

    def set(self, name: str, array: NDArray[Any]) -> None:
        assert name == "cgTokenIds"
        assert array.shape == (self.seq, self.batch)
        assert array.dtype == np.int32
        self._ids = array.copy()

    def run(self) -> None:
        self.seen.append(self._ids[:, 0].tolist())

    def get(self, name: str) -> NDArray[Any]:
        assert name == "cgPrediction"
        logits = np.zeros((self.seq, self.batch, 12), np.float32)
        logits[np.arange(self.seq), 0, (self._ids[:, 0] + 1) % 10] = 5
        logits[:, 0, 10:] = 9  # tokens that the model has and the text has not
        return logits.reshape(-1, 12)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_sample_continues_its_prompt_beyond_a_sequence(batch: int) -> None:
    model = Successor(4, batch)
    sampling = Sampling(np.array([6, 7]), 7, 0.0, 0)
    found = sample(model, (4, batch), 10, sampling, seed=0, step=1)  # type: ignore[arg-type]  # all that is called
    assert found.tolist() == [6, 7, 8, 9, 0, 1, 2, 3, 4]
    assert model.seen[0][:2] == [6, 7]
    assert model.seen[2] == [6, 7, 8, 9]
    assert model.seen[-1] == [0, 1, 2, 3]


def test_a_prompt_longer_than_a_sequence_is_seen_from_its_end() -> None:
    model = Successor(3, 1)
    sample(model, (3, 1), 10, Sampling(np.arange(8), 1, 0.0, 0), seed=0, step=1)  # type: ignore[arg-type]  # as above
    assert model.seen == [[5, 6, 7]]


def test_settings_survive_their_data() -> None:
    settings = new_settings({"steps": 50, "optimizer": "sgd", "clip_norm": 0.0}, {"cgSeq": 8, "x": 0.5})
    assert settings_from(settings_data(settings)) == settings
    assert (settings.learning_rate, settings.warmup_steps) == (0.1, 5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 0),
        ("steps", True),
        ("steps", 2.0),
        ("steps", 2**31),
        ("seed", -1),
        ("optimizer", "lion"),
        ("learning_rate", math.nan),
        ("learning_rate", "1"),
        ("beta2", 1.0),
        ("beta1", -0.1),
        ("evaluation_share", 1),
        ("evaluate_batches", 10**9),
        ("half", "f8"),
        ("tokens", None),
        ("parameters", [1]),
        ("parameters", {"a": "1"}),
        ("parameters", {"a": True}),
    ],
)
def test_settings_out_of_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        settings_from({**settings_data(SETTINGS), name: value})


def test_settings_have_their_names_and_no_others() -> None:
    data = settings_data(SETTINGS)
    for wrong in ({**data, "more": 1}, {name: data[name] for name in list(data)[1:]}, [], None):
        with pytest.raises(ValueError, match="settings"):
            settings_from(wrong)

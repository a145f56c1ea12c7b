"""Training steps on the emulated device: beside the host, the same bits in every run, few driver calls."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
import pytest
from attrs import evolve

pytest.importorskip("cuda.bindings")

from cgraph.core.elements import Element
from cgraph.reference.bounds import gradient_bound
from tests.support.emulated import INSTALLATION
from tests.support.emulated_runs import EMULATED, random_order
from tests.support.training_runs import Control, Sizes, Trainer, drawn_batch, trainer

pytestmark = pytest.mark.slow

SIZES = Sizes(layers=1, head_width=8, ffn=24, vocab=13, context=9, seq=7)
CONTROL = Control(decay=0.1, largest_norm=1.0, growth_updates=2, largest_scale=2.0**20)


@contextmanager
def opened(sizes: Sizes, half: Element, entry: str = "step") -> Iterator[Trainer]:
    made = trainer(sizes, entry, half, device=EMULATED)
    try:
        made.give("cgScale", np.full(1, 1024.0))
        yield made
    finally:
        made.executable.close()  # type: ignore[attr-defined]  # a device's executable has it


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize("microbatches", [1, 2])
def test_a_step_beside_the_host(half: Literal["f16", "bf16"], microbatches: int) -> None:
    sizes = evolve(SIZES, microbatches=microbatches)
    tokens = sizes.seq * sizes.batch * microbatches
    bound = 2 * gradient_bound(half, seq=tokens, width=16, ffn=sizes.ffn, layers=sizes.layers)
    host, batch = trainer(sizes, half=Element(half)), drawn_batch(sizes, 1)
    host.give("cgScale", np.full(1, 1024.0))
    before = host.weights()
    expected = host.step(batch, CONTROL)
    with opened(sizes, Element(half)) as made:
        loss = made.step(batch, CONTROL)
        assert abs(loss - expected) <= bound * expected
        assert abs(made.get("cgGradientNorm")[0] / host.get("cgGradientNorm")[0] - 1) <= bound
        assert made.get("cgProgress").tolist() == host.get("cgProgress").tolist() == [1, 0, 1, 0]
        for name, wanted in host.moments(1).items():
            found = made.moments(1)[name]
            assert np.linalg.norm(found - wanted) <= bound * np.linalg.norm(wanted) + 2.0**-24, name
        for name, wanted in host.moments(2).items():
            # |a² - b²| is at most |a - b| · |a + b|, and a gradient lies within the bound of the other.
            largest = np.sqrt(np.abs(wanted).max() * np.sum(wanted))
            assert np.linalg.norm(made.moments(2)[name] - wanted) <= bound * (2 + bound) * largest + 2.0**-24, name
        # A first step goes by the gradient's sign: the weights must follow from the device's own moments.
        for name, found in made.weights().items():
            first, second = (made.moments(number)[name].astype(np.float64) for number in (1, 2))
            kept = 1 - 0.01 * (0.1 if found.ndim == 2 else 0)
            direction = (first / 0.1) / (np.sqrt(second / 0.05) + 1e-8)
            # beta1 and beta2 are rounded to f32: 1 - beta2 by 2^-24 of 1, which is 20 times as much of 0.05.
            wanted = kept * before[name] - 0.01 * direction
            assert np.all(np.abs(found - wanted) <= 2.0**-22 * np.abs(wanted) + 0.01 * 64 * 2.0**-24), name


@pytest.mark.parametrize("half", [Element.F16, Element.BF16])
def test_the_same_bits_in_every_run_and_order(half: Element) -> None:
    found = []
    for seed in range(3):
        with opened(evolve(SIZES, microbatches=2), half) as made, random_order(seed):
            for number in range(2):
                made.step(drawn_batch(made.sizes, number), CONTROL)
            found.append(made.bits())
    assert found[0] == found[1] == found[2]


def test_an_overflow_is_skipped() -> None:
    with opened(SIZES, Element.F16) as made:
        made.give("cgScale", np.full(1, 2.0**40))
        before = made.bits()
        made.step(drawn_batch(SIZES, 0), CONTROL)
        changed = {name for name, bits in made.bits().items() if bits != before[name]}
        assert changed <= {"cgProgress", "cgScale", "cgLoss", "cgGradientNorm"}
        assert made.get("cgProgress").tolist() == [0, 1, 0, 1]
        assert made.get("cgScale")[0] == 2.0**39
        made.give("cgScale", np.full(1, 256.0))
        for number in range(2):
            made.step(drawn_batch(SIZES, number), CONTROL)
        assert made.get("cgProgress").tolist() == [2, 1, 0, 0]
        assert made.get("cgScale")[0] == 512


def calls_of_a_step(layers: int) -> list[Counter[str]]:
    """The driver calls of each of three steps."""
    sizes = evolve(SIZES, layers=layers, seq=2, vocab=3, ffn=4)
    counts = []
    with opened(sizes, Element.BF16, "stepSgd") as made:
        for number in range(3):
            before = Counter(INSTALLATION.driver.calls)
            made.step(drawn_batch(sizes, number), CONTROL)
            counts.append(Counter(INSTALLATION.driver.calls) - before)
    return counts


def test_a_step_costs_the_host_as_many_driver_calls_for_any_number_of_layers() -> None:
    one, three = calls_of_a_step(1), calls_of_a_step(3)
    assert one[1] == one[2] == three[1] == three[2]
    assert not [name for counts in one + three for name in counts if "Instantiate" in name or "Update" in name]
    # The ids, the targets and the control go in, one launch, the loss comes out.
    calls = {name: count for name, count in one[1].items() if not name.startswith("cuCtx")}
    assert calls == {"cuMemcpyHtoD": 3, "cuGraphLaunch": 1, "cuStreamSynchronize": 1, "cuMemcpyDtoH": 1}

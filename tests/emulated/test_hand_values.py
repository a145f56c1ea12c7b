"""Numbers worked out by hand, through the library's images: on the host and by its kernels on the emulated device."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

pytest.importorskip("cuda.bindings")

from cgraph.backends.devices import HOST, Device
from cgraph.core.elements import Element
from cgraph.pipeline import check, compile_checked, lower, parse
from cgraph.source import Source
from tests.support.emulated_runs import EMULATED

pytestmark = pytest.mark.parametrize("device", [HOST, EMULATED], ids=["host", "emulated"])

# Half of a last place of f16 beside 1.
F16_ROUNDING = 2.0**-11

PRODUCTS = """
import "operations.cg"
plane row : half [1, 8] input
plane tall : half [8, 1] input
plane column : half [8, 1] input
plane ones : half [1, 8] input
plane data : f32 [1, 1] output
plane weight : f32 [1, 1] output
plane forward : f32 [1, 1] output
def main =
  (cgThen (cgProductData 1 1 8 data row column)
  (cgThen (cgProductWeight 1 1 8 weight tall column)
    (cgProductForward 1 1 8 forward row ones)))
"""

ROPE = """
import "operations.cg"
plane tokens : f32 [cgSeq, cgQkvParts, cgWidth] input
plane queries : half [cgHeads, cgSeq, cgHeadWidth] output
plane keys : half [cgHeads, cgSeq, cgHeadWidth] output
plane values : half [cgHeads, cgHeadWidth, cgSeq] output
def main =
  (cgThen cgRopeTable
    (cgLaunch cgImageRope (naturalCeilDivide cgSeq 32) cgHeads 1
      (cgPointer (cgArgument 0) queries
      (cgPointer (cgArgument 1) keys
      (cgPointer (cgArgument 2) values
      (cgPointer (cgArgument 3) tokens
      (cgPointer (cgArgument 4) cgCosine
      (cgPointer (cgArgument 5) cgSine
      (cgNatural (cgArgument 6) cgSeq cgNoSlots)))))))))
"""

GELU = """
import "model_operations.cg"
parameter erf : Nat = 0
plane x : f32 [1, 7] input
plane bias : f32 [7] input
plane activated : half [1, 7] output
def main =
  (cgLaunch cgImageBiasGelu 1 1 1
    (cgPointer (cgArgument 0) activated
    (cgPointer (cgArgument 1) x
    (cgPointer (cgArgument 2) bias
    (cgNatural (cgArgument 3) 1
    (cgNatural (cgArgument 4) 7
    (cgNatural (cgArgument 5) erf cgNoSlots)))))))
"""

LOSS = """
import "model_operations.cg"
plane given : f32 [3, 3] input
plane bias : f32 [3] input
plane scale : f32 [1] input
plane targets : i32 [3] input
plane gradient : f32 [3, 3] output
plane losses : f32 [3] output
plane count : i32 [1] output
plane mean : f32 [1] output
def main =
  (cgThen (cgCopy gradient given)
  (cgThen
    (cgLaunch cgImageSupervisedCount 1 1 1
      (cgPointer (cgArgument 0) count
      (cgPointer (cgArgument 1) targets
      (cgNatural (cgArgument 3) 3
      (cgNatural (cgArgument 4) 3 cgNoSlots)))))
  (cgThen
    (cgLaunch cgImageCrossEntropy 3 1 1
      (cgPointer (cgArgument 0) gradient
      (cgPointer (cgArgument 1) targets
      (cgPointer (cgArgument 3) losses
      (cgPointer (cgArgument 4) bias
      (cgPointer (cgArgument 5) count
      (cgNatural (cgArgument 6) 3
      (cgNatural (cgArgument 7) 3
      (cgPointer (cgArgument 8) scale cgNoSlots)))))))))
    (cgLaunch cgImageLossMean 1 1 1
      (cgPointer (cgArgument 0) mean
      (cgPointer (cgArgument 1) losses
      (cgPointer (cgArgument 2) count
      (cgNatural (cgArgument 3) 3 cgNoSlots))))))))
"""

EMBEDDING = """
import "model_operations.cg"
plane ids : i32 [6] input
plane rows : f32 [6, 5] input
plane table : f32 [4, 5] output
def main =
  (cgLaunch cgImageEmbeddingTokens 1 1 1
    (cgPointer (cgArgument 0) table
    (cgPointer (cgArgument 1) ids
    (cgPointer (cgArgument 2) rows
    (cgNatural (cgArgument 3) 6
    (cgNatural (cgArgument 4) 5
    (cgNatural (cgArgument 5) 4 cgNoSlots)))))))
"""


def results(
    text: str, device: Device, given: Mapping[str, ArrayLike], sizes: Mapping[str, int], *names: str
) -> list[NDArray[np.float64]]:
    """What a program leaves in planes, with f16 for half; inputs take the elements of their planes."""
    program = compile_checked(check(parse(Source("hand.cg", text))), dict(sizes), half=Element.F16)
    executable = lower(program.graph, program.schedule, program.plan, device)
    elements = {Element.F16: np.float16, Element.F32: np.float32, Element.I32: np.int32}
    planes = {plane.name: plane for plane in program.graph.planes}
    for name, values in given.items():
        executable.set(name, np.asarray(values, elements[planes[name].element]))
    executable.run()
    return [executable.get(name).astype(np.float64) for name in names]


def test_sums_of_f16_are_wide(device: Device) -> None:
    # In f16 the partial sum 128,000 would be infinite.
    terms = np.array([[32000.0] * 4 + [-32000.0] * 4])
    given = {"row": terms, "tall": terms.T, "ones": np.ones((1, 8)), "column": np.ones((8, 1))}
    for found in results(PRODUCTS, device, given, {}, "data", "weight", "forward"):
        assert found == 0


def test_rope_turns_halves(device: Device) -> None:
    tokens = np.zeros((2, 3, 4))
    tokens[1] = [[1, 2, 3, 4], [1, 2, 3, 4], [5, 6, 7, 8]]
    sizes = {"cgSeq": 2, "cgHeads": 1, "cgHeadWidth": 4}
    queries, keys, values = results(ROPE, device, {"tokens": tokens}, sizes, "queries", "keys", "values")
    expected = np.array([-1.98411, 1.95990, 2.46238, 4.01980])
    for turned in (queries[0, 1], keys[0, 1]):
        assert np.all(np.abs(turned - expected) <= 2 * F16_ROUNDING * np.abs(expected))
    assert np.array_equal(values[0, :, 1], [5, 6, 7, 8])


@pytest.mark.parametrize(
    ("erf", "expected"),
    [
        (0, [-2.292e-7, -0.0454023, -0.158808, 0, 0.841192, 1.954598, 5]),
        (1, [-1.433e-6, -0.0455003, -0.158655, 0, 0.841345, 1.954500, 5]),
    ],
)
def test_gelu(device: Device, erf: int, expected: list[float]) -> None:
    x = np.array([[-5, -2, -1, 0, 1, 2, 5]])
    ((activated,),) = results(GELU, device, {"x": x - 0.5, "bias": np.full(7, 0.5)}, {"erf": erf}, "activated")
    # The smallest step of f16 is 2^-24; the two forms lie 9.8e-5 apart at -2, which is 3 roundings of that value.
    assert np.all(np.abs(activated - expected) <= F16_ROUNDING * np.abs(expected) + 2.0**-24)


def test_cross_entropy(device: Device) -> None:
    given = {"given": np.diag([2, 1, 3]), "bias": np.zeros(3), "scale": [1], "targets": [0, -1, 2]}
    mean, gradient, losses = results(LOSS, device, given, {}, "mean", "gradient", "losses")
    assert abs(mean[0] - 0.167234) <= 1e-6
    rows = [[-0.106507, 0.053253, 0.053253], [0, 0, 0], [0.022639, 0.022639, -0.045279]]
    assert np.all(np.abs(gradient - rows) <= 1e-6)
    assert losses[1] == 0
    # The mean is that of two rows: of three it would be this.
    assert abs(losses.sum() / 3 - 0.111489) <= 1e-6


def test_nothing_supervised(device: Device) -> None:
    given = {"given": np.diag([2, 1, 3]), "bias": np.zeros(3), "scale": [1], "targets": [-1, -1, -1]}
    for found in results(LOSS, device, given, {}, "mean", "gradient", "losses"):
        assert not found.any()


def test_embedding_adds_up_repeated_ids(device: Device) -> None:
    given = {"ids": [1, 1, 2, 1, 1, 2], "rows": np.ones((6, 5))}
    (table,) = results(EMBEDDING, device, given, {}, "table")
    assert np.array_equal(table, np.repeat([[0], [4], [2], [0]], 5, axis=1))

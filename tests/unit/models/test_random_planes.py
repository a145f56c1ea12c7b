"""Values by name: the same in every program, order and element type, and of the sizes that are promised."""

import ml_dtypes
import numpy as np
import pytest

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import compile_program
from cgraph.source import Source

TEXT = """
plane x : half [50, 60] input
plane w : half [40, 400] weight
plane g : half [5000] weight
plane ids : i32 [7] input
plane y : half [50, 60] output
plane dy : half [50, 60] gradient of y
plane dx : half [50, 60] gradient of x
plane wOut : half [40, 400] output
plane gOut : half [5000] output
plane idsOut : i32 [7] output
def main =
  (cgThen (cgCopy y x) (cgThen (cgCopy dx dy)
  (cgThen (cgCopy wOut w) (cgThen (cgCopy gOut g) (cgCopy idsOut ids)))))
"""
DTYPES = {Element.F64: np.float64, Element.F32: np.float32, Element.F16: np.float16, Element.BF16: ml_dtypes.bfloat16}


def built(half: Element = Element.F64, text: str = TEXT) -> CommandGraph:
    return compile_program(Source("planes.cg", text), half=half).graph


def test_sizes() -> None:
    planes = random_planes((built(),), 0)
    assert sorted(planes) == ["dy", "g", "ids", "w", "x"]
    assert planes["x"].shape == (50, 60)
    assert planes["x"].mean() == pytest.approx(0, abs=0.1)
    assert planes["x"].std() == pytest.approx(1, abs=0.1)
    assert planes["dy"].std() == pytest.approx(1, abs=0.1)
    assert planes["w"].mean() == pytest.approx(0, abs=0.005)
    assert planes["w"].std() == pytest.approx(1 / 20, rel=0.1)
    assert planes["g"].mean() == pytest.approx(1, abs=0.01)
    assert planes["g"].std() == pytest.approx(0.1, rel=0.1)
    assert planes["ids"].dtype == np.int32
    assert not planes["ids"].any()


@pytest.mark.parametrize("half", list(DTYPES))
def test_another_element_type_rounds_the_same_values(half: Element) -> None:
    exact = random_planes((built(),), 4)
    for name, plane in random_planes((built(half),), 4).items():
        assert plane.dtype == (np.int32 if name == "ids" else DTYPES[half])
        np.testing.assert_array_equal(plane, exact[name].astype(plane.dtype))


def test_values_depend_on_name_and_seed_alone() -> None:
    other = built(text="plane w : half [40, 400] weight\nplane z : half [40, 400] output\ndef main = (cgCopy z w)")
    first, both, second = (random_planes(graphs, 1) for graphs in ((built(),), (other, built()), (other,)))
    for planes in (both, second):
        np.testing.assert_array_equal(planes["w"], first["w"])
    assert not np.array_equal(random_planes((other,), 2)["w"], first["w"])
    assert not np.array_equal(first["x"], first["dy"])


def test_more_values_than_memory_holds() -> None:
    text = "plane x : f32 [1099511627776] input\nplane y : f32 [1099511627776] output\ndef main = (cgCopy y x)\n"
    with pytest.raises(ProblemsFound) as stopped:
        random_planes((built(Element.F32, f'import "operations.cg"\n{text}'),), 0)
    (problem,) = stopped.value.problems
    assert problem.code == "CG718"
    assert problem.notes()[1] == f"the largest planes, in bytes: x {4 << 40}"

"""The library's training step in other programs: another optimizer, another model, and mistakes in them."""

import numpy as np
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import check, compile_program, lower, parse
from cgraph.resources import programs_directory
from cgraph.source import Source

MATRICES_ALONE = """
import "model_training.cg"

-- Descent of the matrices and tables; gains, shifts and biases stay.
def matricesAlone =
  (lambda unrestricted number : Nat .
  (lambda unrestricted decays : Nat .
  (lambda unrestricted count : Nat .
  (lambda unrestricted weight : Plane f32 [count] .
  (lambda unrestricted gradient : Plane f32 [count] .
  (lambda unrestricted moment1 : Plane f32 [count] .
  (lambda unrestricted moment2 : Plane f32 [count] .
  (lambda unrestricted sum : Plane f32 [count] .
    (naturalFold decays cgNothing
      (lambda unrestricted i : Nat .
      (lambda unrestricted stays : Command .
        (cgDescent number decays count weight gradient moment1 moment2 sum))))))))))))

def main = (cgModelStep 1 cgNoMask matricesAlone)
"""

# Two weights whose gradients are given.
OWN_MODEL = """
import "training.cg"

plane w : f32 [cgTokens] weight
plane v : f32 [3, 2] weight
plane wGradient : f32 [cgTokens] gradient of w
plane vGradient : f32 [3, 2] gradient of v
plane wMoment1 : f32 [cgTokens] state
plane wMoment2 : f32 [cgTokens] state
plane vMoment1 : f32 [3, 2] state
plane vMoment2 : f32 [3, 2] state
plane wSum : f32 [cgTokens] scratch
plane vSum : f32 [3, 2] scratch
plane slopes : f32 [cgTokens] input
plane others : f32 [3, 2] input
plane parts : f64 [2, cgSquarePartsEach] scratch

def gradients =
  (lambda unrestricted loss : Plane f32 [1] .
  (lambda unrestricted ids : Plane i32 [cgTokens] .
  (lambda unrestricted targets : Plane i32 [cgTokens] .
  (lambda unrestricted scale : Plane f32 [1] .
    (cgThen (cgFill loss 2.5) (cgThen (cgCopy wGradient slopes) (cgCopy vGradient others)))))))

def weights =
  (lambda unrestricted visit :
    (pi unrestricted number : Nat .
    (pi unrestricted decays : Nat .
    (pi unrestricted count : Nat .
    (pi unrestricted weight : Plane f32 [count] .
    (pi unrestricted gradient : Plane f32 [count] .
    (pi unrestricted moment1 : Plane f32 [count] .
    (pi unrestricted moment2 : Plane f32 [count] .
    (pi unrestricted sum : Plane f32 [count] . Command)))))))) .
    (cgThen (visit 0 0 cgTokens w wGradient wMoment1 wMoment2 wSum)
      (visit 1 1 6 v vGradient vMoment1 vMoment2 vSum)))

def main = (cgTrainingStep gradients weights 2 parts cgAdamW)
"""


def run_once(text: str, **planes: object) -> dict[str, np.ndarray]:
    """Every plane outside the arena, before and after: the latter by its name, the former behind `before `."""
    compiled = compile_program(Source("own.cg", text), {"cgMicrobatches": 3})
    executable = lower(compiled.graph, compiled.schedule, compiled.plan)
    kept = [plane for plane in compiled.graph.planes if plane.role.value != "scratch"]
    for plane in kept:
        drawn = np.random.default_rng(plane.index).standard_normal(plane.extent)
        if plane.role.value == "weight" or plane.name in ("slopes", "others"):
            executable.set(plane.name, drawn.astype(np.float32))
    for name, values in planes.items():
        executable.set(name, np.asarray(values))
    found = {f"before {plane.name}": executable.get(plane.name) for plane in kept}
    executable.run()
    return found | {plane.name: executable.get(plane.name) for plane in kept}


def test_an_optimizer_of_ones_own() -> None:
    found = run_once(MATRICES_ALONE, cgControl=np.array([0.1, 0, 0, 0, 0, 0, 0, 0], np.float32))
    weights = [name.removeprefix("before ") for name in found if name.startswith("before ")]
    weights = [name for name in weights if f"{name.split(' ')[0]}Gradient" in {key.split(" ")[0] for key in found}]
    assert len(weights) > 10
    for name in weights:
        assert (found[name].tobytes() == found[f"before {name}"].tobytes()) is (found[name].ndim == 1), name


def test_a_model_of_ones_own_by_hand() -> None:
    control = np.array([0.5, 0.5, 0.75, 0.0, 0.25, 0.0, 0.0, 0.0], np.float32)
    found = run_once(OWN_MODEL, cgControl=control, cgScale=np.array([4], np.float32))
    assert found["cgLoss"][0] == 2.5
    # Three microbatches with the same gradient, which the model has not scaled.
    slopes, others = found["slopes"] / 4, found["others"] / 4
    norm = np.sqrt(np.sum(slopes.astype(np.float64) ** 2) + np.sum(others.astype(np.float64) ** 2))
    assert abs(found["cgGradientNorm"][0] - norm) <= 1e-6 * norm
    assert np.allclose(found["wMoment1"], 0.5 * slopes, rtol=1e-6)
    assert np.allclose(found["vMoment2"], 0.25 * others**2, rtol=1e-6)
    # A first step goes by the sign alone; only the matrix decays, by 0.5 · 0.25 of itself.
    assert np.allclose(found["w"], found["before w"] - 0.5 * np.sign(slopes), rtol=1e-5, atol=1e-6)
    assert np.allclose(found["v"], 0.875 * found["before v"] - 0.5 * np.sign(others), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("(cgModelStep 1 cgNoMask cgDescent)", "(cgModelStep 1 cgNoMask cgCopy)", "CG201"),
        ("(cgModelStep 1 cgNoMask cgAdamW)", "(cgModelStep 1 cgAdamW cgAdamW)", "CG201"),
        ("(cgModelPrediction 1)", "(cgModelPrediction cgLogits)", "CG402"),
        ("(cgModelForward 1 cgNoMask)", "(cgModelForward 1 cgNoSuchMask)", "CG101"),
    ],
)
def test_checking_the_file_checks_every_entry(old: str, new: str, code: str) -> None:
    text = (programs_directory() / "gpt.cg").read_text(encoding="utf-8")
    assert check(parse(Source("gpt.cg", text)))[1] == ()
    with pytest.raises(ProblemsFound) as stopped:
        check(parse(Source("gpt.cg", text.replace(old, new))))
    assert code in {problem.code for problem in stopped.value.problems}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("visit 1 1 6 v ", "visit 1 1 7 v "),
        ("wMoment2 wSum", "vMoment2 wSum"),
        ("(cgCopy vGradient others)", "(cgCopy v others)"),
    ],
)
def test_mistakes_in_a_model_are_found_before_it_runs(old: str, new: str) -> None:
    assert old in OWN_MODEL
    with pytest.raises(ProblemsFound):
        compile_program(Source("own.cg", OWN_MODEL.replace(old, new)))

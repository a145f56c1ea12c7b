"""Configuration, weights and gradients of a whole model: shapes, checks, arithmetic, first values, files."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from cgraph.diagnostics import ProblemsFound
from cgraph.models.config import GptConfig
from cgraph.models.gpt import Block, Gpt, random_gpt
from cgraph.models.gpt_files import load_gpt, load_gpt_grads, save_gpt, save_gpt_grads
from cgraph.models.grads import BlockGrads, GptGrads, add_gpt_grads, scale_gpt_grads, zero_gpt_grads
from cgraph.models.model_shapes import model_shapes

SIZES: dict[str, Any] = {"vocab": 11, "context": 5, "width": 6, "heads": 3, "layers": 2, "ffn": 7}
CONFIG = GptConfig(**SIZES)
# Written out by hand from seed 001's fields; weights [outputs, inputs].
BLOCK_SHAPES = {
    "attn_wq": (6, 6), "attn_wk": (6, 6), "attn_wv": (6, 6), "attn_wo": (6, 6),
    "attn_ln_gamma": (6,), "attn_ln_beta": (6,),
    "ffn_w1": (7, 6), "ffn_w2": (6, 7), "ffn_b1": (7,), "ffn_b2": (6,),
    "ffn_ln_gamma": (6,), "ffn_ln_beta": (6,),
}  # fmt: skip
SHAPES = {
    "wte": (11, 6),
    "wpe": (5, 6),
    **{f"blocks.0.{name}": shape for name, shape in BLOCK_SHAPES.items()},
    **{f"blocks.1.{name}": shape for name, shape in BLOCK_SHAPES.items()},
    "ln_gamma": (6,),
    "ln_beta": (6,),
    "head": (11, 6),
    "head_b": (11,),
}


def drawn(seed: int, dtype: Any = np.float64) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in SHAPES.items()}


def reason(call: Any, *arguments: Any) -> str:
    with pytest.raises(ProblemsFound) as stopped:
        call(*arguments)
    (problem,) = stopped.value.problems
    return f"{problem.code} {problem.render_title()}"


def test_names_and_shapes_are_those_of_the_seed_in_its_order() -> None:
    assert list(model_shapes(CONFIG).items()) == list(SHAPES.items())
    for arrays in (random_gpt(CONFIG, 0), zero_gpt_grads(CONFIG)):
        assert [(name, array.shape) for name, array in arrays.named().items()] == list(SHAPES.items())


def test_head_width() -> None:
    assert CONFIG.head_width == 2


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [0, -1, 2.0, "2", None, True])
def test_sizes_are_whole_numbers_from_one(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected a whole number, 1 or more, got "):
        GptConfig(**(SIZES | {name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("heads", 4), ("epsilon", 0.0), ("epsilon", math.nan), ("epsilon", "1"), ("gelu", "relu"), ("gelu", None)],
)
def test_other_fields_of_the_configuration(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected "):
        GptConfig(**(SIZES | {name: value}))


def test_sizes_may_be_numbers_of_numpy() -> None:
    sizes: dict[str, Any] = {name: np.int32(size) for name, size in SIZES.items()}
    config = GptConfig(**sizes)
    assert config == CONFIG
    assert all(type(getattr(config, name)) is int for name in SIZES)


@pytest.mark.parametrize("name", ["wpe", "ln_gamma", "ln_beta", "head", "head_b"])
def test_a_wrong_shape_outside_the_blocks_is_named(name: str) -> None:
    gpt = random_gpt(CONFIG, 0)
    with pytest.raises(ValueError, match=rf"^{name}: expected shape .*got \[3, 2\]"):
        evolve(gpt, **{name: np.zeros((3, 2))})
    with pytest.raises(ValueError, match=r"^wte: expected a matrix with elements, got shape \[6\]"):
        evolve(gpt, wte=np.zeros(6))


@pytest.mark.parametrize("name", [name for name in BLOCK_SHAPES if name not in ("attn_wq", "ffn_w1")])
def test_a_wrong_shape_in_a_block_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected shape .*got \[4, 4\]"):
        evolve(random_gpt(CONFIG, 0).blocks[0], **{name: np.zeros((4, 4))})


def test_a_block_of_another_size_is_named() -> None:
    other = random_gpt(evolve(CONFIG, ffn=8), 0).blocks[1]
    gpt = random_gpt(CONFIG, 0)
    with pytest.raises(ValueError, match=r"^blocks\.1\.ffn_w1: expected shape \[7, 6\], got \[8, 6\]"):
        evolve(gpt, blocks=[gpt.blocks[0], other])


def test_element_types() -> None:
    gpt = random_gpt(CONFIG, 0)
    with pytest.raises(ValueError, match=r"^head: expected float32 or float64, got int64"):
        evolve(gpt, head=np.zeros((11, 6), dtype=np.int64))
    with pytest.raises(ValueError, match=r"^head_b: expected float64, .* got float32"):
        evolve(gpt, head_b=np.zeros(11, dtype=np.float32))
    with pytest.raises(ValueError, match=r"^ffn_b1: expected an array, got list"):
        evolve(gpt.blocks[0], ffn_b1=[0.0] * 7)  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(ValueError, match=r"^wte: expected float32 or float64, got float16"):
        random_gpt(CONFIG, 0, dtype=np.float16)
    assert random_gpt(CONFIG, 0, dtype=np.float32).dtype == np.float32


def test_weights_are_no_gradients() -> None:
    gpt, grads = random_gpt(CONFIG, 0), zero_gpt_grads(CONFIG)
    with pytest.raises(ValueError, match=r"^blocks\.0: expected Block, got BlockGrads"):
        evolve(gpt, blocks=grads.blocks)
    with pytest.raises(ValueError, match=r"^blocks: expected one or more, got none"):
        evolve(gpt, blocks=[])
    assert all(type(block) is Block for block in gpt.blocks)
    assert all(type(block) is BlockGrads for block in grads.blocks)


def test_values_are_frozen() -> None:
    for value, name in (
        (CONFIG, "width"),
        (random_gpt(CONFIG, 0), "wte"),
        (zero_gpt_grads(CONFIG).blocks[0], "attn_wo"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_from_named_names_what_is_missing_or_too_much() -> None:
    arrays = drawn(0)
    short = {name: array for name, array in arrays.items() if name != "blocks.1.ffn_b2"}
    with pytest.raises(ValueError, match=r"^blocks\.1\.ffn_b2: missing"):
        Gpt.from_named(CONFIG, short)
    with pytest.raises(ValueError, match=r"^blocks\.2\.attn_wq: a model of these sizes has no such array"):
        Gpt.from_named(CONFIG, arrays | {"blocks.2.attn_wq": arrays["blocks.1.attn_wq"]})
    backwards = Gpt.from_named(CONFIG, dict(reversed(arrays.items())))
    assert all(array is arrays[name] for name, array in backwards.named().items())
    assert list(backwards.named()) == list(SHAPES)


@pytest.mark.parametrize("changes", [{"vocab": 12}, {"context": 4}, {"ffn": 9}, {"width": 3}])
def test_check_fits_names_the_first_array_of_another_shape(changes: dict[str, Any]) -> None:
    gpt = random_gpt(CONFIG, 0)
    gpt.check_fits(CONFIG)
    first = {"vocab": "wte", "context": "wpe", "ffn": r"blocks\.0\.ffn_w1", "width": "wte"}
    with pytest.raises(ValueError, match=rf"^{first[next(iter(changes))]}: expected shape "):
        gpt.check_fits(evolve(CONFIG, **changes))


def test_check_fits_counts_blocks() -> None:
    with pytest.raises(ValueError, match=r"^blocks: expected 3, got 2"):
        random_gpt(CONFIG, 0).check_fits(evolve(CONFIG, layers=3))


def test_sums_and_multiples_of_gradients() -> None:
    first, second = drawn(1), drawn(2)
    left, right = GptGrads.from_named(CONFIG, first), GptGrads.from_named(CONFIG, second)
    mean = scale_gpt_grads(0.5, add_gpt_grads(left, right))
    assert type(mean) is GptGrads
    for name, array in mean.named().items():
        np.testing.assert_array_equal(array, (first[name] + second[name]) / 2)
    for name, array in add_gpt_grads(zero_gpt_grads(CONFIG), left).named().items():
        np.testing.assert_array_equal(array, first[name])
        assert not np.shares_memory(array, first[name])
    single = scale_gpt_grads(3.0, zero_gpt_grads(CONFIG, dtype=np.float32))
    assert single.dtype == np.float32
    assert not any(array.any() for array in single.named().values())


def test_gradients_of_different_models_do_not_add() -> None:
    grads = zero_gpt_grads(CONFIG)
    with pytest.raises(ValueError, match=r"^blocks: 2 in one, 1 in the other"):
        add_gpt_grads(grads, zero_gpt_grads(evolve(CONFIG, layers=1)))
    with pytest.raises(ValueError, match=r"^wpe: float64 \[5, 6\] in one, float64 \[1, 6\] in the other"):
        add_gpt_grads(grads, zero_gpt_grads(evolve(CONFIG, context=1)))
    with pytest.raises(ValueError, match=r"^wte: float64 .* in one, float32 "):
        add_gpt_grads(grads, zero_gpt_grads(CONFIG, dtype=np.float32))


def test_first_weights_are_drawn_as_gpt_2s() -> None:
    config = GptConfig(vocab=300, context=200, width=64, heads=4, layers=8, ffn=256)
    gpt = random_gpt(config, 7)
    deviations = {"wte": 0.02, "wpe": 0.01, "head": 0.02, "attn_wo": 0.005, "ffn_w2": 0.005}  # 0.02 / sqrt(16)
    for name, array in gpt.named().items():
        last = name.rpartition(".")[2]
        if array.ndim == 2:
            assert array.std() == pytest.approx(deviations.get(last, 0.02), rel=0.05), name
            assert abs(array.mean()) < 0.1 * array.std(), name
        else:
            assert (array == (1.0 if last.endswith("gamma") else 0.0)).all(), name
    matrices = [array for array in gpt.named().values() if array.shape == (64, 64)]
    products = np.corrcoef([matrix.ravel() for matrix in matrices])
    assert np.abs(products - np.eye(len(matrices))).max() < 0.1


def test_first_weights_depend_on_the_seed_alone() -> None:
    first, again, other = random_gpt(CONFIG, 0), random_gpt(CONFIG, 0), random_gpt(CONFIG, 1)
    assert all((array == again.named()[name]).all() for name, array in first.named().items())
    assert not any((array == other.named()[name]).all() for name, array in first.named().items() if array.ndim == 2)
    single = random_gpt(CONFIG, 0, dtype=np.float32)
    assert all((array.astype(np.float32) == single.named()[name]).all() for name, array in first.named().items())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_hold_the_names_that_are_documented(tmp_path: Path, dtype: Any) -> None:
    arrays = drawn(3, dtype)
    path = tmp_path / "gpt.safetensors"
    save_gpt(path, Gpt.from_named(CONFIG, arrays))
    stored = load_file(path)
    assert set(stored) == set(SHAPES)
    for name, array in stored.items():
        assert array.dtype == dtype
        np.testing.assert_array_equal(array, arrays[name])
    assert [entry.name for entry in tmp_path.iterdir()] == ["gpt.safetensors"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_that_others_wrote(tmp_path: Path, dtype: Any) -> None:
    arrays = drawn(4, dtype)
    save_file(arrays, tmp_path / "gpt.safetensors")
    gpt = load_gpt(tmp_path / "gpt.safetensors", CONFIG)
    grads = load_gpt_grads(tmp_path / "gpt.safetensors", CONFIG)
    assert (type(gpt), type(grads), gpt.dtype) == (Gpt, GptGrads, dtype)
    for name, array in arrays.items():
        np.testing.assert_array_equal(gpt.named()[name], array)
        np.testing.assert_array_equal(grads.named()[name], array)


def test_gradients_come_back(tmp_path: Path) -> None:
    grads = GptGrads.from_named(CONFIG, drawn(5))
    save_gpt_grads(tmp_path / "grads.safetensors", grads)
    again = load_gpt_grads(tmp_path / "grads.safetensors", CONFIG)
    assert all((array == again.named()[name]).all() for name, array in grads.named().items())


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    path, arrays = tmp_path / "gpt.safetensors", drawn(6)
    for changed, expected in (
        ({name: array for name, array in arrays.items() if name != "head_b"}, "head_b: missing"),
        (arrays | {"extra": arrays["wte"]}, "extra: a model of these sizes has no such array"),
        (arrays | {"wpe": arrays["wte"]}, "wpe: expected shape [5, 6], got [11, 6]"),
        (arrays | {"wpe": arrays["wpe"].astype(np.float32)}, "wpe: expected float64"),
        (arrays | {"ln_beta": np.zeros(6, np.int32)}, "ln_beta: expected float32 or float64, got int32"),
    ):
        save_file(changed, path)
        assert reason(load_gpt, path, CONFIG).startswith(f"CG721 cannot read planes from `{path}`: {expected}")


def test_files_that_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "gpt.safetensors"
    assert reason(load_gpt, path, CONFIG).startswith("CG721")
    save_gpt(path, random_gpt(CONFIG, 0))
    whole = path.read_bytes()
    for broken in (whole[:-1], whole[:100], b"", pickle.dumps(drawn(0)), b"\xff" * 64):
        path.write_bytes(broken)
        assert reason(load_gpt, path, CONFIG).startswith("CG721")
    assert reason(load_gpt, tmp_path / "gpt.pt", CONFIG).startswith("CG720")
    assert reason(save_gpt, tmp_path / "gpt.pt", random_gpt(CONFIG, 0)).startswith("CG720")
    assert reason(save_gpt, tmp_path / "missing" / "gpt.safetensors", random_gpt(CONFIG, 0)).startswith("CG722")


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gpt.safetensors"
    path.write_bytes(b"old")

    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cgraph.models.plane_files._write", full)
    assert "No space left" in reason(save_gpt, path, random_gpt(CONFIG, 0))
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["gpt.safetensors"]

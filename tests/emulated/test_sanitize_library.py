"""`cgraph sanitize` finds nothing in the library's kernels and programs, at sizes that no tile divides."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("cuda.bindings")

from cgraph.cli.sanitize import sanitize
from cgraph.core.elements import Element
from cgraph.graph.model import LaunchNode
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source

PROGRAMS = programs_directory()
TESTS = Path(__file__).with_name("sanitize")
LAYER = {"cgSeq": 17, "cgHeads": 2, "cgHeadWidth": 10, "cgFfn": 24, "cgLayers": 1}
MODEL = {"cgSeq": 7, "cgHeads": 2, "cgHeadWidth": 6, "cgFfn": 10, "cgLayers": 1, "cgVocab": 19, "cgContext": 12}
GATED = {"cgSeq": 7, "cgBatch": 3, "cgHeads": 2, "cgHeadWidth": 6, "cgFfn": 10, "cgLayers": 1, "cgVocab": 19}
CASES: list[tuple[Path, Mapping[str, int]]] = [
    (PROGRAMS / "layer_forward.cg", LAYER),
    (PROGRAMS / "layer_backward.cg", LAYER),
    (PROGRAMS / "layer_backward.cg", {**LAYER, "cgRecompute": 0, "cgCausal": 0}),
    (PROGRAMS / "examples" / "mlp_forward.cg", {}),
    (PROGRAMS / "examples" / "mlp_backward.cg", {}),
    (PROGRAMS / "examples" / "rms_norm.cg", {"channels": 33}),
    (PROGRAMS / "examples" / "sum_of_rows.cg", {}),
    (PROGRAMS / "gpt.cg", MODEL),
    (PROGRAMS / "bert.cg", {**MODEL, "cgPadded": 1, "cgErfGelu": 1}),
    (PROGRAMS / "gpt_forward.cg", MODEL),
    (PROGRAMS / "bert_forward.cg", {**MODEL, "cgPadded": 1}),
    (PROGRAMS / "geglu_lm.cg", {**GATED, "cgTiedHead": 1}),
    (PROGRAMS / "geglu_lm.cg", {**GATED, "cgTiedHead": 0, "cgRecompute": 0}),
    (PROGRAMS / "geglu_lm_forward.cg", GATED),
    (TESTS / "long_product.cg", {"cgMultiprocessors": 8}),
]
# Other entries than main, each with one half.
ENTRIES: list[tuple[Path, Mapping[str, int], str, str]] = [
    (PROGRAMS / "gpt.cg", MODEL, "step", "f16"),
    (PROGRAMS / "gpt.cg", MODEL, "predict", "bf16"),
    (PROGRAMS / "geglu_lm.cg", {**GATED, "cgMicrobatches": 2}, "step", "bf16"),
    (PROGRAMS / "geglu_lm.cg", GATED, "stepSgd", "f16"),
    (PROGRAMS / "geglu_lm.cg", GATED, "predict", "f16"),
]
# What a forward program launches is in the backward one, too; these run with one half only.
ONE_HALF = {("gpt_forward.cg", "bf16"), ("bert_forward.cg", "f16"), ("geglu_lm_forward.cg", "bf16")}
RUNS = [
    pytest.param(path, sizes, "main", half, id=f"{path.stem}-{number}-{half}")
    for half in ("f16", "bf16")
    for number, (path, sizes) in enumerate(CASES)
    if (path.name, half) not in ONE_HALF
] + [pytest.param(path, sizes, entry, half, id=f"{path.stem}-{entry}-{half}") for path, sizes, entry, half in ENTRIES]


@cache
def launched(path: Path, sizes: tuple[tuple[str, int], ...], entry: str = "main") -> frozenset[str]:
    """Names of the images that a program launches."""
    graph = compile_program(load_source(path), dict(sizes), entry=entry, half=Element.F16).graph
    return frozenset(node.image.signature.name for node in graph.nodes if isinstance(node, LaunchNode))


@pytest.mark.parametrize(("path", "sizes", "entry", "half"), RUNS)
def test_nothing_is_found(path: Path, sizes: Mapping[str, int], entry: str, half: str) -> None:
    settings = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
    result = CliRunner().invoke(sanitize, [str(path), "--entry", entry, "--half", half, *settings])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("nothing found; checked ")
    assert not result.output.startswith("nothing found; checked 0 launches")


def test_every_image_of_the_library_is_launched_by_one_of_these_programs() -> None:
    texts = [file.read_text(encoding="utf-8") for file in sorted((PROGRAMS / "library").glob("*.cg"))]
    images = {name for text in texts for name in re.findall(r"^image (\w+)", text, re.MULTILINE)}
    assert len(images) >= 39
    found = [launched(path, tuple(sizes.items())) for path, sizes in CASES]
    found += [launched(path, tuple(sizes.items()), entry) for path, sizes, entry, _ in ENTRIES]
    assert images - frozenset().union(*found) == set()


def test_every_example_that_can_be_run_is_among_these_programs() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in (PROGRAMS / "examples").glob("*.cg")}
    runnable = {file for file, text in texts.items() if re.search(r"^def main\b", text, re.MULTILINE)}
    assert len(runnable) >= 4
    assert runnable <= {path for path, _ in CASES}

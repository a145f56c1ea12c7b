"""Programs that must be accepted, with what they are at each stage: `NAME.STAGE.txt` beside `NAME.cg`.

A program's first line holds its parameters: `-- build: rows=8`. Places in other files and the numbers of their
declarations are left out of the texts, so that these do not change with the library. The texts are written anew only
by `pytest tests/accept --refresh-goldens`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from cgraph.check.terms import Primitive
from cgraph.check.text import program_text
from cgraph.core.elements import Element
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CopyNode, FillNode, LaunchNode
from cgraph.graph.text import graph_text
from cgraph.memory.text import memory_text
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.text import schedule_text
from cgraph.syntax.loading import load_source

HERE = Path(__file__).parent
BUILD_LINE = re.compile(r"-- build(?::(.*))?")
PLACE = re.compile(r", (\w+\.cg):\d+:\d+$", re.MULTILINE)
COUNT = re.compile(r"^(imports .*) \(\d+ declarations?\)$", re.MULTILINE)
SMALL = {"cgSeq": 33, "cgHeads": 2, "cgHeadWidth": 4, "cgFfn": 12, "cgLayers": 2}


class Case(NamedTuple):
    """A program with parameters; `name` begins the names of its texts."""

    name: str
    path: Path
    parameters: Mapping[str, int | float]


def _own_cases() -> Iterator[Case]:
    for path in sorted(HERE.glob("*.cg")):
        asked = BUILD_LINE.fullmatch(path.read_text(encoding="utf-8").split("\n", 1)[0])
        assert asked is not None, f"{path.name} does not say how it is built"
        pairs = (pair.split("=") for pair in (asked[1] or "").split())
        yield Case(path.stem, path, {name: float(value) if "." in value else int(value) for name, value in pairs})


def _layer_cases() -> Iterator[Case]:
    for name in ("layer_forward", "layer_backward"):
        for recompute, word in ((0, "saved"), (1, "recomputed")):
            path = programs_directory() / f"{name}.cg"
            yield Case(f"{name}_{word}", path, {**SMALL, "cgRecompute": recompute})


OWN = {case.name: case for case in _own_cases()}
CASES = {**OWN, **{case.name: case for case in _layer_cases()}}


def compiled(case: Case) -> Compiled:
    return compile_program(load_source(case.path), case.parameters, half=Element.F16)


def texts(case: Case) -> dict[str, str]:
    values = compiled(case)
    graph = graph_text(values.graph, find_hazards(values.graph))
    return {
        "checked": COUNT.sub(r"\1", program_text(values.program)),
        "graph": PLACE.sub(lambda found: found[0] if found[1] == case.path.name else f", {found[1]}", graph),
        "schedule": schedule_text(values.graph, values.schedule),
        "plan": memory_text(values.graph, values.plan),
    }


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_texts_of_all_stages(case: Case, refresh_goldens: bool) -> None:
    for stage, text in texts(case).items():
        golden = HERE / f"{case.name}.{stage}.txt"
        if refresh_goldens:
            golden.write_text(text, encoding="utf-8")
        assert text == golden.read_text(encoding="utf-8")


def test_every_text_has_its_program() -> None:
    assert {path.name.split(".")[0] for path in HERE.glob("*.txt")} == CASES.keys()


@pytest.mark.parametrize("case", OWN.values(), ids=OWN.keys())
def test_own_programs_have_no_warnings(case: Case) -> None:
    assert [problem.render_title() for problem in compiled(case).warnings] == []


# Launches, fills and copies, counted by hand.
COUNTS = {
    "primitives": (1 + 4, 1 + 4, 1),
    "higher_order": (2 * 2, 0, 2),
    "quantities": (0, 0, 2),
    "gradual": (1, 1 + 3, 1),
    "families": (0, 0, 3 + 4),
    "own_image": (2, 1, 0),
    "folds": (1, 0, 2),
    "each_down": (0, 3 + 2 + 1 + 1, 2),
    "state": (2 * 2, 0, 0),
}


@pytest.mark.parametrize(("name", "counts"), COUNTS.items())
def test_commands_are_as_many_as_the_program_says(name: str, counts: tuple[int, int, int]) -> None:
    found = Counter(type(node) for node in compiled(OWN[name]).graph.nodes)
    assert (found[LaunchNode], found[FillNode], found[CopyNode]) == counts


def test_every_own_program_is_counted() -> None:
    assert COUNTS.keys() == OWN.keys()


def test_each_primitive_is_used() -> None:
    text = OWN["primitives"].path.read_text(encoding="utf-8")
    assert [word.text for word in Primitive if not re.search(rf"\b{word.text}\b", text)] == []

"""The layer that the language started from checks and builds unchanged, to the same commands as the shipped program."""

from collections.abc import Mapping

import pytest

from cgraph.core.elements import Element
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph, FillNode, LaunchNode, Node, PlaneArgument
from cgraph.pipeline import build, check, parse, verify
from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tests.support.seeds import seed_layer_text

SIZES = (
    {"cgSeq": 1, "cgHeads": 1, "cgHeadWidth": 2, "cgFfn": 1},
    {"cgSeq": 65, "cgHeads": 3, "cgHeadWidth": 10, "cgFfn": 70},
    {"cgSeq": 128, "cgHeads": 2, "cgHeadWidth": 64, "cgFfn": 256},
)
CASES = [
    {**sizes, "cgLayers": layers, "cgRecompute": recompute}
    for sizes, layers in zip(SIZES, (1, 2, 3), strict=True)
    for recompute in (0, 1)
]


def seed_source() -> Source:
    text = seed_layer_text()
    return Source("seed.cg", f'import "layer.cg"\n\n{text}\ndef main = (cgStackBackward cgLayerBackward)\n')


def built(source: Source, parameters: Mapping[str, int | float]) -> CommandGraph:
    program, warnings = check(parse(source))
    assert warnings == ()
    graph = build(program, parameters, entry=None, half=Element.F16)
    assert verify(program, graph, find_hazards(graph)) == ()
    return graph


def phase_path(graph: CommandGraph, phase: int | None) -> tuple[str, ...]:
    names = []
    while phase is not None:
        names.append(graph.phases[phase].name)
        phase = graph.phases[phase].parent
    return tuple(reversed(names))


def described(graph: CommandGraph, node: Node) -> tuple[object, ...]:
    """All that a command is, but for its places in the texts and the numbers of planes and phases."""
    accesses = [(graph.planes[part.plane].name, part.start, part.stop, part.mode) for part in node.accesses]
    what: tuple[object, ...] = ()
    if isinstance(node, LaunchNode):
        arguments = [
            (graph.planes[argument.plane].name, argument.offset) if isinstance(argument, PlaneArgument) else argument
            for argument in node.arguments
        ]
        what = (node.image.signature.name, node.grid, node.block, node.shared_bytes, arguments, node.extents)
    elif isinstance(node, FillNode):
        what = (node.value,)
    return (type(node), phase_path(graph, node.phase), accesses, *what)


@pytest.mark.parametrize("parameters", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_the_same_commands_as_the_shipped_program(parameters: dict[str, int]) -> None:
    seed = built(seed_source(), parameters)
    shipped = built(load_source(programs_directory() / "layer_backward.cg"), parameters)
    assert len(seed.nodes) > 20 * parameters["cgLayers"]
    assert [described(seed, node) for node in seed.nodes] == [described(shipped, node) for node in shipped.nodes]
    planes = [[(plane.name, plane.element, plane.extent, plane.role) for plane in g.planes] for g in (seed, shipped)]
    assert planes[0] == planes[1]


def test_the_text_is_taken_over_whole() -> None:
    text = seed_layer_text()
    assert text.startswith("def cgLayerBackward =\n")
    assert text.count("(") == text.count(")")
    # Ten products and two norms: each of these words stands in the document so often.
    assert [text.count(word) for word in ("cgProductData", "cgProductWeight", "cgLayerNormBackward")] == [5, 5, 2]

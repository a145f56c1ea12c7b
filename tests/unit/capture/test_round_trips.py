"""What is loaded is what was saved, in every value; the same values give the same bytes."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.host import prepare_host
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle, Recording
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.core.elements import Element
from cgraph.core.origins import Origin
from cgraph.graph.model import CommandGraph, FillNode, LaunchNode
from cgraph.graph.purposes import given_planes
from cgraph.graph.text import graph_text
from cgraph.memory.text import memory_text
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.schedule.text import schedule_text
from cgraph.source import Source
from cgraph.syntax.loading import load_source

SMALL = {"cgSeq": 16, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 24, "cgLayers": 2}


def compiled(name: str, half: Element, order: Order, parameters: Mapping[str, int] | None = None) -> Compiled:
    return compile_program(load_source(programs_directory() / name), parameters, half=half, order=order)


def steps(origin: Origin) -> list[tuple[str, str]]:
    """Texts and excerpts of the way to a command."""
    return [(step.text, step.span.text) for step in origin.chain()]


def everything(graph: CommandGraph) -> list[object]:
    """What the text form of a graph leaves out."""
    return [
        *((plane.family, plane.indices, plane.role, plane.span.text, plane.span.line) for plane in graph.planes),
        *((node.phase, node.accesses, steps(node.origin)) for node in graph.nodes),
        *((node.image.constants, node.extents) for node in graph.nodes if isinstance(node, LaunchNode)),
        *(
            (slot.name, slot.kind, slot.element, slot.access, slot.extent, slot.aliases, slot.half, slot.span.text)
            for node in graph.nodes
            if isinstance(node, LaunchNode)
            for slot in node.image.signature.slots
        ),
        *(
            (node.image.signature.grid, node.image.signature.block, node.image.signature.shared_bytes)
            for node in graph.nodes
            if isinstance(node, LaunchNode)
        ),
    ]


def assert_equal(program: Compiled, loaded: Bundle) -> None:
    graph, other = program.graph, loaded.graph
    assert graph_text(other, loaded.schedule.hazards) == graph_text(graph, program.schedule.hazards)
    assert schedule_text(other, loaded.schedule) == schedule_text(graph, program.schedule)
    assert memory_text(other, loaded.plan) == memory_text(graph, program.plan)
    assert everything(other) == everything(graph)
    assert loaded.schedule.predecessors == program.schedule.predecessors
    assert loaded.schedule.sequence == program.schedule.sequence


def saved(program: Compiled, path: Path) -> Bundle:
    save_bundle(make_bundle(program.graph, program.schedule, program.plan), path)
    loaded = load_bundle(path)
    assert isinstance(loaded, Bundle)
    return loaded


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("half", [Element.F32, Element.F64])
@pytest.mark.parametrize("name", ["layer_backward.cg", "gpt.cg", "bert_forward.cg", "examples/mlp_backward.cg"])
def test_a_program_comes_back(tmp_path: Path, name: str, half: Element, order: Order) -> None:
    program = compiled(name, half, order)
    loaded = saved(program, tmp_path / "a.cgb")
    assert_equal(program, loaded)
    save_bundle(loaded, tmp_path / "b.cgb")
    assert (tmp_path / "b.cgb").read_bytes() == (tmp_path / "a.cgb").read_bytes()
    saved(compiled(name, half, order), tmp_path / "c.cgb")
    assert (tmp_path / "c.cgb").read_bytes() == (tmp_path / "a.cgb").read_bytes()


@pytest.mark.slow  # compiles the kernels
@pytest.mark.parametrize("half", [Element.F16, Element.BF16])
@pytest.mark.parametrize("name", ["layer_backward.cg", "examples/rms_norm.cg", "examples/sum_of_rows.cg"])
def test_a_program_with_code_comes_back(tmp_path: Path, name: str, half: Element) -> None:
    program = compiled(name, half, Order.DATAFLOW)
    bundle = make_bundle(program.graph, program.schedule, program.plan)
    save_bundle(bundle, tmp_path / "a.cgb")
    loaded = load_bundle(tmp_path / "a.cgb")
    assert isinstance(loaded, Bundle)
    assert_equal(program, loaded)
    assert loaded.module_of == bundle.module_of
    for one, other in zip(bundle.modules, loaded.modules, strict=True):
        assert (one.file, one.source, one.includes, one.options, one.defines, one.entries) == (
            other.file,
            other.source,
            other.includes,
            other.options,
            other.defines,
            other.entries,
        )
        assert [(code.kind, code.architecture, code.ptx_version, code.data) for code in one.codes] == [
            (code.kind, code.architecture, code.ptx_version, code.data) for code in other.codes
        ]
        assert one.codes
    save_bundle(loaded, tmp_path / "b.cgb")
    assert (tmp_path / "b.cgb").read_bytes() == (tmp_path / "a.cgb").read_bytes()


def test_nothing_of_the_machine_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "a folder of mine"
    shutil.copytree(programs_directory() / "examples", folder)
    program = compile_program(load_source(folder / "mlp_backward.cg"))
    loaded = saved(program, tmp_path / "a.cgb")
    data = (tmp_path / "a.cgb").read_bytes()
    for text in ("a folder of mine", str(programs_directory()), str(tmp_path)):
        assert text.encode() not in data
    assert {node.origin.chain()[0].span.source.name for node in loaded.graph.nodes} == {"mlp.cg", "mlp_backward.cg"}


def test_contents_and_recording_come_back(tmp_path: Path) -> None:
    program = compiled("layer_backward.cg", Element.F32, Order.DATAFLOW, SMALL)
    graph = program.graph
    generator = np.random.default_rng(1)
    data = {p.name: generator.random(p.extent).astype(DTYPES[p.element]) for p in given_planes(graph)}
    outputs = {"cgInputGradient": np.zeros((16, 32), np.float32)}
    digests = tuple(bytes([index % 256] * 32) for index in range(len(graph.nodes)))
    bundle = make_bundle(
        graph, program.schedule, program.plan, data=data, recording=Recording("host", outputs, digests)
    )
    save_bundle(bundle, tmp_path / "a.cgb")
    loaded = load_bundle(tmp_path / "a.cgb")
    assert isinstance(loaded, Bundle)
    assert loaded.data.keys() == data.keys()
    assert all(
        (loaded.data[key] == array).all() and loaded.data[key].dtype == array.dtype for key, array in data.items()
    )
    assert loaded.recording is not None
    assert (loaded.recording.device, loaded.recording.node_digests) == ("host", digests)
    assert (loaded.recording.outputs["cgInputGradient"] == 0).all()
    save_bundle(loaded, tmp_path / "b.cgb")
    assert (tmp_path / "b.cgb").read_bytes() == (tmp_path / "a.cgb").read_bytes()


def test_a_loaded_program_gives_the_bits_of_the_built_one(tmp_path: Path) -> None:
    program = compiled("layer_backward.cg", Element.F32, Order.DATAFLOW, SMALL)
    loaded = saved(program, tmp_path / "a.cgb")
    results = []
    for graph, schedule, plan in (
        (program.graph, program.schedule, program.plan),
        (loaded.graph, loaded.schedule, loaded.plan),
    ):
        executable = prepare_host(graph, schedule, plan)
        generator = np.random.default_rng(7)
        for plane in given_planes(graph):
            executable.set(plane.name, generator.standard_normal(plane.extent).astype(DTYPES[plane.element]))
        executable.run()
        results.append({plane.name: executable.get(plane.name).tobytes() for plane in graph.planes})
    assert results[0] == results[1]


@pytest.mark.parametrize("value", ["0.0", "-0.0", "1.0e-45", "3.0e38", "1.0e308", "0.1"])
def test_values_of_fills_keep_their_bits(tmp_path: Path, value: str) -> None:
    text = f'import "operations.cg"\nplane a : f64 [4] output\ndef main = (cgFill a {value})\n'
    loaded = saved(compile_program(Source("fill.cg", text)), tmp_path / "a.cgb")
    (node,) = loaded.graph.nodes
    assert isinstance(node, FillNode)
    assert np.float64(node.value).tobytes() == np.float64(value).tobytes()

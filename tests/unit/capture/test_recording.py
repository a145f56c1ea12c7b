"""What a recording keeps of a run, on the host; and what a replay that differs is told."""

from hashlib import sha256
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.backends.devices import HOST
from cgraph.backends.protocol import Executable
from cgraph.backends.recording_hook import current_watcher
from cgraph.capture.digests import UNFINISHED
from cgraph.capture.model import Bundle
from cgraph.capture.recording import record
from cgraph.capture.replay import Replay
from cgraph.capture.verification import describe_difference, find_difference
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.images import registry
from cgraph.models.backward import gpt_backward
from cgraph.models.config import GptConfig
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.source import Source
from tests.support.bundles import bundle_of, drawn_planes, layer_backward, recorded
from tests.support.calls import count_calls
from tests.support.model_cases import random_weights

# x → h = 2·x → y = h + x, then a part of y is filled, and z is a copy of y.
PROGRAM = """
import "operations.cg"
plane x : f32 [4] input
plane h : f32 [4] scratch
plane y : f32 [4] output
plane z : f32 [4] output
phase doubling "doubling of x"
def main =
  (cgThen (cgPhase doubling (cgBinary cgImageAdd h x x 4))
  (cgThen (cgBinary cgImageAdd y h x 4) (cgThen (cgCopy z y) (cgFill (cgAt y 3) 7.0))))
"""
X = np.array([1, 2, 3, 4], np.float32)


@pytest.fixture
def compiled() -> Compiled:
    return compile_program(Source("sums.cg", PROGRAM))


def prepared(compiled: Compiled) -> Executable:
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, HOST)
    executable.set("x", X)
    return executable


def digest(*parts: NDArray[Any]) -> bytes:
    return sha256(b"".join(part.tobytes() for part in parts)).digest()


def test_what_a_recording_keeps(compiled: Compiled) -> None:
    executable = prepared(compiled)
    with record() as recording:
        executable.run()
    run = recording.last
    assert run.device == "host"
    assert run.finished
    assert run.failed_node is None
    assert {name: array.tolist() for name, array in run.data.items()} == {"x": [1, 2, 3, 4]}
    assert {name: array.tolist() for name, array in run.outputs.items()} == {"y": [3, 6, 9, 7], "z": [3, 6, 9, 12]}
    thrice = 3 * X
    assert run.node_digests == [digest(2 * X), digest(thrice), digest(thrice), digest(np.float32([7]))]


def test_values_before_the_run_are_kept_though_it_changes_them() -> None:
    text = """
    import "operations.cg"
    plane w : f32 [4] state
    plane x : f32 [4] input
    def main = (cgBinary cgImageAdd w w x 4)
    """
    compiled = compile_program(Source("kept.cg", text))
    executable = prepared(compiled)
    executable.set("w", np.float32([1, 1, 1, 1]))
    with record() as recording:
        executable.run()
        executable.run()
    assert recording.last.data["w"].tolist() == [2, 3, 4, 5]  # before the second run, which is the last
    assert recording.last.outputs["w"].tolist() == [3, 5, 7, 9]


def test_a_run_that_raises_is_kept_as_far_as_it_came(compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def add(_context: object, *, out: NDArray[Any], a: NDArray[Any], b: NDArray[Any], **_sizes: int) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("on purpose")
        out[...] = a + b

    file, entry = next(
        (node.image.signature.file, node.image.signature.entry)  # type: ignore[union-attr]
        for node in compiled.graph.nodes
    )
    names = [slot.name for slot in compiled.graph.nodes[0].image.signature.slots]  # type: ignore[union-attr]
    assert len(names) == 4
    keywords = [registry.keyword_of(name) for name in names]

    def renamed(context: object, **given: Any) -> None:
        add(context, **dict(zip(("out", "a", "b", "n"), (given[keyword] for keyword in keywords), strict=True)))

    monkeypatch.setitem(vars(registry)["_MEANINGS"], (file, entry), renamed)
    executable = prepared(compiled)
    with pytest.raises(ProblemsFound) as stopped, record() as recording:
        executable.run()
    assert "RuntimeError: on purpose" in stopped.value.problems[0].render_title()
    run = recording.last
    assert not run.finished
    assert run.failed_node == 1
    assert run.data["x"].tolist() == X.tolist()
    assert run.node_digests == [digest(2 * X), UNFINISHED, UNFINISHED, UNFINISHED]
    assert run.outputs == {}
    # A replay of it here, where the kernel does not fail, has the recorded bits as far as there are any.
    monkeypatch.undo()
    bundle = recorded(bundle_of(compiled, run.data, code=False), recording)
    with Replay(bundle) as replay:
        assert bundle.recording is not None
        assert find_difference(replay, bundle, bundle.recording) is None


def test_scalars_that_were_changed_are_recorded(compiled: Compiled) -> None:
    executable = prepared(compiled)
    executable.set_scalar(3, "value", 9.0)
    with record() as recording:
        executable.run()
    assert recording.last.graph.nodes[3].value == 9.0  # type: ignore[union-attr]  # it is the fill
    assert compiled.graph.nodes[3].value == 7.0  # type: ignore[union-attr]
    assert recording.last.outputs["y"].tolist() == [3, 6, 9, 9]


def test_nothing_ran() -> None:
    with record() as recording:
        pass
    with pytest.raises(ProblemsFound) as stopped:
        recording.bundle()
    assert [problem.code for problem in stopped.value.problems] == ["CG838"]
    with pytest.raises(ProblemsFound, match="CG838"):
        _ = recording.last


def test_recordings_nest_and_end(compiled: Compiled) -> None:
    executable = prepared(compiled)
    assert current_watcher() is None
    with record() as outer:
        with record() as inner:
            executable.run()
        assert outer.run is None
        executable.run()
    assert current_watcher() is None
    assert outer.run is not None
    assert inner.last.node_digests == outer.last.node_digests
    before = outer.last
    executable.run()
    assert outer.last is before


def test_a_run_that_nobody_records_does_no_more(compiled: Compiled) -> None:
    executable = prepared(compiled)
    executable.run()
    calls = count_calls(executable.run)
    with record():
        recorded_calls = count_calls(executable.run)
    # The hook is one look at a context variable; a digest alone takes more calls than that.
    assert calls < 60
    assert recorded_calls > calls + 20


def test_a_whole_model_is_recorded() -> None:
    config = GptConfig(vocab=7, context=4, width=4, heads=2, layers=1, ffn=3)
    arguments = (config, random_weights(config, 1), np.array([1, 2, 3]), np.array([2, 3, 4]))
    with record() as recording:
        loss, grads = gpt_backward(*arguments)
    assert recording.last.outputs["cgLoss"].tolist() == [loss]
    found, others = gpt_backward(*arguments)
    assert found == loss
    for name, gradient in grads.named().items():
        assert np.array_equal(gradient, others.named()[name]), name
    run = recording.last
    bundle = Bundle(run.graph, run.schedule, run.plan, (), (None,) * len(_images(run.graph)), run.data)
    bundle = recorded(bundle, recording)
    with Replay(bundle) as replay:
        assert bundle.recording is not None
        assert find_difference(replay, bundle, bundle.recording) is None
        assert replay.get("cgLoss").tolist() == [loss]


def _images(graph: Any) -> Any:
    return Bundle(graph, None, None, (), ()).images  # type: ignore[arg-type]


@pytest.fixture
def bundle(compiled: Compiled) -> Bundle:
    """The program recorded on the host."""
    plain = bundle_of(compiled, {"x": X}, code=False)
    with Replay(plain) as replay, record() as recording:
        replay.run()
    return recorded(plain, recording)


def difference(bundle: Bundle) -> Problem | None:
    with Replay(bundle) as replay:
        assert bundle.recording is not None
        return find_difference(replay, bundle, bundle.recording)


def told(bundle: Bundle) -> str:
    problem = difference(bundle)
    assert problem is not None
    return " ".join(render([problem], colour=False).split())


def test_the_same_run_does_not_differ(bundle: Bundle) -> None:
    assert difference(bundle) is None


def test_the_first_command_that_differs_is_named(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A meaning is changed for one of its two launches: the second, which writes y."""
    meanings = vars(registry)["_MEANINGS"]
    signature = bundle.graph.nodes[1].image.signature  # type: ignore[union-attr]  # it is a launch
    key = (signature.file, signature.entry)
    honest, calls = meanings[key], []
    out = registry.keyword_of(signature.slots[0].name)

    def wrong(context: object, **given: Any) -> None:
        honest(context, **given)
        calls.append(1)
        if len(calls) % 2 == 0:
            given[out][2:] += np.float32([0.5, 0.25])

    monkeypatch.setitem(meanings, key, wrong)
    text = told(bundle)
    assert "error[CG835]: the replay differs from the recording, first in command 1, " in text
    assert f"kernel: {signature.entry} of {signature.file}" in text
    assert "phase: " not in text
    assert "it writes plane y, to which later commands write as well" in text
    assert "operations.cg" in text


def test_values_are_compared_where_the_recording_has_them(bundle: Bundle) -> None:
    assert bundle.recording is not None
    digests = list(bundle.recording.node_digests)
    digests[2] = bytes([1]) * 32  # the copy, whose z nobody writes later
    z = bundle.recording.outputs["z"].copy()
    z[1:3] += np.float32([0.5, 0.25])
    outputs = {**bundle.recording.outputs, "z": z}
    changed = attrs.evolve(bundle.recording, outputs=outputs, node_digests=tuple(digests))
    text = told(attrs.evolve(bundle, recording=changed))
    assert "first in command 2, a copy" in text
    assert "plane z: 2 of 4 elements differ, by 0.5 at most" in text


def test_a_difference_in_a_phase(bundle: Bundle) -> None:
    text = told(attrs.evolve(bundle, data={"x": np.float32([1, 2, 3, 5])}))
    assert "first in command 0, " in text
    assert "phase: doubling of x" in text
    assert "it writes plane h, whose values are not in the recording" in text


def test_a_recording_of_results_alone(bundle: Bundle) -> None:
    assert bundle.recording is not None
    bare = attrs.evolve(bundle, recording=attrs.evolve(bundle.recording, node_digests=()))
    assert difference(bare) is None
    text = told(attrs.evolve(bare, data={"x": np.float32([1, 2, 3, 5])}))
    assert "error[CG836]: plane z is not the recorded one: 1 of 4 elements differ, by 3 at most" in text


def test_commands_that_differ_only_when_they_overlap(bundle: Bundle) -> None:
    assert bundle.recording is not None
    outputs = {**bundle.recording.outputs, "z": np.zeros(4, np.float32)}
    text = told(attrs.evolve(bundle, recording=attrs.evolve(bundle.recording, outputs=outputs)))
    assert "error[CG836]: plane z is not the recorded one: 4 of 4 elements differ, by 12 at most" in text
    assert "command by command every one writes what it wrote in the recording" in text


@pytest.mark.parametrize(
    ("expected", "found", "text"),
    [
        (np.float32([1, 2]), np.float32([1, 2.5]), "1 of 2 elements differ, by 0.5 at most"),
        (np.float32([0.0, 2]), np.float32([-0.0, 2]), "1 of 2 elements differ, by 0 at most"),
        (np.float16([1, np.nan]), np.float16([1.5, 0]), "2 of 2 elements differ, by 0.5 at most, 1 of them not finite"),
        (np.int32([[7, 8]]), np.int32([[7, 2**31 - 1]]), "1 of 2 elements differ, by 2.15e+09 at most"),
        (np.float64([np.inf]), np.float64([1]), "1 of 1 elements differ, 1 of them not finite"),
    ],
)
def test_differences_in_words(expected: NDArray[Any], found: NDArray[Any], text: str) -> None:
    assert describe_difference(expected, found) == text


@pytest.mark.parametrize("half", [Element.F16, Element.F64])
def test_a_layer_is_recorded_and_replayed(half: Element) -> None:
    compiled = layer_backward(half)
    plain = bundle_of(compiled, drawn_planes(compiled.graph), code=False)
    with Replay(plain) as replay, record() as recording:
        replay.run()
    assert difference(recorded(plain, recording)) is None

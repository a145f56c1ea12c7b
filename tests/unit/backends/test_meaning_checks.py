"""Images that do not fit their NumPy function, and functions that fail, are problems at the launch."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.backends.host import prepare_host
from cgraph.capture.model import Bundle
from cgraph.capture.replay import Replay
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image, LaunchNode, Node
from cgraph.images import registry
from cgraph.pipeline import compile_program
from cgraph.source import Source
from tests.support.bundles import bundle_of

PROGRAM = """
import "operations.cg"
plane x : f32 [4] input
plane y : f32 [4] output
plane z : f32 [4] output
def main = (cgThen (cgBinary cgImageAdd y x x 4) (cgBinary cgImageAdd z y x 4))
"""


@pytest.fixture
def bundle() -> Bundle:
    return bundle_of(compile_program(Source("sums.cg", PROGRAM)), code=False)


def with_images(bundle: Bundle, change: Callable[[Image], Image]) -> Bundle:
    """The bundle with each image changed once, whoever launches it."""
    changed = {image: change(image) for image in bundle.images}
    nodes: tuple[Node, ...] = tuple(
        attrs.evolve(node, image=changed[node.image]) if isinstance(node, LaunchNode) else node
        for node in bundle.graph.nodes
    )
    return attrs.evolve(bundle, graph=attrs.evolve(bundle.graph, nodes=nodes))


def renamed(bundle: Bundle, position: int, name: str) -> Bundle:
    """The images' slot at a position under another name."""

    def change(image: Image) -> Image:
        slots = list(image.signature.slots)
        slots[position] = attrs.evolve(slots[position], name=name)
        return attrs.evolve(image, signature=attrs.evolve(image.signature, slots=tuple(slots)))

    return with_images(bundle, change)


def with_constant(bundle: Bundle) -> Bundle:
    return with_images(bundle, lambda image: attrs.evolve(image, constants=(("CG_EXTRA", 3),)))


def refusal(bundle: Bundle, run: Callable[[Replay], object] = lambda replay: replay.run()) -> tuple[Problem, ...]:
    with pytest.raises(ProblemsFound) as stopped, Replay(bundle) as replay:
        run(replay)
    return stopped.value.problems


def replace_meaning(monkeypatch: pytest.MonkeyPatch, bundle: Bundle, function: Callable[..., None]) -> None:
    monkeypatch.setitem(vars(registry)["_MEANINGS"], kernel(bundle), function)


@pytest.fixture
def exact(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that takes the slots of the image and nothing else."""
    assert [slot.name for slot in signature_of(bundle).slots] == ["out", "a", "b", "n"]

    def add(_context: object, *, out: NDArray[Any], a: NDArray[Any], b: NDArray[Any], n: int) -> None:
        out[:n] = a + b

    replace_meaning(monkeypatch, bundle, add)


@pytest.mark.usefixtures("exact")
def test_a_slot_under_another_name(bundle: Bundle) -> None:
    (problem,) = refusal(renamed(bundle, 1, "leftHand"))  # one for the image, not one for each launch
    assert problem.code == "CG708"
    assert problem.render_title() == "cgImageAdd does not fit the NumPy function for {} of {}".format(
        *reversed(kernel(bundle))
    )
    assert "the function takes no slot leftHand" in problem.notes()
    assert "the image has no `a`, which the function needs" in problem.notes()
    assert problem.span is not None


@pytest.mark.usefixtures("exact")
def test_a_constant_that_the_function_does_not_know(bundle: Bundle) -> None:
    (problem,) = refusal(with_constant(bundle))
    assert problem.code == "CG708"
    assert problem.notes()[0] == "the function takes no constant CG_EXTRA"


def test_two_slots_that_arrive_as_one(bundle: Bundle) -> None:
    first = signature_of(bundle).slots[0].name
    (problem,) = refusal(renamed(bundle, 1, first.upper()))
    assert f"slot {first} and slot {first.upper()} are both called {first} in the function" in problem.notes()


@pytest.mark.usefixtures("exact")
def test_every_image_is_reported(bundle: Bundle) -> None:
    changed = renamed(bundle, 1, "leftHand")
    graph = attrs.evolve(changed.graph, nodes=(changed.graph.nodes[0], with_constant(bundle).graph.nodes[1]))
    both = attrs.evolve(changed, graph=graph, module_of=(None, None))
    assert [problem.code for problem in refusal(both)] == ["CG708", "CG708"]


def test_a_function_that_takes_anything_fits(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def anything(_context: object, **given: Any) -> None:
        seen.append(set(given))

    replace_meaning(monkeypatch, bundle, anything)
    with Replay(renamed(bundle, 1, "leftHand")) as replay:
        replay.run()
    assert len(seen) == 2
    assert "left_hand" in seen[0]


@pytest.mark.parametrize("watched", [False, True])
def test_extents_that_the_function_does_not_work_with(bundle: Bundle, *, watched: bool) -> None:
    """The second launch's first operand is declared with an element less than the others."""
    node = bundle.graph.nodes[1]
    assert isinstance(node, LaunchNode)
    out, left, *others = node.extents
    shorter = attrs.evolve(node, extents=(out, (left[0] - 1,), *others))
    read = attrs.evolve(node.accesses[1], stop=4 * (left[0] - 1))
    shorter = attrs.evolve(shorter, accesses=(node.accesses[0], read, *node.accesses[2:]))
    changed = attrs.evolve(bundle, graph=attrs.evolve(bundle.graph, nodes=(bundle.graph.nodes[0], shorter)))
    on_node = (lambda _index, _elapsed_ms: None) if watched else None
    (problem,) = refusal(changed, lambda replay: replay.run(on_node))
    assert problem.code == "CG709"
    file_and_entry = "{} of {}".format(*reversed(kernel(bundle)))
    assert problem.render_title().startswith(
        f"the NumPy function for {file_and_entry} failed in command 1, cgImageAdd: ValueError: "
    )
    assert problem.span == node.origin.span
    assert f"{node.image.signature.slots[1].name} [3]" in problem.notes()[0]
    assert problem.notes()[1].startswith("raised by ")


@pytest.mark.usefixtures("exact")
def test_the_image_as_it_is_fits(bundle: Bundle) -> None:
    with Replay(bundle) as replay:
        replay.set("x", np.array([1, 2, 3, 4], np.float32))
        replay.run()
        assert replay.get("z").tolist() == [3, 6, 9, 12]


def test_a_slot_that_the_library_knows_is_missing(bundle: Bundle) -> None:
    (problem,) = refusal(renamed(bundle, 2, "other"))
    assert problem.code == "CG708"
    assert problem.notes()[0] == "the image has no `b`, which the function needs"


def test_problems_of_a_function_stay_what_they_are(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = refusal(renamed(bundle, 1, "leftHand"))

    def stopped(_context: object, **_given: NDArray[Any]) -> None:
        raise ProblemsFound(expected)

    replace_meaning(monkeypatch, bundle, stopped)
    assert refusal(bundle) == expected


def test_an_error_without_a_text(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_context: object, **_given: NDArray[Any]) -> None:
        raise ZeroDivisionError

    replace_meaning(monkeypatch, bundle, failing)
    executable = prepare_host(bundle.graph, bundle.schedule, bundle.plan)
    executable.set("x", np.ones(4, np.float32))
    with pytest.raises(ProblemsFound) as stopped:
        executable.run()
    (problem,) = stopped.value.problems
    assert problem.render_title().endswith("command 0, cgImageAdd: ZeroDivisionError")
    assert problem.notes()[1].startswith("raised by failing in line ")
    assert isinstance(stopped.value.__cause__, ZeroDivisionError)


def signature_of(bundle: Bundle) -> Signature:
    return bundle.images[0].signature


def kernel(bundle: Bundle) -> tuple[str, str]:
    """Its file and its entry."""
    return signature_of(bundle).file, signature_of(bundle).entry

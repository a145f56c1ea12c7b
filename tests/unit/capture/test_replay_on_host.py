"""Replays on the host: planes, runs, kernels that the host executes itself, arrays of PyTorch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.capture import Bundle, Replay, load_bundle, make_bundle, save_bundle
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import Compiled, compile_program
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tests.support.kernel_files import write_files

SUM = """
import "operations.cg"
plane x : f32 [4] input
plane w : f32 [4] state
plane y : f32 [4] output
def main = (cgThen (cgBinary cgImageAdd w w x 4) (cgBinary cgImageAdd y x x 4))
"""
X = np.array([1, 2, 3, 4], np.float32)
AXPY_CG = """
plane x : f32 [40] input
plane y : f32 [40] output
image axpy = kernel "axpy.cu" "axpy" {
  slot 0 out : write f32 [count]
  slot 1 source : read f32 [count]
  slot 2 factor : float
  slot 3 count : natural
  grid [(naturalCeilDivide count 64), 1, 1]
  block 64
}
def launched = (lambda unrestricted out : Plane f32 . (lambda unrestricted source : Plane f32 .
  (cgLaunch axpy 1 1 1
    (cgPointer (cgArgument 0) out (cgPointer (cgArgument 1) source
    (cgFloat (cgArgument 2) 2.0 (cgNatural (cgArgument 3) 40 cgNoSlots)))))))
def main = (launched y x)
"""
AXPY_CU = """\
extern "C" __global__ void axpy(float* out, const float* source, float factor, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        out[i] = factor * source[i];
    }
}
"""


def bundle_of_file(folder: Path, **options: Any) -> Path:
    """A user's kernel in a bundle; program and kernel are gone."""
    write_files(folder, {"axpy.cg": AXPY_CG, "axpy.cu": AXPY_CU})
    compiled = compile_program(load_source(folder / "axpy.cg"), half=Element.F16)
    save_bundle(made(compiled, **options), folder / "axpy.cgb")
    for name in ("axpy.cg", "axpy.cu"):
        (folder / name).unlink()
    return folder / "axpy.cgb"


def made(compiled: Compiled, **options: Any) -> Bundle:
    return make_bundle(compiled.graph, compiled.schedule, compiled.plan, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_bundle(made(compile_program(Source("sum.cg", SUM)), data={"x": X}), tmp_path / "sum.cgb")
    return tmp_path / "sum.cgb"


def drawn(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(40).astype(np.float32)


def test_runs_and_planes(path: Path) -> None:
    with Replay(str(path)) as replay:
        replay.run()
        assert replay.get("y").tolist() == [2, 4, 6, 8]
        replay.run_many(0)
        replay.run_many(3, lambda number: {"x": np.full(4, number, np.float32)} if number else None)
        assert replay.get("w").tolist() == [1 + 1 + 1 + 2, 2 + 2 + 1 + 2, 3 + 3 + 1 + 2, 4 + 4 + 1 + 2]
        assert set(replay.results()) == {"w", "y"}
        replay.reset()
        assert replay.get("x").tolist() == X.tolist()
        assert not replay.get("w").any()
        assert not replay.get("y").any()
        times: list[int] = []
        replay.run(lambda index, elapsed_ms: times.append(index) if elapsed_ms >= 0 else None)
        assert times == [0, 1]
    with pytest.raises(ValueError, match="times: expected 0 or more, got -1"), Replay(path) as replay:
        replay.run_many(-1)
    with pytest.raises(ValueError, match="`gpu` is no device"):
        Replay(path, "gpu")


def test_memory_of_others_is_left_alone_by_reset(path: Path) -> None:
    kept = np.full(4, 7, np.float32)
    with Replay(path) as replay:
        replay.rebind("w", kept)
        replay.run()
        assert kept.tolist() == [8, 9, 10, 11]
        replay.reset()
        assert kept.tolist() == [8, 9, 10, 11]


def test_a_replay_lets_go_of_what_it_was_given(path: Path) -> None:
    replay = Replay(path)
    given = X.copy()
    replay.rebind("x", given)
    replay.close()
    replay.close()
    given.resize(400)  # NumPy refuses while anybody else looks at it


def test_kernels_that_the_host_executes(tmp_path: Path) -> None:
    with Replay(bundle_of_file(tmp_path)) as replay:
        first = drawn(1)
        replay.rebind("x", first)
        replay.run()
        assert np.array_equal(replay.get("y"), 2 * first)
        target = np.zeros(40, np.float32)
        replay.rebind("y", target)
        replay.set_scalar(0, "factor", -0.5)
        for seed in (2, 3):
            replay.rebind("x", drawn(seed))
            replay.run()
            assert np.array_equal(target, np.float32(-0.5) * drawn(seed))


def test_kernels_of_which_there_is_no_code(tmp_path: Path) -> None:
    """The text is compiled again; where only machine code is left and no text compiles, all reasons are named."""
    stored = load_bundle(bundle_of_file(tmp_path, architectures=("sm_90",)))
    assert isinstance(stored, Bundle)
    (module,) = stored.modules
    assert [code.kind for code in module.codes] == [CodeKind.PTX, CodeKind.CUBIN]
    texts = type(module)(module.file, module.source, module.includes, module.options, module.defines, ())
    with Replay(Bundle(stored.graph, stored.schedule, stored.plan, (texts,), (0,), {"x": drawn(4)})) as replay:
        replay.run()
        assert np.array_equal(replay.get("y"), 2 * drawn(4))
    broken = type(module)(module.file, "#error no\n", (), module.options, (), module.codes[1:])
    with pytest.raises(ProblemsFound) as stopped:
        Replay(Bundle(stored.graph, stored.schedule, stored.plan, (broken,), (0,)))
    (problem,) = stopped.value.problems
    assert problem.code == "CG830"
    notes = " ".join(problem.notes())
    for reason in ("the device takes no machine code", "there is no PTX", "axpy.cu does not compile"):
        assert reason in notes
    with pytest.raises(ProblemsFound, match="CG831"):
        Replay(Bundle(stored.graph, stored.schedule, stored.plan, (), (None,)))


def test_arrays_of_pytorch(path: Path) -> None:
    torch = pytest.importorskip("torch")
    given, target = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.zeros(4)
    with Replay(path) as replay:
        replay.rebind("x", given)
        replay.rebind("y", target)
        replay.run()
        assert target.tolist() == [2, 4, 6, 8]
        given.mul_(10)
        replay.run()
        assert target.tolist() == [20, 40, 60, 80]
        # Its storage grows and moves, and it is a view of four elements again.
        given.resize_(4_000_000).resize_(4)
        given.copy_(torch.tensor([5.0, 6.0, 7.0, 8.0]))
        replay.run()
        assert target.tolist() == [10, 12, 14, 16]
        given.resize_(3)
        with pytest.raises(ProblemsFound, match="CG744"):
            replay.run()
        for wrong in (torch.zeros(4, dtype=torch.float64), torch.zeros(8)[::2], torch.zeros(4, requires_grad=True)):
            with pytest.raises(ProblemsFound, match="CG744"):
                replay.rebind("x", wrong)

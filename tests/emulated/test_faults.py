"""What is said about a faulty kernel: the command with its line, the .cu line, the thread.

It is the same in a launch of the graph and in a run with times.
"""

from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings")

from cuda.bindings import driver as cu

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import compile_program, lower
from cgraph.syntax.loading import load_source
from tests.support.emulated import call
from tests.support.emulated_runs import EMULATED

KERNELS = """
extern "C" __global__ void overrun(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[0];
}
extern "C" __global__ void partial(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) out[i] = 1.0f;
}
"""
PROGRAM = """
import "operations.cg"
image overrun = kernel "faulty.cu" "overrun" {
  slot 0 out : write f32 [n]
  slot 1 in : read f32 [n]
  slot 2 n : natural
  block 128
}
image partial = kernel "faulty.cu" "partial" {
  slot 0 out : write f32 [n]
  slot 1 n : natural
  block 128
}
plane x : f32 [70] input
plane s : f32 [70] scratch
plane y : f32 [70] output
def overrunY =
  (cgLaunch overrun 1 1 1
    (cgPointer (cgArgument 0) y (cgPointer (cgArgument 1) x (cgNatural (cgArgument 2) 70 cgNoSlots))))
def partialS = (cgLaunch partial 1 1 1 (cgPointer (cgArgument 0) s (cgNatural (cgArgument 1) 70 cgNoSlots)))
def past = (cgThen (cgFill s 1.0) (cgThen overrunY (cgBinary cgImageAdd s y x 70)))
def unwritten = (cgThen partialS (cgBinary cgImageAdd y s x 70))
"""


def problems_of(tmp_path: Path, entry: str, *, timed: bool) -> list[tuple[str, str]]:
    """Code and title of what a run says."""
    (tmp_path / "faulty.cu").write_text(KERNELS)
    (tmp_path / "faulty.cg").write_text(PROGRAM)
    program = compile_program(load_source(tmp_path / "faulty.cg"), entry=entry, half=Element.F16)
    executable = lower(program.graph, program.schedule, program.plan, EMULATED)
    try:
        with pytest.raises(ProblemsFound) as stopped:
            executable.run((lambda _index, _elapsed_ms: None) if timed else None)
    finally:
        del executable
        # A failed context stays so; the next test gets a new one.
        call(cu.cuDevicePrimaryCtxReset, 0)
    return [(problem.code, problem.render_title()) for problem in stopped.value.problems]


@pytest.mark.parametrize("timed", [False, True])
def test_a_write_past_the_end(tmp_path: Path, *, timed: bool) -> None:
    found = dict(problems_of(tmp_path, "past", timed=timed))
    assert found["CG756"] == "faulty.cu:4 writes out of bounds of plane y"
    assert found["CG767"] == "the emulated device found 1 problem(s) in command 1, overrun"
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in found["CG742"]


@pytest.mark.parametrize("timed", [False, True])
def test_a_read_of_what_a_kernel_did_not_write(tmp_path: Path, *, timed: bool) -> None:
    found = problems_of(tmp_path, "unwritten", timed=timed)
    codes = {code for code, _ in found}
    assert codes == {"CG759", "CG767"}
    assert all("reads bytes of the arena of scratch planes that nothing wrote" in t for c, t in found if c == "CG759")
    assert [title.rpartition(" in ")[2] for code, title in found if code == "CG767"] == ["command 1, cgImageAdd"]

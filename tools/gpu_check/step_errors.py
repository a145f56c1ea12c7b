"""What a user sees when something is wrong: errors of the driver, of changes and of kernels, each told as a problem."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from rows import Row, judged
from session import Session, compiled_layer, opened

from cgraph.backends.devices import prepare
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import LaunchNode
from cgraph.pipeline import Compiled, compile_program
from cgraph.syntax.loading import load_source

SIZES = {"cgSeq": 33, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 40, "cgLayers": 1}
PROGRAM = """\
parameter n : Nat = 100
parameter threads : Nat = 64
plane y : f32 [n] output
image step = kernel "step.cu" "step" {
  slot 0 out : write f32 [n]
  slot 1 n : natural
  slot 2 threads : natural
  slot 3 far : natural
  grid [1, 1, 1]
  block threads
}
def main =
  (cgLaunch step 1 1 1
    (cgPointer (cgArgument 0) y
    (cgNatural (cgArgument 1) n
    (cgNatural (cgArgument 2) threads
    (cgNatural (cgArgument 3) FAR cgNoSlots)))))
"""
KERNEL = """\
extern "C" __global__ void __launch_bounds__(64) step(float* out, int n, int threads, int far) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = 1.0f;
    }
    out[static_cast<size_t>(far) * far] = 1.0f;
}
"""


def problems_of(action: Callable[[], Any]) -> tuple[Problem, ...]:
    """What an action reports; () where it succeeds."""
    try:
        action()
    except ProblemsFound as stopped:
        return tuple(stopped.problems)
    return ()


def expect(name: str, action: Callable[[], Any], code: str, words: str = "") -> Row:
    """A row that is ok if the action reports a problem with this code, and these words in its title, label or notes."""
    problems = problems_of(action)
    told = [" ".join((p.render_title(), p.render_label(), *p.notes())) for p in problems]
    passed = any(p.code == code and words in text for p, text in zip(problems, told, strict=True))
    codes = ", ".join(problem.code for problem in problems) or "nothing was reported"
    title = next((p.render_title() for p in problems if p.code == code), "")
    return judged(name, passed, f"{codes}: {title}" if title else f"{codes}, not {code} with `{words}`")


@contextmanager
def own_program(far: int = 0, **parameters: int) -> Iterator[Compiled]:
    """A program with a kernel of its own: one launch, `threads` to a block, a write at far² elements."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.cu").write_text(KERNEL, encoding="utf-8")
        path = Path(folder) / "step.cg"
        path.write_text(PROGRAM.replace("FAR", str(far)), encoding="utf-8")
        yield compile_program(load_source(path), parameters, half=Element.F16)


def check_errors(session: Session) -> Iterator[Row]:
    """Errors after which the device goes on."""
    compiled = compiled_layer("layer_forward", SIZES, Element.F16)
    attention = next(
        node.index
        for node in compiled.graph.nodes
        if isinstance(node, LaunchNode) and node.image.signature.entry == "cgAttention"
    )
    with opened(compiled, {}, session.device) as executable:
        yield expect("a plane that is not there", lambda: executable.get("cgNothing"), "CG702")
        wrong = np.zeros(3, np.float32)
        yield expect("an array that does not fit", lambda: executable.set("cgInput", wrong), "CG703")
        with executable.device.current():
            small = executable.device.call(cu.cuMemAlloc, 256)
        yield expect("too little memory", lambda: executable.rebind("cgInput", int(small)), "CG744")
        yield expect("no device memory", lambda: executable.rebind("cgInput", 4096), "CG744", "no device memory")
        with executable.device.current():
            executable.device.call(cu.cuMemFree, small)
        resize = f"axis 0 of mergedHalf would be 16; the graph was verified with {SIZES['cgSeq']}"
        yield expect("a scalar that gives sizes", lambda: executable.set_scalar(attention, "seq", 16), "CG744", resize)
        executable.run()
        yield judged("the graph runs after all that", bool(np.isfinite(executable.get("cgOutput")).all()))
    double = compiled_layer("layer_forward", SIZES, Element.F64)
    yield expect("a build in f64", lambda: prepare(double.graph, double.schedule, double.plan, session.device), "CG743")
    with own_program(threads=128) as large:
        yield expect("a block that the kernel does not allow", lambda: _run(large, session), "CG742", "command 0, step")
    with own_program(threads=64) as good:
        yield judged("the device goes on", not problems_of(lambda: _run(good, session)))


def check_faults(session: Session) -> Iterator[Row]:
    """A kernel that writes far outside its planes: the context is lost, and nothing hangs."""
    with own_program(far=40_000) as wild:
        yield expect("a write far outside", lambda: _run(wild, session), "CG742", "ILLEGAL_ADDRESS")
        if session.emulated:
            yield expect("its line, where the device knows it", lambda: _run(wild, session), "CG756", "step.cu:5")


def _run(compiled: Compiled, session: Session) -> None:
    with opened(compiled, {}, session.device) as executable:
        executable.run()

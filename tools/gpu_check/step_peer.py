"""The layer beside PyTorch, where PyTorch is installed with CUDA: gradients and times.

Theirs is tools/bench/layer_torch.py in eager mode under autocast: weights in f32, products in half, as ours. On an
emulated device both run on the host's processors, at a small size, to try the script itself.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rows import Row, Status, judged
from session import Arrays, Session, compiled_layer, opened, results
from step_times import LAYER, ROUNDS, SMALL_LAYER, WARM_ROUNDS

from cgraph.cli.layer_oracle import layer_bound
from cgraph.core.elements import Element
from cgraph.models.random_planes import random_plane

BENCH = Path(__file__).resolve().parents[1] / "bench"


def check_peer(session: Session) -> Iterator[Row]:
    """A row for the gradients and one for the times of each half."""
    if find_spec("torch") is None:
        yield Row("PyTorch", Status.SKIPPED, "it is not installed")
        return
    torch: Any = import_module("torch")
    if not session.emulated and not torch.cuda.is_available():
        yield Row("PyTorch", Status.SKIPPED, "it is installed without CUDA")
        return
    if not (BENCH / "layer_torch.py").is_file():
        yield Row("PyTorch", Status.SKIPPED, f"there is no {BENCH / 'layer_torch.py'}")
        return
    sys.path.append(str(BENCH))
    for half, dtype in ((Element.BF16, torch.bfloat16), (Element.F16, torch.float16)):
        yield from _compare(session, torch, import_module("layer_torch"), half, dtype)
        if session.reduced:
            return


def _compare(session: Session, torch: Any, bench: Any, half: Element, dtype: Any) -> Iterator[Row]:
    sizes = SMALL_LAYER if session.reduced else LAYER
    compiled = compiled_layer("layer_backward", sizes, half)
    values: Arrays = {
        plane.name: random_plane(plane, 0) for plane in compiled.graph.planes if plane.role.value != "scratch"
    }
    rounds, warm_rounds = (1, 0) if session.reduced else (ROUNDS, WARM_ROUNDS)
    with opened(compiled, values, session.device) as executable:
        ours_ms = []
        for _ in range(warm_rounds + rounds):
            start = perf_counter()
            executable.run()
            ours_ms.append(1e3 * (perf_counter() - start))
        ours = results(compiled, executable)
    place = "cpu" if session.emulated else f"cuda:{session.device.number}"
    theirs, theirs_ms = _run_torch(torch, bench, sizes, values, dtype, place, rounds)
    bound = 2 * (layer_bound(compiled.graph) or 0.0)
    errors = {
        plane: float(np.linalg.norm(ours[plane].astype(np.float64) - array) / np.linalg.norm(array))
        for plane, array in theirs.items()
    }
    worst = max(errors, key=errors.__getitem__)
    detail = f"{worst}: relative difference {errors[worst]:.1e}, bound {bound:.1e}"
    yield judged(f"gradients {half.value}", errors[worst] <= bound, detail, error=errors[worst], bound=bound)
    ours_median, theirs_median = median(ours_ms[warm_rounds:]), median(theirs_ms)
    words = f"ours {ours_median:.3f} ms, PyTorch {torch.__version__} on {place} {theirs_median:.3f} ms"
    numbers = {"ours_ms": ours_median, "torch_ms": theirs_median, "ratio": ours_median / theirs_median}
    yield Row(f"times {half.value}", Status.NOTE, f"{words}, ratio {numbers['ratio']:.2f}", numbers)


def _run_torch(
    torch: Any, bench: Any, sizes: dict[str, int], values: Arrays, dtype: Any, place: str, rounds: int
) -> tuple[Arrays, list[float]]:
    """Gradients by our planes' names in f64, and the milliseconds of each step."""
    torch.set_default_device(place)
    named = {name: torch.from_numpy(array.copy()).to(place) for name, array in values.items() if array.dtype == "f4"}
    width = sizes["cgHeads"] * sizes["cgHeadWidth"]
    peer = bench.TorchLayer(bench.Sizes(sizes["cgSeq"], width, sizes["cgHeads"], sizes["cgFfn"]), named)

    def wait() -> None:
        if place != "cpu":
            torch.cuda.synchronize()

    times_ms = []
    with torch.autocast(place.partition(":")[0], dtype=dtype):
        for _ in range(rounds + WARM_ROUNDS):
            wait()
            start = perf_counter()
            peer.step()
            wait()
            times_ms.append(1e3 * (perf_counter() - start))
    gradients = {
        plane: peer.leaves[leaf].grad.to(torch.float64).cpu().numpy() for leaf, (_, plane) in bench.LEAVES.items()
    }
    return gradients, times_ms[WARM_ROUNDS:]

"""Times one layer's backward pass on the host backend beside PyTorch on the same processor.

    python tools/bench/layer.py [--rounds 15] [--threads 2] [--size 0|1|2]

Ours: programs/layer_backward.cg for one layer: tables, casts of the weights, recompute of the layer from its boundary,
backward pass. Theirs: forward and backward pass, eager. The two alternate within one run, because the machine's load
changes; the report gives medians, the smallest times and their ratios. See README.md.
"""

import argparse
from collections import defaultdict
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np
import torch
from layer_torch import LEAVES, Sizes, TorchLayer
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from cgraph.backends.protocol import Executable
from cgraph.graph.purposes import given_planes
from cgraph.models.random_planes import random_plane
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source

SIZES = (Sizes(256, 256, 4, 1024), Sizes(1024, 768, 12, 3072), Sizes(1024, 1024, 16, 4096))
TOLERANCE = 2e-5
# Idle threads of either library spin for some milliseconds before they sleep; neither shall disturb the other.
PAUSE_S = 0.03


def compile_layer(sizes: Sizes) -> Compiled:
    """The program for one layer of these sizes."""
    parameters = {
        "cgSeq": sizes.seq,
        "cgHeads": sizes.heads,
        "cgHeadWidth": sizes.head_width,
        "cgFfn": sizes.ffn,
        "cgLayers": 1,
    }
    source = load_source(programs_directory() / "layer_backward.cg")
    return compile_program(source, parameters, order=Order.SERIAL)


def fill(compiled: Compiled, executable: Executable) -> dict[str, NDArray[Any]]:
    """Random values for all planes that the program is given; the saved boundary is the layer's input."""
    values = {plane.name: random_plane(plane, seed=0) for plane in given_planes(compiled.graph)}
    for name, value in values.items():
        executable.set(name, value)
    return values


def largest_difference(executable: Executable, peer: TorchLayer) -> float:
    """The largest relative difference, in the Frobenius norm, between our gradients and theirs."""
    worst = 0.0
    for leaf, (_, plane) in LEAVES.items():
        gradient = peer.leaves[leaf].grad
        if gradient is None:
            raise RuntimeError(f"PyTorch left no gradient of {leaf}")
        theirs = gradient.numpy()
        worst = max(worst, float(np.linalg.norm(executable.get(plane) - theirs) / np.linalg.norm(theirs)))
    return worst


def time_program(compiled: Compiled, executable: Executable, kernels: dict[str, list[float]]) -> float:
    """Runs the program; appends the milliseconds of each kind of command and returns the whole run's."""
    totals: dict[str, float] = defaultdict(float)
    nodes = compiled.graph.nodes

    def note(index: int, elapsed_ms: float) -> None:
        totals[nodes[index].origin.text] += elapsed_ms

    start = perf_counter()
    executable.run(note)
    elapsed_ms = 1e3 * (perf_counter() - start)
    for kernel, kernel_ms in totals.items():
        kernels[kernel].append(kernel_ms)
    return elapsed_ms


def measure(sizes: Sizes, rounds: int) -> None:
    """Prints one line of results and one of kernels."""
    compiled = compile_layer(sizes)
    executable = lower(compiled.graph, compiled.schedule, compiled.plan)
    values = fill(compiled, executable)
    peer = TorchLayer(sizes, {name: torch.from_numpy(value.copy()) for name, value in values.items()})
    kernels: dict[str, list[float]] = defaultdict(list)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 1):
        sleep(PAUSE_S)
        elapsed_ms = time_program(compiled, executable, kernels)
        sleep(PAUSE_S)
        start = perf_counter()
        peer.step()
        peer_ms = 1e3 * (perf_counter() - start)
        if number == 0:
            difference = largest_difference(executable, peer)
            kernels.clear()
            continue
        theirs.append(peer_ms)
        ours.append(elapsed_ms)
    ratio = median(ours) / median(theirs)
    print(
        f"{tuple(sizes)}: ours {median(ours):.1f} (best {min(ours):.1f}) ms, "
        f"PyTorch {median(theirs):.1f} (best {min(theirs):.1f}) ms, ratio {ratio:.2f} "
        f"(of the best {min(ours) / min(theirs):.2f}), largest difference {difference:.1e}"
    )
    print("   " + ", ".join(f"{kernel.removeprefix('cgImage')} {median(ms):.1f}" for kernel, ms in kernels.items()))
    if difference > TOLERANCE:
        raise SystemExit(f"the gradients differ by {difference:.1e}, more than {TOLERANCE:.0e}")


def main() -> None:
    """Measures all sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="timed runs of each, after one that is not timed")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch")
    parser.add_argument("--size", type=int, choices=range(len(SIZES)), help="only this size")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for library in threadpool_info():
        kernels = library.get("architecture", "-")
        print(f"{library['internal_api']} {library['version']}: {library['num_threads']} threads, kernels {kernels}")
    for sizes in SIZES if options.size is None else SIZES[options.size : options.size + 1]:
        measure(sizes, options.rounds)


if __name__ == "__main__":
    main()

"""Times one layer's backward pass on the host backend beside PyTorch on the same processor.

Ours: casts of the weights, recompute of the layer from its boundary (without the last product, which no gradient
needs), backward pass. Theirs: forward and backward pass, eager. The two alternate within one run, because the
machine's load changes; the report gives medians, the smallest times and their ratios. See README.md.
"""

import argparse
from collections import defaultdict
from statistics import median
from time import perf_counter, sleep

import numpy as np
import torch
from layer_calls import WEIGHTS, Layer, Sizes
from layer_torch import TorchLayer
from threadpoolctl import threadpool_info

from cgraph.images.context import HostContext

SIZES = (Sizes(256, 256, 4, 1024), Sizes(1024, 768, 12, 3072), Sizes(1024, 1024, 16, 4096))
TOLERANCE = 2e-5
# Idle threads of either library spin for some milliseconds before they sleep; neither shall disturb the other.
PAUSE_S = 0.03


def fill(layer: Layer) -> None:
    """Standard normal inputs; weights scaled so that their products keep that size."""
    generator = np.random.default_rng(0)
    planes = layer.planes
    for name in ("x", "current", "shift1", "shift2"):
        planes[name][...] = generator.standard_normal(planes[name].shape)
    for name in ("gain1", "gain2"):
        planes[name][...] = 1.0 + 0.1 * generator.standard_normal(planes[name].shape)
    for name in WEIGHTS:
        weight = planes[name + "Weight"]
        weight[...] = generator.standard_normal(weight.shape) / np.sqrt(weight.shape[1])


def largest_difference(layer: Layer, peer: TorchLayer) -> float:
    """The largest relative difference, in the Frobenius norm, between our gradients and theirs."""
    pairs = [(layer.planes[name.removesuffix("Weight") + "Gradient"], name) for name in peer.leaves if name != "x"]
    pairs.append((layer.planes["current"], "x"))
    worst = 0.0
    for ours, name in pairs:
        gradient = peer.leaves[name].grad
        if gradient is None:
            raise RuntimeError(f"PyTorch left no gradient of {name}")
        theirs = gradient.numpy()
        worst = max(worst, float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)))
    return worst


def time_layer(layer: Layer, phases: dict[str, list[float]]) -> float:
    """Runs all calls; appends each phase's milliseconds and returns their sum."""
    totals: dict[str, float] = defaultdict(float)
    for phase, _name, run in layer.calls:
        start = perf_counter()
        run()
        totals[phase] += 1e3 * (perf_counter() - start)
    for phase, elapsed_ms in totals.items():
        phases[phase].append(elapsed_ms)
    return sum(totals.values())


def measure(sizes: Sizes, rounds: int) -> None:
    """Prints one line of results and one of phases."""
    layer = Layer(HostContext(), sizes)
    fill(layer)
    gradient = layer.planes["current"].copy()
    names = ("x", "current", "gain1", "shift1", "gain2", "shift2", *(name + "Weight" for name in WEIGHTS))
    peer = TorchLayer(sizes, {name: torch.from_numpy(layer.planes[name].copy()) for name in names})
    phases: dict[str, list[float]] = defaultdict(list)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 1):
        np.copyto(layer.planes["current"], gradient)
        sleep(PAUSE_S)
        elapsed_ms = time_layer(layer, phases)
        sleep(PAUSE_S)
        start = perf_counter()
        peer.step()
        peer_ms = 1e3 * (perf_counter() - start)
        if number == 0:
            difference = largest_difference(layer, peer)
            phases.clear()
            continue
        theirs.append(peer_ms)
        ours.append(elapsed_ms)
    ratio = median(ours) / median(theirs)
    print(
        f"{tuple(sizes)}: ours {median(ours):.1f} (best {min(ours):.1f}) ms, "
        f"PyTorch {median(theirs):.1f} (best {min(theirs):.1f}) ms, ratio {ratio:.2f} "
        f"(of the best {min(ours) / min(theirs):.2f}), largest difference {difference:.1e}"
    )
    print("   " + ", ".join(f"{phase} {median(times):.1f}" for phase, times in phases.items()))
    if difference > TOLERANCE:
        raise SystemExit(f"the gradients differ by {difference:.1e}, more than {TOLERANCE:.0e}")


def main() -> None:
    """Measures all sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
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

"""Loading a bundle beside building the graph in it from its program, paired: one of each, in turns.

    python tools/bench/bundles.py [--repeat 9] [--size 5000]

Two programs of about 5,000 commands: the backward pass of a GPT with 75 layers, most of whose commands come from one
definition that runs in a loop; and a chain of as many commands that stand one by one in the text. Building begins with
the text on disk and ends with the memory plan; loading begins with the file, checks everything and ends with the same
values. Both hold no kernel code. Prints medians and the ratio of the medians. Exit code 1 where loading takes a second
or more, or is not at least 5 times faster.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cgraph.capture.loading import load_bundle
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from tools.bench.front_end import chain

COMMANDS_OF_A_LAYER = 66
MOST_SECONDS = 1.0
LEAST_RATIO = 5.0


def elapsed_ms(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = perf_counter()
    call()
    return 1e3 * (perf_counter() - start)


def build_program(file: Path, parameters: dict[str, int]) -> Compiled:
    """From the text on disk to the memory plan."""
    return compile_program(load_source(file), parameters)


def main() -> None:
    """Runs the benchmark and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--size", type=int, default=5_000)
    arguments = parser.parse_args()
    holds = True
    print(f"{'program':>10}{'commands':>10}{'file bytes':>12}{'build ms':>10}{'load ms':>10}{'ratio':>8}   (medians)")
    with TemporaryDirectory() as folder:
        text = Path(folder) / "chain.cg"
        text.write_text(chain(arguments.size), encoding="utf-8")
        layers = round(arguments.size / COMMANDS_OF_A_LAYER)
        for name, file, parameters in (
            ("gpt", programs_directory() / "gpt.cg", {"cgLayers": layers}),
            ("chain", text, {}),
        ):
            build = partial(build_program, file, parameters)
            program = build()
            path = Path(folder) / f"{name}.cgb"
            save_bundle(make_bundle(program.graph, program.schedule, program.plan), path)
            load_bundle(path)
            times = [
                (elapsed_ms(build), elapsed_ms(lambda path=path: load_bundle(path))) for _ in range(arguments.repeat)
            ]
            build_ms, load_ms = (median(column) for column in zip(*times, strict=True))
            ratio = build_ms / load_ms
            holds &= load_ms < 1e3 * MOST_SECONDS and ratio >= LEAST_RATIO
            size_bytes = path.stat().st_size
            count = len(program.graph.nodes)
            print(f"{name:>10}{count:>10}{size_bytes:>12}{build_ms:>10.1f}{load_ms:>10.1f}{ratio:>8.1f}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()

"""Time of each stage of the front end, in microseconds a command, on chains of commands.

    python tools/bench/front_end.py [--sizes 1000 10000 100000] [--repeat 5]

Each command of a chain adds two planes: `(cgThen (cgBinary cgImageAdd out a b n) …)`, nested as deep as the chain is
long. Prints the median of the repeats for each stage and the sum of the medians; text to plan is the whole line.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.graph.hazards import find_hazards
from cgraph.graph.verify import verify
from cgraph.pipeline import build, check, parse, plan
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from cgraph.source import Source

PLANES = 8


def chain(commands: int) -> str:
    """A program of so many commands, each reading what the one before wrote."""
    lines = ['import "operations.cg"', "plane given : f32 [cgSeq] input"]
    lines += [f"plane p{index} : f32 [cgSeq] scratch" for index in range(PLANES)]
    lines.append("def main =")
    for index in range(commands):
        source = "given" if index == 0 else f"p{(index - 1) % PLANES}"
        command = f"(cgBinary cgImageAdd p{index % PLANES} {source} given cgSeq)"
        lines.append(f"  (cgThen {command}" if index < commands - 1 else f"  {command}")
    return "\n".join(lines) + ")" * (commands - 1) + "\n"


def stages_us(text: str, commands: int) -> dict[str, float]:
    """Microseconds a command of each stage, once."""
    times: dict[str, float] = {}

    def timed(stage: str, call: Callable[[], Any]) -> Any:
        start = perf_counter()
        result = call()
        times[stage] = 1e6 * (perf_counter() - start) / commands
        return result

    with paused_collection():
        module = timed("parse", lambda: parse(Source("chain.cg", text)))
        program, _ = timed("check", lambda: check(module))
        graph = timed("build", lambda: build(program, {}, entry=None, half=Element.F32))
        hazards = timed("hazards", lambda: find_hazards(graph))
        timed("verify", lambda: verify(graph, hazards))
        schedule = timed("schedule", lambda: make_schedule(graph, hazards, Order.DATAFLOW))
        timed("plan", lambda: plan(graph, schedule))
    return times


def main() -> None:
    """Runs the benchmark and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    stages_us(chain(100), 100)  # imports and caches
    rows = {}
    for size in arguments.sizes:
        text = chain(size)
        runs = [stages_us(text, size) for _ in range(arguments.repeat)]
        rows[size] = {stage: median(run[stage] for run in runs) for stage in runs[0]}
    names = list(next(iter(rows.values())))
    print(f"{'commands':>10}" + "".join(f"{name:>10}" for name in [*names, "all"]) + "   (us a command, medians)")
    for size, row in rows.items():
        print(f"{size:>10}" + "".join(f"{row[name]:>10.1f}" for name in names) + f"{sum(row.values()):>10.1f}")


if __name__ == "__main__":
    main()

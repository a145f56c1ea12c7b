"""Times of the page: writing it, first paint, opening a box; in milliseconds, medians.

    PYTHONPATH=. python tools/bench/view.py [--layers 12 70] [--repeat 5]

Needs selenium, chromium and chromedriver. The graph is programs/gpt.cg with so many layers. Writing is from a view to a
file; first paint is from the request of the page until it has drawn all its parts; opening is from the key until the
next frame has been drawn, for the first closed box, and for every box that can be seen.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from cgraph.pipeline import compile_program
from cgraph.source import Source
from cgraph.view.graphs import view_of_graph
from cgraph.view.html import html_text
from cgraph.view.model import View
from tests.support.browser import Browser, open_browser

PROGRAM = Path(__file__).parents[2] / "programs" / "gpt.cg"
KEY_TO_FRAME = """
const [key, done] = arguments;
const start = performance.now();
document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
"""


def graph_view(layers: int) -> View:
    """The view of a model with so many layers."""
    compiled = compile_program(Source(str(PROGRAM), PROGRAM.read_text(encoding="utf-8")), {"cgLayers": layers})
    return view_of_graph(compiled.graph, compiled.schedule, compiled.plan, title=PROGRAM.name)


def times_ms(browser: Browser, page: Path) -> dict[str, float]:
    """First paint, one box and all boxes, once."""
    start = perf_counter()
    browser.open(page)
    browser.frame()
    times = {"first paint": 1e3 * (perf_counter() - start)}
    phase = browser.script(
        "return document.querySelector('[role=treeitem][aria-expanded]').dataset.key.replace('phase-', '')"
    )
    browser.script("location.hash = `select=phase-${arguments[0]}`", phase)
    browser.wait("document.querySelector('#details h2').textContent !== ''")
    browser.frame()
    for name, key in (("open one", "o"), ("open all seen", "e")):
        times[name] = float(browser.driver.execute_async_script(KEY_TO_FRAME, key))
    return times


def main() -> None:
    """Prints a line for each number of layers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--layers", type=int, nargs="+", default=[12, 70])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        for layers in options.layers:
            view = graph_view(layers)
            page = Path(folder) / f"{layers}.html"
            rounds: list[dict[str, float]] = []
            for _ in range(options.repeat):
                start = perf_counter()
                page.write_text(html_text(view), encoding="utf-8")
                write_ms = 1e3 * (perf_counter() - start)
                rounds.append({"write": write_ms, **times_ms(browser, page)})
            size_mib = page.stat().st_size / 2**20
            shown = ", ".join(f"{name} {median(each[name] for each in rounds):.0f} ms" for name in rounds[0])
            print(f"{layers} layers, {len(view.nodes)} commands, {size_mib:.1f} MiB: {shown}")


if __name__ == "__main__":
    main()

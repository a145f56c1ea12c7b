"""What tests of dumps share: examples, real files that may lie beside a checkout, and short texts."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from cgraph.view.dumps import Reading, examine_dump
from cgraph.view.references import first_wrong_reference

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "tests" / "unit" / "view" / "dumps" / "examples"
REAL = ROOT.parent / "shared" / "corpus" / "dot"
REAL_NAMES = ("05", "07", "09", "10", "12", "13")


def real_dump(name: str) -> Path:
    """A file that a driver wrote; the test is skipped where there is none."""
    path = REAL / f"{name}.dot"
    if not path.is_file():
        pytest.skip(f"the real dump {name}.dot does not lie beside this checkout")
    return path


def example(name: str) -> Reading:
    return examine((EXAMPLES / f"{name}.dot").read_text(encoding="utf-8"))


def examine(content: str | bytes, name: str = "a.dot") -> Reading:
    """Reads a dump, and checks that nothing in the view points outside it."""
    reading = examine_dump(content, name)
    assert first_wrong_reference(reading.view) is None
    return reading


def driver_dump(graphs: Iterable[tuple[int, Iterable[str]]]) -> str:
    """A dump with these graphs; each text is a label, verbatim, or an edge `0 -> 1`."""
    lines = ["digraph dot {"]
    for number, contents in graphs:
        lines += [f"subgraph cluster_{number} {{", f'label="graph_{number}" graph[style="dashed"];']
        count = 0
        for text in contents:
            before, arrow, after = text.partition(" -> ")
            if arrow:
                lines.append(f'"graph_{number}_node_{before}" -> "graph_{number}_node_{after}";')
                continue
            shape = "record" if text.startswith("{") else "rectangle"
            lines.append(f'"graph_{number}_node_{count}"[style="solid" shape="{shape}" label="{text}"];')
            count += 1
        lines.append("}")
    return "\n".join([*lines, "}", ""])


def child(number: int, graph: int) -> str:
    return f"{number}\ngraph_{graph}\n"


def empty(number: int) -> str:
    return f"{number}\nEMPTY\n"


def codes(reading: Reading) -> list[str]:
    return [problem.code for problem in reading.problems]

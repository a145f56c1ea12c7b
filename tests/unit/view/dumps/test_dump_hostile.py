"""Hostile and huge dumps: bounded work, names that stay text, nothing executed."""

import pytest

from cgraph.view.dumps import assembly, limits
from cgraph.view.dumps.symbols import kernel_of
from cgraph.view.formats import FORMATS
from cgraph.view.model import View
from tests.support.dumps import child, codes, driver_dump, empty, examine

SYMBOL = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIfEESt5arrayIPcLm2EEEEviT0_T1_"
KERNEL = (
    "{KERNEL\n| {ID | %d (topoId: %d) | " + SYMBOL + "\\<\\<\\<1,128,0\\>\\>\\>}\n"
    "| {{node handle | func handle} | {0x000055E7277A5C20 | 0x000055E7270A5A90}}\n| {cooperative | 0}\n}"
)
NAMES = (
    "</script><script>alert(1)</script>",
    "a\x00b\x1b[31m",
    "x" * 20_000,
    "\u202eright to left",
    "]]><!--",
    "%s{0}",
)


def exports(view: View) -> dict[str, str]:
    return {name: FORMATS[name].write(view) for name in ("html", "svg", "dot", "mermaid", "json")}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text_in_every_format(name: str) -> None:
    text = driver_dump([(1, [f"{{KERNEL\n| {{ID | 0 | {name}\\<\\<\\<1,1,0\\>\\>\\>}}\n}}"])])
    reading = examine(text)
    assert [kernel.symbol for kernel in reading.view.kernels] == [name]
    made = exports(reading.view)
    assert "<script>alert" not in made["html"]
    assert "<script" not in made["svg"]
    assert "\x1b" not in "".join(made.values())


def test_five_thousand_commands() -> None:
    labels = [KERNEL % (number, 4999 - number) for number in range(5000)]
    view = examine(driver_dump([(1, [*labels, *(f"{number} -> {number + 1}" for number in range(4999))])])).view
    assert (len(view.nodes), len(view.edges), len(view.kernels)) == (5000, 4999, 1)
    assert view.kernels[0].name.startswith("at::native::vectorized_elementwise_kernel<4,")


def test_a_long_file_is_shown_without_its_text() -> None:
    reading = examine("digraph {\n" + "a -> b; // " + "x" * 3_000_000 + "\n}")
    assert (reading.view.sources, reading.view.origins) == ((), ())
    assert len(reading.view.nodes) == 2
    assert any("too long to be shown" in note.text for note in reading.view.notes)


@pytest.mark.parametrize(
    "text",
    [
        'digraph {\na[label="\n' + 'b[label="\n' * 300_000,
        "digraph {\n" + "a [x=<\n" * 300_000,
        "digraph {\n" + "{" * 1_000_000,
        "digraph {\n" + "subgraph cluster_1 {" * 19_000 + "a;b;c" + "}" * 19_001,
        "digraph {\n" + "{" * 15_000 + " ".join(map(str, range(20_000))) + "}->{}" * 15_000 + "}",
        'digraph { a = "x"' + '+"x"' * 300_000 + "}",
        'digraph { a [label="' + "\\\\" * 2_000_000 + '"] }',
        "digraph { " + "/*" * 2_000_000,
        driver_dump([(1, ["{KERNEL|" + "{a|" * 100_000 + "}"])]),
        driver_dump([(1, ["{KERNEL|{" + "x" * 200_000 + "|{" + "a|" * 100_000 + "}}}"])]),
        driver_dump([(k, [*(child(i, k + 1) for i in range(10))]) for k in range(1, 60)]),
        driver_dump([(k, [*(child(i, j) for i, j in enumerate(range(1, k + 1)))]) for k in range(1, 150)]),
    ],
    ids=range(12),
)
def test_texts_made_to_cost_much(text: str) -> None:
    view = examine(text).view
    assert len(view.nodes) <= 60_000
    assert len(view.notes) <= 200


def test_short_symbols_of_endless_names_stay_as_they_are() -> None:
    # Each template has the one before it twice: the readable name of the k-th has 2 ** k parts.
    symbol = "_Z1f1PI1AS0_E" + "".join(f"S_IS{digit}_S{digit}_E" for digit in "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert kernel_of(symbol)[0].name == symbol
    deep = "_Z1f" + "P" * 20_000 + "i"
    assert kernel_of(deep)[0].name == deep


def test_readable_names_are_bounded_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MOST_NAMES", 10)
    text = driver_dump(
        [(1, [f"{{KERNEL\n| {{ID | {n} | _Z1{name}v\\<\\<\\<1,1,0\\>\\>\\>}}\n}}" for n, name in enumerate("abcd")])]
    )
    assert [kernel.name for kernel in examine(text).view.kernels] == ["a", "b", "c", "_Z1dv"]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z3fooILi3EEvv", "foo<3>"),
        ("_ZN12_GLOBAL__N_14kernEPf", "(anonymous namespace)::kern"),
        ("_ZN3cub18CUB_200_700_800_NS6kernelIfLb1EEEvT_", "cub::CUB_200_700_800_NS::kernel<float, true>"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("_Z", "_Z"),
        ("_Zz9", "_Zz9"),
        ("_ZN", "_ZN"),
        ("", ""),
    ],
)
def test_names_of_kernels(symbol: str, name: str) -> None:
    kernel, label = kernel_of(symbol)
    assert (kernel.name, kernel.symbol) == (name, symbol)
    assert name.endswith(label)


def test_repeats_are_bounded() -> None:
    graphs = [(1, [child(number, 2) for number in range(40)]), (2, [empty(number) for number in range(1000)])]
    view = examine(driver_dump(graphs)).view
    assert len(view.nodes) <= 40 + 1000 + limits.MOST_REPEATED
    assert sum(phase.note == "graph_2, drawn where it is run first" for phase in view.phases) == 40 - 1 - 19
    assert codes(examine(driver_dump(graphs))) == []

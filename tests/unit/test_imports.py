"""Imports run one way through the stages, and there are no cycles, neither of stages nor of modules."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).parents[2]
# A stage imports from stages that stand before it. Stages of one line may import each other, their modules in no cycle.
# The reference imports nothing of ours, so that it can be compared with.
ORDER = (
    ("source", "resources"),
    ("diagnostics",),
    ("core",),
    ("syntax",),
    ("embed",),
    ("check",),
    ("build", "graph"),
    ("schedule",),
    ("memory",),
    ("images",),
    ("backends", "emulator"),
    ("capture",),
    ("view",),
    ("models",),
    ("pipeline",),
    ("reference",),
    ("cli",),
)
RANKS = {stage: rank for rank, stages in enumerate(ORDER) for stage in stages}
# The command line loads a command's module when the command is run; a backend loads what may not be installed.
LAZY = ("cgraph.cli", "cgraph.backends")
# These look through all modules, or stand above all: they may import `cgraph` itself.
ABOVE_ALL = ("cgraph.diagnostics.codes", "cgraph.cli")
NEED_CUDA = ("cgraph.backends.cuda", "cgraph.emulator")


@frozen
class Import:
    """One import: of a module, at a line, perhaps inside a function."""

    module: str
    line: int
    inside_function: bool


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(tree: ast.Module, modules: frozenset[str]) -> Iterator[Import]:
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno, inside)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports name the whole path"
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield Import(whole if whole in modules else str(node.module), node.lineno, inside)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting.extend((child, inside) for child in ast.iter_child_nodes(node))


def _read_package() -> dict[str, tuple[Import, ...]]:
    paths = {_module_name(path): path for path in sorted((ROOT / "cgraph").rglob("*.py"))}
    modules = frozenset(paths)
    return {
        name: tuple(_imports(ast.parse(path.read_text(encoding="utf-8"), str(path)), modules))
        for name, path in paths.items()
    }


PACKAGE = _read_package()


def _is_in(module: str, folders: tuple[str, ...]) -> bool:
    return any(module == folder or module.startswith(f"{folder}.") for folder in folders)


def _stage(module: str) -> str | None:
    """The stage of one of our modules; None for modules of others and for the package itself."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "cgraph" and rest else None


def _runs_back(module: str, imported: str) -> bool:
    stage, other = _stage(module), _stage(imported)
    if stage is None or other is None or stage == other:
        return False
    return stage == "reference" or RANKS[other] > RANKS[stage]


def _cycle(package: Mapping[str, tuple[Import, ...]]) -> list[str]:
    edges = {name: {found.module for found in imports if found.module in package} for name, imports in package.items()}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _found(condition: object) -> list[str]:
    return [
        f"{module} line {found.line}: {found.module}"
        for module, imports in PACKAGE.items()
        for found in imports
        if condition(module, found)  # type: ignore[operator]  # a function of a module and an import
    ]


def test_every_folder_has_its_place_in_the_order() -> None:
    assert {_stage(module) for module in PACKAGE} - {None} <= set(RANKS)


def test_imports_run_one_way() -> None:
    assert _found(lambda module, found: _runs_back(module, found.module)) == []


def test_nothing_imports_the_package_as_a_whole() -> None:
    assert _found(lambda module, found: found.module == "cgraph" and not _is_in(module, ABOVE_ALL)) == []


def test_no_cycles() -> None:
    assert _cycle(PACKAGE) == []


def test_no_imports_inside_functions() -> None:
    assert _found(lambda module, found: found.inside_function and not _is_in(module, LAZY)) == []


def test_only_the_cuda_backend_and_the_emulator_need_cuda() -> None:
    assert _found(lambda module, found: _is_in(found.module, ("cuda", "torch")) and not _is_in(module, NEED_CUDA)) == []


@pytest.mark.parametrize(
    ("module", "imported", "back"),
    [
        ("cgraph.core.naturals", "cgraph.check.terms", True),
        ("cgraph.check.terms", "cgraph.core.naturals", False),
        ("cgraph.graph.model", "cgraph.build.machine", False),
        ("cgraph.source", "cgraph.diagnostics.problem", True),
        ("cgraph.reference.norm", "cgraph.source", True),
        ("cgraph.models.gpt", "cgraph.reference.norm", True),
        ("cgraph.cli.main", "numpy", False),
    ],
)
def test_the_rule_itself(module: str, imported: str, back: bool) -> None:
    assert _runs_back(module, imported) is back


def test_the_search_for_cycles_itself() -> None:
    package = {"a": (Import("b", 1, False),), "b": (Import("c", 1, False),), "c": (Import("a", 1, False),)}
    assert sorted(set(_cycle(package))) == ["a", "b", "c"]
    assert _cycle({"a": (Import("b", 1, False),), "b": ()}) == []


def test_the_reader_itself() -> None:
    text = "import os\nfrom cgraph import source\nfrom cgraph.core.types import A\ndef f():\n    import cuda.core\n"
    found = sorted(_imports(ast.parse(text), frozenset({"cgraph.source", "cgraph.core.types"})), key=lambda i: i.line)
    assert found == [
        Import("os", 1, False),
        Import("cgraph.source", 2, False),
        Import("cgraph.core.types", 3, False),
        Import("cuda.core", 5, True),
    ]

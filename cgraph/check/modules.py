"""Finds and parses the files that a program imports, each once, imported files first.

Receives the program's own module; raises ProblemsFound for files that are missing, cannot be read or do not parse.
"""

from collections.abc import Callable
from pathlib import Path

from cgraph.check.problems_names import ImportNotFound
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.suggest import closest_name
from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from cgraph.syntax.tree import Import, Module

_LONGEST_SHOWN = 80


def load_modules(root: Module, parse: Callable[[Source], Module]) -> tuple[Module, ...]:
    """The module and all that it imports, directly or through others.

    An import is looked for beside the importing file, then in the library. Files that import each other are fine: names
    are shared, and a declaration may not need itself in any case.
    """
    library = programs_directory() / "library"
    problems: list[Problem] = []
    found: dict[Path, Module] = {_key(root.source): root}
    order: list[Module] = []
    waiting: list[tuple[Module, list[Import]]] = [(root, _imports(root))]
    while waiting:
        module, imports = waiting[-1]
        if not imports:
            order.append(module)
            waiting.pop()
            continue
        wanted = imports.pop(0)
        tried = (Path(module.source.name).parent / wanted.path, library / wanted.path)
        path = next((place for place in tried if _is_file(place)), None)
        if path is None:
            suggestion = closest_name(wanted.path, (file.name for file in library.glob("*.cg")))
            shown = wanted.path if len(wanted.path) <= _LONGEST_SHOWN else f"{wanted.path[:_LONGEST_SHOWN]}…"
            problems.append(ImportNotFound(wanted.path_span, shown, suggestion))
            continue
        if path.resolve() in found:
            continue
        try:
            imported = parse(load_source(path))
        except ProblemsFound as stopped:
            problems.extend(stopped.problems)
            found[path.resolve()] = root
            continue
        found[path.resolve()] = imported
        waiting.append((imported, _imports(imported)))
    if problems:
        raise ProblemsFound(problems)
    return tuple(order)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, or a folder that may not be looked into
        return False


def _key(source: Source) -> Path:
    return Path(source.name).resolve()


def _imports(module: Module) -> list[Import]:
    return [declaration for declaration in module.declarations if isinstance(declaration, Import)]

"""All problems that exist, by code.

Every stage keeps its problems in modules whose names begin with `problems`; this module finds them, so that a list of
codes never falls behind.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator

import cgraph
from cgraph.diagnostics.problem import Problem


def problem_classes() -> Iterator[type[Problem]]:
    """Every kind of problem that is reported, ordered by code. Imports the modules that define them.

    A class that others derive from is only their base.
    """
    for module in pkgutil.walk_packages(cgraph.__path__, "cgraph."):
        if module.name.rpartition(".")[2].startswith("problems"):
            importlib.import_module(module.name)
    found = {kind for kind in _subclasses(Problem) if _is_of_cgraph(kind)}
    bases = {base for kind in found for base in kind.__mro__[1:]}
    yield from sorted((kind for kind in found - bases if "code" in vars(kind)), key=lambda kind: kind.code)


def _is_of_cgraph(kind: type) -> bool:
    """Whether the class is one of ours and not the copy without slots that attrs leaves behind."""
    name = kind.__module__
    return name.startswith("cgraph.") and getattr(sys.modules[name], kind.__name__, None) is kind


def _subclasses(base: type[Problem]) -> set[type[Problem]]:
    found: set[type[Problem]] = set()
    waiting = [base]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind not in found:
                found.add(kind)
                waiting.append(kind)
    return found

"""All problems that exist, by code.

Every stage keeps its problems in a module whose name ends in `problems`; this module finds them, so that a list of
codes never falls behind.
"""

import importlib
import pkgutil
from collections.abc import Iterator

import cgraph
from cgraph.diagnostics.problem import Problem


def problem_classes() -> Iterator[type[Problem]]:
    """Every problem class that has a code, ordered by code. Imports the modules that define them."""
    for module in pkgutil.walk_packages(cgraph.__path__, "cgraph."):
        if module.name.endswith("problems"):
            importlib.import_module(module.name)
    found = (kind for kind in _subclasses(Problem) if "code" in vars(kind) and kind.__module__.startswith("cgraph."))
    yield from sorted(found, key=lambda kind: (kind.code, kind.__name__))


def _subclasses(base: type[Problem]) -> set[type[Problem]]:
    found: set[type[Problem]] = set()
    waiting = [base]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind not in found:
                found.add(kind)
                waiting.append(kind)
    return found

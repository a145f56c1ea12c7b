"""Where the forward program of a backward program is, and what a run of it leaves behind."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.protocol import Executable
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.models.pairs import KEPT, VARIABLE
from cgraph.models.problems import NoForward, ResultNotFinite, ValuesMissing

MAX_NAMES_SHOWN = 6
_WITH_ENTRY = re.compile(r"(?P<file>.+):(?P<entry>[A-Za-z_][A-Za-z0-9_']*)")


@frozen
class ForwardProgram:
    """A file, and the definition in it to build; None for the one that is built where none is named."""

    file: str
    entry: str | None


def find_forward(file: str, named: str | None = None, entry: str | None = None) -> ForwardProgram:
    """The forward program of a backward program.

    Args:
        file: the backward program's.
        named: the forward program's file, as the user gives it, perhaps with `:ENTRY` behind it.
        entry: the definition to build. Alone, it stands in the backward program's own file; an entry in `named` comes
            before it.

    Returns:
        What was named, or else the file beside `file` whose name has `forward` where that has `backward`, or
        `_forward` behind it where that has no `backward`.

    Raises:
        ProblemsFound: CG710 where nothing is named and there is no such file.
    """
    if named is not None:
        parts = _WITH_ENTRY.fullmatch(named)
        if parts is None or Path(named).is_file():
            return ForwardProgram(named, entry)
        return ForwardProgram(parts["file"], parts["entry"])
    if entry is not None:
        return ForwardProgram(file, entry)
    path = Path(file)
    if "backward" in path.name:
        beside = path.with_name(path.name.replace("backward", "forward"))
    elif path.suffix == ".cg":
        beside = path.with_name(f"{path.stem}_forward.cg")
    else:
        raise ProblemsFound([NoForward(None, file, None)])
    if not beside.is_file():
        raise ProblemsFound([NoForward(None, file, str(beside))])
    return ForwardProgram(str(beside), None)


def run_forward(
    graph: CommandGraph, executable: Executable, values: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Runs a forward program once.

    Args:
        graph: of the program.
        executable: prepared from it.
        values: at least its inputs and weights; others are not used.

    Returns:
        Its outputs and saved planes by name.

    Raises:
        ProblemsFound: CG717 where values are missing, CG703 where one does not fit.
    """
    needed = [plane.name for plane in graph.planes if plane.role in VARIABLE]
    missing = [name for name in needed if name not in values]
    if missing:
        more = len(missing) - MAX_NAMES_SHOWN
        shown = ", ".join(missing[:MAX_NAMES_SHOWN]) + (f" and {more} more planes" if more > 0 else "")
        raise ProblemsFound([ValuesMissing(None, shown)])
    for name in needed:
        executable.set(name, values[name])
    executable.run()
    return {plane.name: executable.get(plane.name) for plane in graph.planes if plane.role in KEPT}


def not_finite(graph: CommandGraph, planes: Mapping[str, NDArray[Any]], program: str) -> list[Problem]:
    """A problem for each of the planes that holds NaN or infinity, CG715.

    Args:
        graph: that has the planes.
        planes: by name; names that the graph does not have are left out.
        program: what the message calls the program that was run: forward or backward.
    """
    problems: list[Problem] = []
    for plane in graph.planes:
        values = planes.get(plane.name)
        if values is not None and not (finite := np.isfinite(values)).all():
            wrong = np.argwhere(~finite)
            problems.append(
                ResultNotFinite(plane.span, plane.name, program, wrong[0].tolist(), len(wrong), plane.elements)
            )
    return problems

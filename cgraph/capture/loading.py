"""From a file to the bundle in it, of whatever content.

Receives a path; guarantees a value that was checked throughout, or problems that say what is wrong and where. Kinds of
content are one table. Running what was loaded is left to `replay`.
"""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture.codec import programs
from cgraph.capture.codec.fields import FieldError
from cgraph.capture.container import Blobs, read_container
from cgraph.capture.imported import codec as imported
from cgraph.capture.model import Bundle
from cgraph.capture.problems_bundle import FieldWrong, GraphWrong, UnknownContent
from cgraph.core.collection import paused_collection
from cgraph.diagnostics import ProblemsFound

Loaded: TypeAlias = Bundle | ImportedGraph

READERS: Mapping[str, Callable[[Mapping[str, Any], Blobs], Loaded]] = {
    programs.CONTENT: programs.read_program,
    imported.CONTENT: imported.read_imported,
}


def load_bundle(path: str | PathLike[str]) -> Loaded:
    """The bundle in a file: of a program, or an imported graph.

    Raises:
        ProblemsFound: CG800 and CG802 to CG810, CG813; with CG810 the rules that its graph breaks (CG5xx), with CG813
            how code and images differ (CG736 to CG738).
    """
    with paused_collection():
        return _load(Path(path))


def _load(file: Path) -> Loaded:
    manifest, blobs = read_container(file)
    content = manifest.get("content")
    reader = READERS.get(content) if isinstance(content, str) else None
    if reader is None:
        found = f"content {content[:40]!a}" if isinstance(content, str) else "no content"
        raise ProblemsFound([UnknownContent(None, str(file), found, " and ".join(READERS))])
    try:
        return reader(manifest, blobs)
    except FieldError as error:
        problem = FieldWrong(None, str(file), error.place, error.expected, error.found)
        raise ProblemsFound([problem]) from error
    except ProblemsFound as stopped:
        if not any(problem.code.startswith("CG5") for problem in stopped.problems):
            raise
        whole = GraphWrong(None, str(file), len(stopped.problems))
        raise ProblemsFound([whole, *stopped.problems]) from stopped

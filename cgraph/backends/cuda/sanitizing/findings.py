"""Findings as a reader wants them: at the line of the .cu file, with the plane's element and the command's origin.

Receives what the machine and the sanitizer report, which points into the PTX and counts bytes; guarantees each fault of
a launch's text once, however many times a loop repeats the launch, with the number of repeats.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
from attrs import define, field

from cgraph.backends.commands import describe
from cgraph.backends.cuda.compilation_errors import line_span
from cgraph.backends.cuda.sources import find_kernel_source
from cgraph.diagnostics import Problem
from cgraph.emulator.problems import AccessFault, KernelFault
from cgraph.graph.model import Image, LaunchNode, Node, Plane
from cgraph.source import Source, Span


@define(eq=False)
class Findings:
    """What was found so far.

    Args:
        labels: planes by what the machine calls their memory.
    """

    labels: Mapping[str, Plane] = field(repr=False)
    _found: dict[tuple[Any, ...], Problem] = field(factory=dict)
    _more: dict[tuple[Any, ...], int] = field(factory=dict)
    _sources: dict[Image, Mapping[str, Source]] = field(factory=dict, repr=False)

    def add(self, node: Node, problems: Iterable[Problem]) -> None:
        """Takes what was reported about a command."""
        for problem in problems:
            told = self._told(node, problem)
            place = problem.place if isinstance(problem, KernelFault) else None
            what = problem.access if isinstance(problem, AccessFault) else told.render_title()
            key = (told.code, place or told.span, node.origin.span, what)
            if key in self._found:
                self._more[key] = self._more.get(key, 0) + 1
            else:
                self._found[key] = told

    def __len__(self) -> int:
        return len(self._found)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All findings, in the order of the commands."""
        return tuple(
            attrs.evolve(problem, more_launches=self._more[key])
            if key in self._more and isinstance(problem, KernelFault)
            else problem
            for key, problem in self._found.items()
        )

    def _told(self, node: Node, problem: Problem) -> Problem:
        if not isinstance(problem, KernelFault) or not isinstance(node, LaunchNode):
            return attrs.evolve(problem, span=node.origin.span) if problem.span is None else problem
        changes: dict[str, Any] = {
            "span": self._line(node.image, problem),
            "command": describe(node),
            "origin": node.origin,
        }
        plane = self.labels.get(problem.memory) if isinstance(problem, AccessFault) else None
        if plane is not None and isinstance(problem, AccessFault):
            changes |= _element(plane, problem.offset)
        return attrs.evolve(problem, **changes)

    def _line(self, image: Image, problem: KernelFault) -> Span | None:
        """The line of the .cu file, or the PTX instruction where the line is in a header of the toolkit."""
        if problem.place is None:
            return problem.span
        if image not in self._sources:
            self._sources[image] = find_kernel_source(image.signature).sources
        source = self._sources[image].get(problem.place.file)
        return problem.span if source is None else line_span(source, problem.place.line)


def _element(plane: Plane, offset: int) -> dict[str, Any]:
    """Which element of a plane an offset in bytes is in; one that is outside has no index."""
    element = offset // plane.element.size_bytes
    if not 0 <= element < plane.elements:
        return {"element": element}
    return {"element": element, "index": tuple(int(place) for place in np.unravel_index(element, plane.extent))}

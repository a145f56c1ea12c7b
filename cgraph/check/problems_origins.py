"""The base of problems that show when something is evaluated: each knows how the program came to its place."""

from collections.abc import Sequence

from attrs import evolve, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Label, Problem
from cgraph.source import Source

_MOST_STEPS_SHOWN = 4


@frozen
class EvaluationProblem(Problem):
    """A problem of an evaluation; the last step of `origin` is the place itself, the first one the definition."""

    origin: Origin

    def labels(self) -> Sequence[Label]:
        """The way to the place, innermost first, without the definition and the step that the problem itself marks."""
        way = [self.origin, *(step for step in reversed(self.origin.chain()[1:]) if step is not self.origin)]
        steps = [step for step in way if step.span != self.span]
        return tuple(Label(step.span, self._words(step)) for step in steps[:_MOST_STEPS_SHOWN])

    def _words(self, step: Origin) -> str:
        if step is self.origin:
            return f"this {step.text}"
        is_loop = " = " in step.text or " < " in step.text
        return f"where {step.text}" if is_loop else f"in `{step.text}`, called here"


def blame(problem: Problem, source: Source) -> Problem:
    """The problem moved to the innermost step of its origin that lies in the user's own file, if it lies elsewhere."""
    if not isinstance(problem, EvaluationProblem) or problem.span is None or problem.span.source is source:
        return problem
    step = problem.origin.innermost_in(source)
    return problem if step is None else evolve(problem, span=step.span)

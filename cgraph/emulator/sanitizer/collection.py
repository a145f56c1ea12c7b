"""Collects the sanitizer's reports over launches."""

from cgraph.diagnostics import Problem


class Sanitizer:
    """Collects reports over any number of launches.

    Args:
        limit: reports kept; later ones are only counted.
    """

    def __init__(self, limit: int = 100) -> None:
        self.problems: list[Problem] = []
        self.left_out = 0
        self._limit = limit

    def report(self, problem: Problem) -> None:
        """Keeps a report."""
        if len(self.problems) < self._limit:
            self.problems.append(problem)
        else:
            self.left_out += 1

"""Collects the sanitizer's reports over launches."""

from cgraph.diagnostics import Problem


class Sanitizer:
    """Collects reports over any number of launches.

    Each instruction is reported once a launch for each kind of problem.

    Args:
        limit: reports kept; later ones are only counted, in `left_out`.

    `thread_instructions` and `accessed_bytes` count what was watched.
    """

    def __init__(self, limit: int = 100) -> None:
        self.problems: list[Problem] = []
        self.left_out = 0
        self.thread_instructions = 0
        self.accessed_bytes = 0
        self._limit = limit

    def report(self, problem: Problem) -> None:
        """Keeps a report."""
        if len(self.problems) < self._limit:
            self.problems.append(problem)
        else:
            self.left_out += 1

"""What an emulated device found in a run that a real one would have carried on with.

Receives the device's reports; guarantees that a run with reports is no success.
"""

from attrs import frozen

from cgraph.backends.cuda.calls import Explanation, no_explanation
from cgraph.diagnostics import ProblemsFound


@frozen(eq=False)
class Watch:
    """Takes the device's reports; a real device has none."""

    take: Explanation = no_explanation

    def check(self) -> None:
        """Raises ProblemsFound where there are reports."""
        problems = self.take()
        if problems:
            raise ProblemsFound(problems)

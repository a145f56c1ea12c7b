"""Colours of diagnostics, as ANSI escapes; without colour every function gives its text back."""

from attrs import frozen

_RESET = "\x1b[0m"
_RED, _GREEN, _YELLOW, _BLUE, _BOLD = "\x1b[1;31m", "\x1b[32m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1m"


@frozen
class Paint:
    """Paints parts of one problem.

    Args:
        colour: whether to paint at all.
        error: whether the problem is an error (red) or a warning (yellow).
    """

    colour: bool
    error: bool = True

    def _painted(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.colour and text else text

    def severity(self, text: str) -> str:
        """`error[CG101]`."""
        return self._painted(_RED if self.error else _YELLOW, text)

    def title(self, text: str) -> str:
        """What is wrong."""
        return self._painted(_BOLD, text)

    def frame(self, text: str) -> str:
        """Line numbers, bars and arrows."""
        return self._painted(_BLUE, text)

    def mark(self, text: str, main: bool) -> str:
        """Carets and the texts beside them."""
        return self.severity(text) if main else self.frame(text)

    def added(self, text: str) -> str:
        """A line that a fix writes."""
        return self._painted(_GREEN, text)

    def removed(self, text: str) -> str:
        """A line that a fix takes away."""
        return self._painted(_RED, text)

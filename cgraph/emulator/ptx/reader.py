"""Reads a PTX module."""

from cgraph.emulator.ptx.model import Module


def read_module(text: str, *, name: str = "<ptx>") -> Module:
    """Reads PTX text.

    Args:
        text: the whole module, as NVRTC writes it; a closing NUL is ignored.
        name: what reports call it.

    Raises:
        ProblemsFound: the text is not PTX, or has something that the machine does not know.
    """
    raise NotImplementedError

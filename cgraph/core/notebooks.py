"""How values show themselves in notebooks.

A stage imports only from stages before it, so a graph cannot import what draws it. As the command line loads a command
when it is used, a notebook's first question loads what draws, by its name; a program that asks nothing loads nothing.
What is drawn, and of which values, is said there. As text these values are short, since a notebook shows that as well.
"""

from importlib import import_module

_DRAWING = "cgraph.view.notebooks"


class ShownInNotebooks:
    """Base of values that a notebook draws. IPython looks for this name."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """HTML that needs nothing else."""
        html: str = import_module(_DRAWING).notebook_html(self)
        return html

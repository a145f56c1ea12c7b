"""A view as one HTML file that needs nothing else: the built page with the view's JSON in it.

Receives a view; guarantees that no name can end the element that the JSON stands in, or begin a comment in it.
"""

from functools import cache
from importlib.resources import files

from cgraph.view.data import view_json
from cgraph.view.model import View

_START = '<script type="application/json" id="cgraph-view">'
_STOP = "</script>"


def html_text(view: View) -> str:
    """The whole page."""
    before, after = _page()
    return f"{before}{embedded_json(view)}{after}"


def embedded_json(view: View) -> str:
    """The view's JSON without `<`, `>` and `&`, which mean something to HTML; all other odd characters are escaped."""
    text = view_json(view)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _page() -> tuple[str, str]:
    """The page before and after the JSON.

    Raises:
        ValueError: the page has no such element; then the installation is damaged.
    """
    text = files("cgraph.view").joinpath("assets", "page.html").read_text(encoding="utf-8")
    start = text.index(_START) + len(_START)
    return text[:start], text[text.index(_STOP, start) :]

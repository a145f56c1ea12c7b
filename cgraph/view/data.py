"""Views as plain data and as JSON, and back.

The attributes of `model` are the keys, so both directions and the schema follow from its types. Guarantees that what is
written is JSON without NaN, that what is read has the right types, and that every reference in it is in range
(`references`); whoever reads a file of unknown origin needs no further checks.
"""

import json
from typing import Any

from cgraph.diagnostics import ProblemsFound
from cgraph.view.model import View
from cgraph.view.problems import NotAView, OtherVersion
from cgraph.view.references import first_wrong_reference
from cgraph.view.typed import Malformed, decoder, encoder

FORMAT = "cgraph-view"
VERSION = 1

_encode = encoder(View)
_decode = decoder(View)


def view_data(view: View) -> dict[str, Any]:
    """A view as dictionaries, lists, texts and numbers."""
    return {"format": FORMAT, "version": VERSION, **_encode(view)}


def view_json(view: View, *, indent: int | None = None) -> str:
    """A view as one JSON object: the same text for the same view, in ASCII."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(view_data(view), indent=indent, separators=separators, allow_nan=False)


def read_view(text: str | bytes, name: str) -> View:
    """The view in a JSON text.

    Args:
        text: as `view_json` writes it, or its UTF-8; keys that have a default may be missing.
        name: of the file, for problems.

    Raises:
        ProblemsFound: it is no view (CG881), or one of another version (CG882).
    """
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ProblemsFound([NotAView(None, name, _one_line(error))]) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ProblemsFound([NotAView(None, name, f"it has no `format` with the value `{FORMAT}`")])
    if data.get("version") != VERSION:
        raise ProblemsFound([OtherVersion(None, name, str(data.get("version"))[:40], VERSION)])
    try:
        view = _decode({key: value for key, value in data.items() if key not in ("format", "version")})
        wrong = first_wrong_reference(view)
    except (Malformed, RecursionError) as error:
        raise ProblemsFound([NotAView(None, name, _one_line(error))]) from error
    if wrong is not None:
        raise ProblemsFound([NotAView(None, name, wrong)])
    assert isinstance(view, View)  # noqa: S101  (what the decoder of View gives)
    return view


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its values are nested too deep"
    return str(error).splitlines()[0][:200]

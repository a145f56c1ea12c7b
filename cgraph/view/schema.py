"""The JSON Schema of views, from the types of the model.

Guarantees a schema as strict as `data.read_view` on types and keys; ranges of references are beyond what JSON Schema
says, so a file that it lets through may still be refused. `view.schema.json` beside this module is its text.
"""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from cgraph.view.data import FORMAT, VERSION
from cgraph.view.model import View

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


def view_schema() -> dict[str, Any]:
    """The schema as plain data; each class of the model is a definition of its name."""
    definitions: dict[str, Any] = {}
    waiting: list[type] = [View]
    while waiting:
        kind = waiting.pop()
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = _object(kind, waiting)
    whole = definitions["View"]
    head = {"format": {"const": FORMAT}, "version": {"const": VERSION}}
    return {
        "$schema": DIALECT,
        "title": "A graph to be viewed, by cgraph",
        **whole,
        "properties": {**head, **whole["properties"]},
        "required": [*head, *whole["required"]],
        "$defs": definitions,
    }


def _object(kind: type, waiting: list[type]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {
        "type": "object",
        "description": (kind.__doc__ or "").split("\n")[0],
        "properties": {name: _schema(hint, waiting) for name, hint in hints.items()},
        "required": [field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }


def _schema(kind: Any, waiting: list[type]) -> dict[str, Any]:
    """The schema of one type; classes in it are put with those that wait to be described."""
    if attrs.has(kind):
        waiting.append(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], waiting)}
    if origin is tuple:
        parts = [_schema(argument, waiting) for argument in arguments]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(argument, waiting) for argument in arguments]}
    return {"type": "null" if kind is NoneType else _SIMPLE[kind]}

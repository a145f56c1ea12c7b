"""Numbers and strings as the language writes them."""

import re

from cgraph.syntax.tree import FloatLiteral

_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")


def float_text(node: FloatLiteral) -> str:
    """A float as it was written, or its shortest form where it was not written (a term built from Python)."""
    written = node.span.text
    if _FLOAT.fullmatch(written) and float(written) == node.value:
        return written
    return repr(node.value)


def string_text(text: str) -> str:
    """A string with its marks. The text holds no line end: the language has no way to write one."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

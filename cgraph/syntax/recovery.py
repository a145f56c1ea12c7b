"""Where reading goes on after a syntax error.

Receives a text and the offset of the error; guarantees the next declaration keyword that is the first word of its
line and stands neither in a comment nor in a string. The text before it is skipped without being split into tokens,
so that ten megabytes that are no program at all are passed over in a moment.
"""

import re

from cgraph.syntax.lexer import comment_end

_LANDMARK = re.compile(
    r"""
    (?P<keyword> ^[ \t]* (?:import|parameter|phase|plane|image|def) (?![A-Za-z0-9_']) )
    | (?P<comment> \{- )
    | --[^\n]*
    | "(?:[^"\\\n]|\\.)*
    """,
    re.VERBOSE | re.MULTILINE,
)


def next_declaration(text: str, offset: int) -> int | None:
    """The offset of the line at which reading goes on, or None where no declaration follows.

    A keyword at the offset itself counts: a declaration that is cut off by the next one ends there.
    """
    position = text.rfind("\n", 0, offset) + 1
    if text[position:offset].strip():
        position = offset
    while (found := _LANDMARK.search(text, position)) is not None:
        if found["keyword"] is not None:
            return found.start()
        position = found.end() if found["comment"] is None else comment_end(text, found.start())
        if position < 0:
            return None
    return None

"""Documentation of declarations: the comment block directly above them.

Receives comments in the order of the text. A block is one or more comments, each alone on its lines, with no blank line
between them or before the declaration. The text is given without comment marks; nothing in it is interpreted.
"""

from collections.abc import Sequence
from textwrap import dedent

from cgraph.syntax.tree import Comment

_BLANK = " \t\r"


def documentation_above(text: str, start: int, comments: Sequence[Comment], before: int) -> str:
    """The documentation of the declaration at offset `start`; only the first `before` comments lie before it."""
    parts: list[str] = []
    below = start
    for index in range(before - 1, -1, -1):
        span = comments[index].span
        gap = text[span.stop : below] if below - span.stop < 10_000 else "\n\n"
        if gap.strip() or gap.count("\n") > 1 or not is_first_on_line(text, span.start):
            break
        parts.append(comment_text(span.text))
        below = span.start
    return "\n".join(reversed(parts))


def is_first_on_line(text: str, offset: int) -> bool:
    """Whether nothing but blanks stands before the offset on its line."""
    while offset > 0 and text[offset - 1] in _BLANK:
        offset -= 1
    return offset == 0 or text[offset - 1] == "\n"


def comment_text(comment: str) -> str:
    """A comment without its marks, its lines aligned to the left."""
    if comment.startswith("--"):
        return comment[2:].removeprefix(" ").rstrip()
    lines = comment[2:-2].replace("\r\n", "\n").split("\n")
    first, rest = lines[0].strip(), dedent("\n".join(lines[1:]))
    joined = "\n".join(line.rstrip() for line in (first, *rest.split("\n")))
    return joined.strip("\n").strip()

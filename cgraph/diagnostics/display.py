"""Text as a terminal shows it: widths of characters, tabs, and characters that must not reach a terminal.

Receives any text; guarantees output without control or direction characters, and the column of each character. East
Asian wide characters take two columns, combining marks none.
"""

import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from attrs import frozen

TAB_WIDTH = 4
_CUT = "…"
_CONTROL_PICTURES = 0x2400
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@frozen
class DisplayLine:
    """One line, ready to print.

    Args:
        text: what is printed.
        columns: 0-based column at which each character of the original starts, and after them the column of the end.
    """

    text: str
    columns: Sequence[int]


def display_line(line: str) -> DisplayLine:
    """A line without line end as it is printed; tabs go to multiples of `TAB_WIDTH`."""
    if line.isascii() and line.isprintable():
        return DisplayLine(line, range(len(line) + 1))
    parts: list[str] = []
    widths: list[int] = []
    column = 0
    for character in line:
        part = " " * (TAB_WIDTH - column % TAB_WIDTH) if character == "\t" else safe_character(character)
        width = sum(map(_width, part))
        parts.append(part)
        widths.append(width)
        column += width
    return DisplayLine("".join(parts), tuple(accumulate(widths, initial=0)))


def cut_line(line: str, start: int, stop: int, room: int) -> tuple[str, int]:
    """A line cut to `room` columns around the characters `start … stop`, with `…` where something is left out.

    The second value is what to add to a character's place in the line to find it in the cut. Only about `room`
    characters are looked at, however long the line is.
    """
    if len(line) <= room and display_line(line).columns[-1] <= room:
        return line, 0
    left = room - 2 * len(_CUT)
    begin = end = min(start, len(line))
    while end < min(stop, len(line)) and _most_columns(line[end]) <= left:
        left -= _most_columns(line[end])
        end += 1
    growing = True
    while growing:
        growing = False
        if begin > 0 and _most_columns(line[begin - 1]) <= left:
            begin -= 1
            left -= _most_columns(line[begin])
            growing = True
        if end < len(line) and _most_columns(line[end]) <= left:
            left -= _most_columns(line[end])
            end += 1
            growing = True
    before, after = _CUT if begin > 0 else "", _CUT if end < len(line) else ""
    return before + line[begin:end] + after, len(before) - begin


def safe_text(text: str) -> str:
    """A text with line ends and tabs made spaces and unsafe characters replaced, for titles, labels and notes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if character in "\n\t" else safe_character(character) for character in text)


def safe_character(character: str) -> str:
    """A character that a terminal can show: itself, a control picture, or `<U+202E>`."""
    if character.isprintable() and unicodedata.category(character) not in _UNSAFE:
        return character
    point = ord(character)
    if point < 0x20:
        return chr(_CONTROL_PICTURES + point)
    return "\u2421" if point == 0x7F else f"<U+{point:04X}>" if unicodedata.category(character) != "Zs" else " "


def text_width(text: str) -> int:
    """Columns that a safe text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _most_columns(character: str) -> int:
    """Columns of a character as it is shown; of a tab the most it can take."""
    return TAB_WIDTH if character == "\t" else text_width(safe_character(character))


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

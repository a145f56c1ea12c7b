r"""What a label says about a launch: symbol, grid, block and dynamic shared memory.

Receives the text between the ID and the end of its cell, as drivers write it: the symbol and, right behind it,
`\<\<\<grid,block,bytes\>\>\>`. Sizes of one dimension are a number; others are in braces (CUDA) or parentheses (HIP).
"""

import re

from attrs import frozen

from cgraph.view.dumps.records import plain
from cgraph.view.model import Dimensions

_BEGIN = r"\<\<\<"
_END = r"\>\>\>"
_ROW = re.compile(r"\{\s*ID\s*\|([^|}]*+)\|(.*?\\>\\>\\>)\s*\}", re.DOTALL)
_SIZE = re.compile(r"[{(]([^{}()]*)[})]|(\d+)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}")


@frozen
class Launch:
    """What is launched; sizes are None where the label does not say them, or not in a known form.

    Args:
        sizes: the text between the angle brackets.
    """

    symbol: str
    grid: Dimensions | None = None
    block: Dimensions | None = None
    shared_bytes: int | None = None
    sizes: str | None = None


def cut_launch(label: str) -> tuple[str, str, Launch] | None:
    """The row of a record with ID and launch: the record without that row, the text of the ID, and the launch.

    The symbol is taken out before the record is read, because nothing in it is escaped. None where there is no such
    row.
    """
    found = _ROW.search(label)
    if found is None:
        return None
    return label[: found.start()] + label[found.end() :], found[1].strip(), launch_of(found[2])


def launch_of(text: str) -> Launch:
    """The symbol, up to the first opening brackets, and the sizes behind it."""
    symbol, begin, rest = text.partition(_BEGIN)
    if not begin:
        symbol, begin, rest = text.partition("<<<")
    if not begin:
        return Launch(plain(text).strip())
    sizes = plain(rest.partition(_END)[0]).partition(">>>")[0].strip()
    name = plain(symbol).strip()
    parts = [part[0] or part[1] for part in _SIZE.findall(sizes)]
    if len(parts) != 3:
        return Launch(name, sizes=sizes)
    grid, block = dimensions(parts[0]), dimensions(parts[1])
    shared_bytes = number(parts[2])
    if grid is None or block is None or shared_bytes is None:
        return Launch(name, sizes=sizes)
    return Launch(name, grid, block, shared_bytes, sizes)


def dimensions(text: str) -> Dimensions | None:
    """Up to three numbers; those that are missing are 1."""
    found = [number(part) for part in text.split(",")[:4]]
    if len(found) > 3 or any(size is None for size in found):
        return None
    sizes = [size for size in found if size is not None]
    x, y, z = (*sizes, 1, 1)[:3]
    return (x, y, z)


def number(text: str) -> int | None:
    """A decimal or hexadecimal number that fits into 64 bits, else None."""
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    value = int(text, 16 if "x" in text.lower() else 10)
    return value if value < 2**64 else None

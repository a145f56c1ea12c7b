"""Two maps over the parts of one plane: who wrote each part last, and who has read it since.

Receives parts numbered from 0 (the boundaries of a plane's accesses, compressed to ranks by the caller); guarantees
that the work is in proportion to the parts that change hands, however finely a plane is cut: each step costs a
constant (`LastWriters`) or the logarithm of the number of parts (`Readers`). What an overlap means is left to the
caller.
"""

NOBODY = -1
_WORD_BITS = 512
_WORD_SHIFT = 9


class LastWriters:
    """A tiling of the parts `0 … count`: every tile was written last by one node, or by `NOBODY`.

    A tile is known by its first part. Bits mark the first parts, in words of 512 under one summary, so the tile that
    holds a part is found by two bit lengths instead of a search.
    """

    __slots__ = ("_stop", "_summary", "_words", "_writer")

    def __init__(self, count: int) -> None:
        self._writer = [NOBODY] * count
        self._stop = [0] * count  # 0 where no tile starts
        self._stop[0] = count
        self._words = [0] * ((count >> _WORD_SHIFT) + 1)
        self._words[0] = 1
        self._summary = 1

    def joined(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Who wrote the parts `start … stop`: (writer, first part, end), in order, neighbours of one writer joined."""
        found: list[tuple[int, int, int]] = []
        tile = self._tile_of(start)
        while tile < stop:
            writer, end = self._writer[tile], self._stop[tile]
            first = max(tile, start)
            if found and found[-1][0] == writer and found[-1][2] == first:
                first = found.pop()[1]
            if writer != NOBODY:
                found.append((writer, first, min(end, stop)))
            tile = end
        return found

    def write(self, start: int, stop: int, node: int) -> None:
        """Make the parts `start … stop` one tile of this node."""
        stops = self._stop
        self._cut(start)
        if stop < len(stops):
            self._cut(stop)
        inner = stops[start]
        while inner < stop:
            following = stops[inner]
            stops[inner] = 0
            word = inner >> _WORD_SHIFT
            self._words[word] ^= 1 << (inner & (_WORD_BITS - 1))
            if not self._words[word]:
                self._summary ^= 1 << word
            inner = following
        stops[start] = stop
        self._writer[start] = node

    def _tile_of(self, part: int) -> int:
        if self._stop[part]:
            return part
        word = part >> _WORD_SHIFT
        bits = self._words[word] & ((1 << (part & (_WORD_BITS - 1))) - 1)
        if not bits:
            word = (self._summary & ((1 << word) - 1)).bit_length() - 1
            bits = self._words[word]
        return (word << _WORD_SHIFT) + bits.bit_length() - 1

    def _cut(self, part: int) -> None:
        if self._stop[part]:
            return
        tile = self._tile_of(part)
        self._stop[part] = self._stop[tile]
        self._writer[part] = self._writer[tile]
        self._stop[tile] = part
        word = part >> _WORD_SHIFT
        self._words[word] |= 1 << (part & (_WORD_BITS - 1))
        self._summary |= 1 << word


class Readers:
    """Who has read each part since it was written last.

    A binary tree over the parts: a reader stands at the few tree nodes that together cover its parts, so that reading
    a whole plane costs the same whether the plane has one part or many. Taking the readers of a range first moves
    those that stand above it down its two edges.
    """

    __slots__ = ("_below", "_height", "_here", "_size")

    def __init__(self, count: int) -> None:
        self._height = (count - 1).bit_length()
        self._size = 1 << self._height
        self._here: list[list[int] | None] = [None] * (2 * self._size)
        self._below = bytearray(2 * self._size)  # 1 where a strict descendant may hold readers

    def add(self, start: int, stop: int, node: int) -> None:
        """Note that the node reads the parts `start … stop`."""
        low, high = start + self._size, stop + self._size
        while low < high:
            if low & 1:
                self._put(low, [node])
                low += 1
            if high & 1:
                high -= 1
                self._put(high, [node])
            low >>= 1
            high >>= 1

    def take(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Forget who read the parts `start … stop`, and tell: (reader, first part, end), sorted and joined."""
        self._push_edges(start + self._size, stop + self._size)
        pieces: list[tuple[int, int, int]] = []
        low, high = start + self._size, stop + self._size
        while low < high:
            if low & 1:
                self._collect(low, pieces)
                low += 1
            if high & 1:
                high -= 1
                self._collect(high, pieces)
            low >>= 1
            high >>= 1
        return _joined(pieces) if len(pieces) > 1 else pieces

    def _put(self, place: int, nodes: list[int]) -> None:
        here = self._here[place]
        if here is None:
            self._here[place] = nodes
        else:
            here.extend(nodes)
        place >>= 1
        while place and not self._below[place]:
            self._below[place] = 1
            place >>= 1

    def _push_edges(self, low: int, high: int) -> None:
        here = self._here
        for height in range(self._height, 0, -1):
            place = low >> height
            if here[place] is not None and place << height != low:
                self._push(place)
            place = (high - 1) >> height
            if here[place] is not None and (place + 1) << height != high:
                self._push(place)

    def _push(self, place: int) -> None:
        nodes = self._here[place] or []
        self._here[place] = None
        self._put(2 * place, nodes.copy())
        self._put(2 * place + 1, nodes)

    def _collect(self, place: int, pieces: list[tuple[int, int, int]]) -> None:
        pending = [place]
        while pending:
            place = pending.pop()
            here = self._here[place]
            if here is not None:
                self._here[place] = None
                height = self._height + 1 - place.bit_length()
                first = (place << height) - self._size
                end = first + (1 << height)
                pieces.extend((node, first, end) for node in here)
            if self._below[place]:
                self._below[place] = 0
                pending += (2 * place, 2 * place + 1)


def _joined(pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The pieces sorted, those of one node that touch or overlap made one."""
    pieces.sort()
    joined = [pieces[0]]
    for node, start, stop in pieces[1:]:
        last_node, last_start, last_stop = joined[-1]
        if node == last_node and start <= last_stop:
            joined[-1] = (node, last_start, max(stop, last_stop))
        else:
            joined.append((node, start, stop))
    return joined

"""Changes of bundles that a careless disk or a clever stranger might make.

Receives a valid file's bytes, or its manifest and blobs, and a random generator; gives a changed copy. Changes of bytes
leave checksums as they are; changes of manifest and blobs are to be written with checksums that agree.
"""

import copy
import struct
from collections.abc import Callable
from random import Random
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**300,
    0.0, -0.5, 1.0, 1e308, "nan", "inf", "-inf", "", "a", "0", "x" * 5000, "\x1b[31m", "\x00", "a b", "ä", "😀",
    "../../etc/passwd", "/etc/passwd", "C:\\x", "read", "write", "f16", "scratch", "input", "pointer", "natural",
    [], [0], [-1], [[]], [[[[[[]]]]]], {}, {"a": 1}, [[1, [[0, 1]]]], [[10**70, [[0, 64]]]], ["divide", 1, 0],
)  # fmt: skip
PLACES = (
    ("graph", "nodes", "launches"), ("graph", "nodes", "fills"), ("graph", "nodes", "copies"), ("graph", "nodes"),
    ("graph", "planes"), ("graph", "planes", "extent"), ("graph", "planes", "role"), ("graph", "shapes"),
    ("graph", "images"), ("plan",), ("plan", "offsets"), ("schedule",), ("schedule", "waits"), ("module_of",),
    ("codes",), ("modules",), ("levels",), ("planes",), ("allocations",), ("kernels",),
)  # fmt: skip
WORDS = ("scratch", "input", "output", "saved", "f32", "f16", "i32", "read", "write", "accumulate", "serial", "lfcj")
PIECES = (b"[", b"]", b"{", b"}", b",", b'"', b"\\", b"1", b"-", b"e9", b".5", b"null", b"NaN", b"\xff")


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """A copy with one to four changes of bytes."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(_BYTE_CHANGES)(changed, random)
    return bytes(changed)


def mutate_text(text: bytes, random: Random) -> bytes:
    """A copy of a manifest's text with changed characters, some of which JSON gives a meaning to."""
    changed = bytearray(text)
    for _ in range(random.choice((1, 1, 2, 5))):
        place = random.randrange(len(changed) + 1)
        piece = random.choice(PIECES)
        stop = min(len(changed), place + random.choice((0, 1, 1, 3, 40)))
        changed[place:stop] = piece * random.choice((1, 1, 1, 3, 1000))
    return bytes(changed)


def mutate_manifest(
    manifest: dict[str, Any], blobs: dict[str, bytes], random: Random
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Copies with one to four changes of values, or of the bytes of blobs."""
    values, contents = copy.deepcopy(manifest), dict(blobs)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if contents and random.random() < 0.15:
            _change_blob(contents, random)
        elif random.random() < 0.5:
            _change_number(values, random)
        else:
            _change_value(values, random)
    return values, contents


def _flip(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _flip_early(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(min(64, len(data)))] = random.randrange(256)


def _cut(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data) + 1) :]


def _extend(data: bytearray, random: Random) -> None:
    data += bytes(random.choice((1, 63, 64, 100_000)))


def _remove(data: bytearray, random: Random) -> None:
    place = random.randrange(len(data) + 1)
    del data[place : place + random.choice((1, 8, 64, 1000))]


def _move(data: bytearray, random: Random) -> None:
    if data:
        first, second, size = random.randrange(len(data)), random.randrange(len(data)), random.randrange(1, 200)
        data[first : first + size] = data[second : second + size]


def _size(data: bytearray, random: Random) -> None:
    if len(data) >= 20:
        struct.pack_into("<Q", data, 12, random.choice((0, 1, 2**31, 2**32, 2**63, 2**64 - 1, random.randrange(2**20))))


_BYTE_CHANGES: tuple[Callable[[bytearray, Random], None], ...] = (
    _flip, _flip, _flip_early, _cut, _extend, _remove, _move, _size,
)  # fmt: skip


def _change_blob(blobs: dict[str, bytes], random: Random) -> None:
    name = random.choice(list(blobs))
    choice = random.randrange(4)
    if choice == 0:
        del blobs[name]
    elif choice == 1:
        blobs[random.choice(("extra", "code 7", "data"))] = blobs[name]
    elif choice == 2:
        blobs[name] = blobs[random.choice(list(blobs))]
    else:
        blobs[name] = mutate_bytes(blobs[name], random)


def _change_number(root: dict[str, Any], random: Random) -> None:
    """Changes one number among those that say what a program does, by little: what is wrong then is seldom its type."""
    holder: Any = root
    for name in random.choice(PLACES):
        holder = holder.get(name) if isinstance(holder, dict) else None
    while isinstance(holder, dict | list) and holder:
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
        value = holder[key]
        if type(value) is int:
            near = (-1, 1, 4, 256, -256, -value) if isinstance(holder, dict) else (-1, 1, 4, 256, *_ints(holder, value))
            holder[key] = value + random.choice(near)
            return
        if isinstance(value, str) and value:
            holder[key] = random.choice(WORDS)
            return
        holder = value


def _ints(column: list[Any], value: int) -> list[int]:
    """What leads from a number to others of its column."""
    return [other - value for other in column[:8] if type(other) is int]


def _change_value(root: dict[str, Any], random: Random) -> None:
    """Changes one value somewhere below the root; deep places are as likely as shallow ones."""
    holder, key = _place(root, random)
    value = holder[key]
    choice = random.randrange(6)
    if choice == 0:
        holder[key] = copy.deepcopy(random.choice(HOSTILE))
    elif choice == 1 and isinstance(value, int):
        holder[key] = value + random.choice((-1, 1, 1, 2, 64, 255, 256, -256, value))
    elif choice == 2:
        other, its_key = _place(root, random)
        holder[key] = copy.deepcopy(other[its_key])
    elif choice == 3 and isinstance(holder, list):
        its_key = random.randrange(len(holder))
        holder[key], holder[its_key] = holder[its_key], holder[key]
    elif choice == 4 and isinstance(value, list):
        _change_list(value, random)
    elif choice == 5 and isinstance(value, dict):
        _change_object(value, random)
    elif isinstance(value, str) and value:
        place = random.randrange(len(value))
        holder[key] = value[:place] + random.choice(("", "x", "f", "l", "c", "j", "\n", "é")) + value[place + 1 :]
    elif isinstance(value, float):
        holder[key] = random.choice((-value, value + 1, 1e308, "nan"))
    else:
        del holder[key]


def _change_list(items: list[Any], random: Random) -> None:
    choice = random.randrange(5)
    if choice == 0:
        items.reverse()
    elif choice == 1:
        items.append(copy.deepcopy(random.choice(HOSTILE)))
    elif choice == 2 and items:
        items.append(copy.deepcopy(random.choice(items)))
    elif choice == 3 and items:
        items.pop(random.randrange(len(items)))
    else:
        items *= random.choice((0, 2, 3))


def _change_object(value: dict[str, Any], random: Random) -> None:
    names = list(value)
    choice = random.randrange(4)
    if choice == 0 or not names:
        value[random.choice(("extra", "", "blobs", "name"))] = copy.deepcopy(random.choice(HOSTILE))
    elif choice == 1:
        value[names[0] + "s"] = value.pop(random.choice(names))
    elif choice == 2:
        del value[random.choice(names)]
    else:
        first, second = random.choice(names), random.choice(names)
        value[first], value[second] = value[second], value[first]


def _place(root: dict[str, Any], random: Random) -> tuple[Any, Any]:
    """An object or a list, and a key or an index in it."""
    holder: Any = root
    while True:
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.15:
            return holder, key
        holder = inner

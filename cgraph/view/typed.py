"""Reads and writes frozen values as plain data, by their types.

Receives a class of attrs whose fields are texts, numbers, literals, tuples, other such classes, or None. Guarantees
that what `decoder` gives has exactly these types; anything else is `Malformed`, which says where. Ranges and references
are left to the caller.
"""

import math
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

Encode: TypeAlias = Callable[[Any], Any]
Decode: TypeAlias = Callable[[Any], Any]


class Malformed(Exception):  # noqa: N818  (a fact about the data, which the caller words)
    """Data is not what a type asks for; `place` is the way to it, outermost part last."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.place: list[str] = []

    def __str__(self) -> str:
        return f"{''.join(reversed(self.place)).lstrip('.') or 'it'}: {self.message}"


@cache
def encoder(kind: Any) -> Encode:
    """What turns values of a type into plain data."""
    if attrs.has(kind):
        return _LateEncoder(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple and arguments[-1] is Ellipsis:
        each = encoder(arguments[0])
        return list if each is _same else lambda value: [each(item) for item in value]
    if origin is tuple:
        parts = [encoder(argument) for argument in arguments]
        return lambda value: [part(item) for part, item in zip(parts, value, strict=True)]
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        inner = encoder(next(argument for argument in arguments if argument is not NoneType))
        return inner if inner is _same else lambda value: None if value is None else inner(value)
    return _same


@cache
def decoder(kind: Any) -> Decode:
    """What turns plain data into values of a type. Raises Malformed for data of other types."""
    if attrs.has(kind):
        return _LateDecoder(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple and arguments[-1] is Ellipsis:
        return _repeated(decoder(arguments[0]))
    if origin is tuple:
        return _fixed([decoder(argument) for argument in arguments])
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, UnionType):
        return _union(arguments)
    return _SIMPLE[kind]


class _LateEncoder:
    """Encodes one class; it looks at its fields when the first value comes, because classes may contain themselves."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.fields: list[tuple[str, Encode]] = []

    def __call__(self, value: Any) -> dict[str, Any]:
        if not self.fields:
            self.fields = [(name, encoder(hint)) for name, hint in get_type_hints(self.kind).items()]
        return {name: encode(getattr(value, name)) for name, encode in self.fields}


class _LateDecoder:
    """Decodes one class; late as `_LateEncoder`."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.fields: dict[str, Decode] = {}
        self.required = [field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING]

    def __call__(self, data: Any) -> Any:
        if not self.fields:
            self.fields = {name: decoder(hint) for name, hint in get_type_hints(self.kind).items()}
        if not isinstance(data, dict):
            raise Malformed(f"an object is needed, not {_shown(data)}")
        values = {}
        for key, item in data.items():
            decode = self.fields.get(key)
            if decode is None:
                raise Malformed(f"`{key[:40]}` is no key here")
            try:
                values[key] = decode(item)
            except Malformed as error:
                error.place.append(f".{key}")
                raise
        for name in self.required:
            if name not in values:
                raise Malformed(f"`{name}` is missing")
        return self.kind(**values)


def _same(value: Any) -> Any:
    return value


def _repeated(each: Decode) -> Decode:
    def decode(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise Malformed(f"an array is needed, not {_shown(data)}")
        values = []
        for place, item in enumerate(data):
            try:
                values.append(each(item))
            except Malformed as error:
                error.place.append(f"[{place}]")
                raise
        return tuple(values)

    return decode


def _fixed(parts: list[Decode]) -> Decode:
    def decode(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(parts):
            raise Malformed(f"an array of {len(parts)} is needed, not {_shown(data)}")
        return tuple(part(item) for part, item in zip(parts, data, strict=True))

    return decode


def _one_of(choices: tuple[Any, ...]) -> Decode:
    def decode(data: Any) -> Any:
        if not isinstance(data, str) or data not in choices:
            raise Malformed(f"{_shown(data)} is none of {', '.join(choices)}")
        return data

    return decode


def _union(kinds: tuple[Any, ...]) -> Decode:
    """`None` beside one type, or whole numbers beside floats."""
    others = [decoder(kind) for kind in kinds if kind is not NoneType]
    nothing_allowed = NoneType in kinds

    def decode(data: Any) -> Any:
        if data is None and nothing_allowed:
            return None
        for other in others[:-1]:
            try:
                return other(data)
            except Malformed:
                continue
        return others[-1](data)

    return decode


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise Malformed(f"a text is needed, not {_shown(data)}")
    return data


def _whole(data: Any) -> int:
    if type(data) is not int:
        raise Malformed(f"a whole number is needed, not {_shown(data)}")
    return data


def _number(data: Any) -> float:
    if type(data) not in (int, float):
        raise Malformed(f"a number is needed, not {_shown(data)}")
    try:
        number = float(data)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Malformed("a number must be finite")
    return number


def _truth(data: Any) -> bool:
    if type(data) is not bool:
        raise Malformed(f"true or false is needed, not {_shown(data)}")
    return data


_SIMPLE: dict[Any, Decode] = {str: _text, int: _whole, float: _number, bool: _truth}


def _shown(data: Any) -> str:
    names = {dict: "an object", list: "an array", NoneType: "null", bool: "a truth value"}
    return names.get(type(data)) or repr(data)[:40]

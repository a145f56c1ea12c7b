import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgraph.capture.json_text import MOST_DEPTH, JsonTextError, nesting_depth, read_json, write_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text('[]{}"\\a '),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\a ', max_size=3), inner, max_size=3),
    max_leaves=12,
)


def depth_of(value: object) -> int:
    """By recursion, as nobody reads a stranger's text."""
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 0


@given(VALUES)
def test_the_depth_is_that_of_the_value(value: object) -> None:
    assert nesting_depth(json.dumps(value).encode()) == depth_of(value)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
def test_what_is_written_is_read(value: dict[str, object]) -> None:
    try:
        data = write_json(value)
    except UnicodeEncodeError:
        return
    assert read_json(data) == value
    assert write_json(read_json(data)) == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 1_000_000, "nested"),
        (b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1), "nested"),
        (b"", "Expecting value"),
        (b"[]", "no object"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":NaN}', "no number"),
        (b'{"a":-Infinity}', "no number"),
        (b'{"a":' + b"9" * 5000 + b"}", "digits"),
        (b'{"\xff":1}', "UTF-8"),
        (b'{"a":1} ' + b"x", "Extra data"),
    ],
)
def test_texts_that_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(JsonTextError, match=reason):
        read_json(data)


def test_brackets_in_strings_do_not_count() -> None:
    assert read_json(b'{"a":"' + b"[" * 1000 + b'\\"["}') == {"a": "[" * 1000 + '"['}
    assert nesting_depth(b'{"\\\\":[[' + b"]]}") == 3

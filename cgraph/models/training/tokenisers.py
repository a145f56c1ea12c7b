"""Text to tokens and back: bytes, or the distinct characters of a text.

Receives bytes; guarantees tokens from 0 to `size` - 1. No loop over characters: tables and gathers.
"""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

_CODE_POINTS = 0x110000
_NO_TOKEN = -1


@frozen
class Tokeniser:
    """How text becomes tokens.

    Args:
        characters: sorted, each once; None where the tokens are bytes.

    Raises:
        ValueError: characters are not sorted, or one stands twice.
    """

    characters: str | None = field()

    @characters.validator
    def _check(self, _: object, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, str) or not value:
            raise ValueError("tokeniser: expected the characters of a text")
        codes = _codes(value)
        if not (codes[:-1] < codes[1:]).all():
            raise ValueError("tokeniser: expected characters in order, each once")

    @property
    def kind(self) -> str:
        """`bytes` or `characters`."""
        return "bytes" if self.characters is None else "characters"

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return 256 if self.characters is None else len(self.characters)

    @property
    def token_name(self) -> str:
        """What one token is called in reports."""
        return "byte" if self.characters is None else "character"

    def knows(self, character: bytes) -> bool:
        """Whether a character, in UTF-8, has a token."""
        return self.characters is None or character.decode() in self.characters

    def encode(self, text: bytes) -> NDArray[Any]:
        """The tokens of a text in UTF-8, [tokens]; of u8 for bytes and else of i32.

        Raises:
            UnicodeDecodeError: characters are wanted and it is no UTF-8.
            KeyError: its first character that is not among the tokeniser's.
        """
        if self.characters is None:
            return np.frombuffer(text, np.uint8)
        table = np.full(_CODE_POINTS, _NO_TOKEN, np.int32)
        table[_codes(self.characters)] = np.arange(self.size, dtype=np.int32)
        codes = _codes(text.decode())
        tokens: NDArray[Any] = table[codes]
        unknown = tokens == _NO_TOKEN
        if unknown.any():
            raise KeyError(chr(codes[np.argmax(unknown)]))
        return tokens

    def decode(self, tokens: NDArray[Any]) -> str:
        """The text of tokens; bytes that are no UTF-8 become U+FFFD."""
        if self.characters is None:
            return tokens.astype(np.uint8).tobytes().decode(errors="replace")
        codes: NDArray[np.uint32] = _codes(self.characters)[tokens]
        return codes.tobytes().decode("utf-32-le")


def make_tokeniser(kind: str, text: bytes) -> Tokeniser:
    """The tokeniser of a text.

    Raises:
        UnicodeDecodeError: characters are wanted and it is no UTF-8.
        ValueError: characters are wanted and it has none.
    """
    if kind == "bytes":
        return Tokeniser(None)
    present = np.zeros(_CODE_POINTS, np.bool_)
    present[_codes(text.decode())] = True
    return Tokeniser(np.flatnonzero(present).astype("<u4").tobytes().decode("utf-32-le"))


def _codes(text: str) -> NDArray[np.uint32]:
    """Code points. Raises ValueError (UnicodeEncodeError) for a lone surrogate, which no text in UTF-8 has."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4")

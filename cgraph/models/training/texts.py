"""Text files to the tokens that a run trains on and those that it is evaluated on.

Receives paths; guarantees one text, split at a fixed place, of which both parts hold a sequence and its targets.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.problems_data import (
    EmptyText,
    TextNotUtf8,
    TextTooShort,
    UnknownCharacter,
    UnreadableText,
)
from cgraph.models.training.tokenisers import Tokeniser, make_tokeniser

LINE_END = b"\n"


@frozen(eq=False)
class Text:
    """The files one after the other.

    Args:
        names: of the files.
        content: all their bytes.
        ends: where in it each file ends.
    """

    names: tuple[str, ...]
    content: bytes = field(repr=False)
    ends: tuple[int, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hexadecimal digits."""
        return sha256(self.content).hexdigest()


@frozen(eq=False)
class Corpus:
    """Tokens, [tokens] each; `evaluated` is the end of the text and may have none."""

    trained: NDArray[Any] = field(repr=False)
    evaluated: NDArray[Any] = field(repr=False)


def read_text(paths: Sequence[Path]) -> Text:
    """Reads files; their bytes stay as they are, line ends included.

    Raises:
        ProblemsFound: CG780 for every file that cannot be read, CG782 where there is not one byte.
    """
    parts, ends, problems, length = [], [], [], 0
    for path in paths:
        try:
            parts.append(path.read_bytes())
        except (OSError, ValueError) as error:
            problems.append(UnreadableText(None, str(path), getattr(error, "strerror", None) or str(error)))
            continue
        length += len(parts[-1])
        ends.append(length)
    if problems:
        raise ProblemsFound(problems)
    names = tuple(map(str, paths))
    if not length:
        raise ProblemsFound([EmptyText(None, ", ".join(names))])
    return Text(names, b"".join(parts), tuple(ends))


def tokenise(text: Text, kind: str, known: Tokeniser | None = None) -> tuple[Tokeniser, NDArray[Any]]:
    """The text's tokeniser and its tokens, [tokens].

    Args:
        text: to be read.
        kind: `bytes` or `characters`.
        known: a tokeniser to use instead of making one.

    Raises:
        ProblemsFound: CG781 where characters are wanted of what is no UTF-8, CG783 for one that `known` lacks.
    """
    try:
        tokeniser = known or make_tokeniser(kind, text.content)
        return tokeniser, tokeniser.encode(text.content)
    except UnicodeDecodeError as error:
        file = next(index for index, end in enumerate(text.ends) if error.start < end)
        start = text.ends[file - 1] if file else 0
        raise ProblemsFound([TextNotUtf8(None, text.names[file], error.start - start)]) from error
    except KeyError as error:
        raise ProblemsFound([UnknownCharacter(None, "the text", error.args[0])]) from error


def encode_prompt(tokeniser: Tokeniser, prompt: str, tokens: NDArray[Any]) -> NDArray[Any]:
    """The tokens of what a sample begins with, [tokens], one or more.

    Args:
        tokeniser: of the text.
        prompt: "" for a line end, or what the text begins with where it has no line end.
        tokens: of the text.

    Raises:
        ProblemsFound: CG783 for a character that the tokeniser lacks.
    """
    if not prompt:
        return tokeniser.encode(LINE_END) if tokeniser.knows(LINE_END) else tokens[:1]
    try:
        return tokeniser.encode(prompt.encode(errors="surrogateescape"))
    except KeyError as error:
        raise ProblemsFound([UnknownCharacter(None, "the prompt", error.args[0])]) from error
    except UnicodeDecodeError as error:
        raise ProblemsFound([TextNotUtf8(None, "--prompt", error.start)]) from error


def split(tokens: NDArray[Any], share: float, seq: int) -> Corpus:
    """The part to train on and the end of the text, to evaluate on.

    Args:
        tokens: [tokens]
        share: of the tokens that go into the second part, from 0 to less than 1; with 0 it is empty.
        seq: tokens of a sequence; each part needs one more, the last target.

    Raises:
        ProblemsFound: CG784 for each part that is too short.
    """
    kept = int(len(tokens) * share)
    corpus = Corpus(tokens[: len(tokens) - kept], tokens[len(tokens) - kept :])
    short = [
        TextTooShort(None, part, len(found), seq, len(tokens))
        for part, found, wanted in (
            ("training", corpus.trained, True),
            ("evaluation", corpus.evaluated, share > 0),
        )
        if wanted and len(found) < seq + 1
    ]
    if short:
        raise ProblemsFound(short)
    return corpus

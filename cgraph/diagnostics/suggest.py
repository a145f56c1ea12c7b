"""Suggestions for names that do not exist."""

from collections.abc import Iterable
from difflib import SequenceMatcher

_ENOUGH = 0.75
"""Share of matching characters above which a name is worth suggesting."""


def closest_name(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that the name was probably meant to be, or None; of equally close ones the first in the alphabet.

    Case alone never tells two names apart here: `cgseq` suggests `cgSeq`.
    """
    lowered = name.lower()
    matcher = SequenceMatcher(None, "", lowered, autojunk=False)
    best: tuple[float, str] | None = None
    for candidate in candidates:
        matcher.set_seq1(candidate.lower())
        if matcher.real_quick_ratio() < _ENOUGH or matcher.quick_ratio() < _ENOUGH:
            continue
        ratio = matcher.ratio()
        if candidate != name and ratio >= _ENOUGH and (best is None or (-ratio, candidate) < best):
            best = (-ratio, candidate)
    return None if best is None else best[1]

"""The document that the language started from, which may lie beside a checkout."""

import re
from pathlib import Path

import pytest

SEEDS = Path(__file__).resolve().parents[2].parent / "shared" / "seeds"


def seed_layer_text() -> str:
    """The definition of cgLayerBackward as that document has it; the test is skipped where there is none.

    The document is a page: prose, then numbered lines (the number stands directly before the text), then a footer that
    is glued to the last line.
    """
    found = sorted(SEEDS.glob("000*.txt"))
    if not found:
        pytest.skip("the seed document of cgLayerBackward does not lie beside this checkout")
    numbered = re.findall(r"^[0-9]{4} ?(.*)$", found[0].read_text(encoding="utf-8"), re.MULTILINE)
    text = "\n".join(numbered)
    return text[: text.rindex(")") + 1] + "\n"

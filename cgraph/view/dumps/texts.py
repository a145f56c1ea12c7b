"""The text of a dump, whatever bytes it has, and how names out of it are cut.

Receives a text or the bytes of a file; guarantees a text of bounded size that can be written as UTF-8, with notes on
what was replaced.
"""

import codecs

from cgraph.diagnostics import ProblemsFound
from cgraph.view.dumps.limits import LONGEST_LABEL, MOST_BYTES
from cgraph.view.dumps.problems_dumps import DumpTooLarge
from cgraph.view.model import ViewNote

REPLACEMENT = "\ufffd"
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def clean_text(content: str | bytes, name: str) -> tuple[str, list[ViewNote]]:
    """The text, and a note where bytes or characters were no text.

    Raises:
        ProblemsFound: CG891, it is too large.
    """
    if len(content) > MOST_BYTES:
        raise ProblemsFound([DumpTooLarge(None, name, MOST_BYTES)])
    encoding = "utf-8"
    if isinstance(content, str):
        if content.isascii():
            return content, []
        content = content.encode("utf-8", "surrogatepass")
    else:
        encoding = next((found for mark, found in _ENCODINGS if content.startswith(mark)), encoding)
    try:
        return content.decode(encoding), []
    except UnicodeDecodeError:
        text = content.decode(encoding, "replace")
    line = text.count("\n", 0, text.index(REPLACEMENT)) + 1
    return text, [ViewNote("warning", f"what is no text in {encoding} was replaced by {REPLACEMENT}", line=line)]


def shortened(text: str) -> str:
    """A name or label, with … where it is cut."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"

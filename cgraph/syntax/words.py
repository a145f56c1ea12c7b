"""The grammar's terminals in the user's words.

Receives terminals; guarantees short phrases for messages: `a term`, `a type`, `a quantity`, or the mark itself in
backquotes. Which terminals a place accepts is worked out in `faults.py`.
"""

from collections.abc import Collection, Mapping

from cgraph.source import Source
from cgraph.syntax.lexer import END, Token

DECLARATION_WORDS = frozenset({"IMPORT", "PARAMETER", "PHASE", "PLANE", "IMAGE", "DEF"})
RESERVED_WORDS = DECLARATION_WORDS | {
    "KERNEL", "LAMBDA", "LET", "IN", "PI", "ERASED", "LINEAR", "UNRESTRICTED",
    "NAT", "FLOAT_TYPE", "PHASE_TYPE", "IMAGE_TYPE", "ARGUMENT", "SLOTS", "COMMAND", "PLANE_TYPE",
}  # fmt: skip
CLOSER_OF = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
MARK_OF = {"LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}"}

_TERM = frozenset({"NAME", "NATURAL", "FLOAT", "LPAR"})
_TYPE = frozenset({"NAT", "COMMAND", "PLANE_TYPE", "LPAR"})
_WORD_GROUPS = (
    ("a quantity (`erased`, `linear` or `unrestricted`)", frozenset({"ERASED", "LINEAR", "UNRESTRICTED"})),
    ("an element type (`f16`, `bf16`, `f32`, `f64`, `i32` or `half`)",
     frozenset({"F16", "BF16", "F32", "F64", "I32", "HALF"})),
    ("an access (`read`, `write` or `accumulate`)", frozenset({"READ", "WRITE", "ACCUMULATE"})),
    ("a role (`input`, `output`, `weight`, `gradient of …`, `saved`, `state` or `scratch`)",
     frozenset({"INPUT", "OUTPUT", "WEIGHT", "GRADIENT", "SAVED", "STATE", "SCRATCH"})),
    ("an item (`slot`, `constant`, `grid`, `block`, `shared` or `require`)",
     frozenset({"SLOT", "CONSTANT", "GRID", "BLOCK", "SHARED", "REQUIRE"})),
)  # fmt: skip
_KINDS = {"NATURAL": "a natural number", "FLOAT": "a float", "STRING": "a string in double quotes"}


def describe_expected(accepted: Collection[str], words: Mapping[str, str], marks: Mapping[str, str]) -> str:
    """The terminals that a place accepts, as one phrase: `a term or `)``."""
    texts = {name: text for text, name in (*words.items(), *marks.items())}
    left = set(accepted)
    phrases = []
    if left >= _TERM:
        phrases.append("a term")
        left -= _TERM | (set(words.values()) - RESERVED_WORDS)
    elif "NAME" in left:
        phrases.append("a name")
        left -= {"NAME", *words.values()}
    if left >= _TYPE:
        phrases.append("a type")
        left -= _TYPE | RESERVED_WORDS
    for phrase, group in _WORD_GROUPS:
        if left >= group:
            phrases.append(phrase)
            left -= group
    if left >= DECLARATION_WORDS:
        phrases.append("a declaration")
        left -= {*DECLARATION_WORDS, END}
    phrases += [phrase for kind, phrase in _KINDS.items() if kind in left]
    phrases += sorted(f"`{texts[kind]}`" for kind in left if kind in texts)
    if END in left:
        phrases.append("the end of the file")
    return " or ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def describe_found(source: Source, token: Token) -> str:
    """A token as a message quotes it."""
    kind, start, stop = token
    if kind == END:
        return "the end of the file"
    if kind == "STRING":
        return "a string"
    text = source.text[start:stop]
    return f"`{text}`" if len(text) <= 40 else f"`{text[:39]}…`"

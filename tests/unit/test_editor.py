"""The editor's grammar knows the words of the language, and its expressions are sound."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cgraph.check.terms import Primitive
from cgraph.syntax.tables import read_grammar

EDITOR = Path(__file__).parents[2] / "tools" / "editor"
LANGUAGE = json.loads((EDITOR / "syntaxes" / "cg.tmLanguage.json").read_text(encoding="utf-8"))


def expressions(node: Any) -> Iterator[tuple[str, str]]:
    """Scope name and expression of every rule."""
    if isinstance(node, dict):
        for key in ("match", "begin", "end"):
            if key in node:
                yield node.get("name", ""), node[key]
        for part in node.values():
            yield from expressions(part)
    elif isinstance(node, list):
        for part in node:
            yield from expressions(part)


def test_every_word_of_the_grammar_is_coloured() -> None:
    words = set(re.findall(r'^[A-Z0-9_]+: "(\w+)"$', read_grammar(), re.MULTILINE))
    coloured = {word for _, text in expressions(LANGUAGE) for word in re.findall(r"\w+", text)}
    assert len(words) > 40
    assert words - coloured == set()


def test_exactly_the_primitives_are_coloured_as_such() -> None:
    (text,) = (text for name, text in expressions(LANGUAGE) if name == "support.function.cg")
    names = re.findall(r"(?<=[(|])[a-z]\w+", text)
    assert sorted(names) == sorted(primitive.text for primitive in Primitive)
    assert re.search(text, "(cgEachDown n body)").group() == "cgEachDown"  # type: ignore[union-attr]
    assert re.search(text, "cgEach' cgEachOther") is None


def test_every_include_and_file_exists() -> None:
    included = re.findall(r'"include": "#([\w-]+)"', json.dumps(LANGUAGE))
    assert set(included) == set(LANGUAGE["repository"])
    package = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))
    paths = [entry["configuration"] for entry in package["contributes"]["languages"]]
    paths += [entry["path"] for entry in package["contributes"]["grammars"]]
    assert all((EDITOR / path).is_file() for path in paths)
    json.loads((EDITOR / "language-configuration.json").read_text(encoding="utf-8"))

"""The documents say what is true: their examples do what is said of them, and their tables are complete."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from cgraph.build.builder import MAX_COMMANDS
from cgraph.build.parameters import MAX_STEPS
from cgraph.check.checker import ALL_STEPS, DECLARATION_STEPS, SURVEY_STEPS
from cgraph.check.limits import MOST_BITS, MOST_DEGREE, MOST_TERMS
from cgraph.check.rules import MOST_NESTED_DOMAINS
from cgraph.check.terms import Primitive
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.page import diagnostics_page
from cgraph.graph.rules_commands import (
    BLOCK_LIMIT_Z,
    BLOCK_THREADS,
    GRID_LIMITS,
    NATURAL_LIMIT,
    SHARED_LIMIT_BYTES,
)
from cgraph.pipeline import check, compile_program, parse
from cgraph.source import Source
from cgraph.syntax.loading import MAXIMUM_SIZE_BYTES
from cgraph.syntax.term_builder import MAXIMUM_DIGITS
from cgraph.syntax.tree import Definition

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "cgraph" / "docs"
LANGUAGE = DOCS / "language.md"
DIAGNOSTICS = DOCS / "diagnostics.md"
GRAMMAR = ROOT / "cgraph" / "syntax" / "grammar.lark"

FENCE = re.compile(r"^```cg([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A block of a document; `words` stand behind its opening fence: a severity and a code, or nothing."""

    place: str
    words: tuple[str, ...]
    text: str


def read_examples() -> list[Example]:
    found = []
    for document in (LANGUAGE, ROOT / "README.md"):
        text = document.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            found.append(Example(f"{document.name}:{line}", tuple(block[1].split()), block[2]))
    return found


EXAMPLES = read_examples()


def problems_of(text: str) -> tuple[Problem, ...]:
    """All problems of a program; one that has a `main` is built with its defaults as well."""
    source = Source("<example>", text)
    try:
        module = parse(source)
        names = [declaration.name.text for declaration in module.declarations if isinstance(declaration, Definition)]
        _, warnings = check(module)
        return compile_program(source).warnings if "main" in names else warnings
    except ProblemsFound as stopped:
        return stopped.problems


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.place for example in EXAMPLES])
def test_examples_do_what_is_said_of_them(example: Example) -> None:
    found = {(problem.severity.value, problem.code) for problem in problems_of(example.text)}
    assert found == ({example.words} if example.words else set())


def test_there_are_examples_of_both_kinds() -> None:
    kinds = [example.words[:1] for example in EXAMPLES]
    assert kinds.count(()) >= 10
    assert kinds.count(("error",)) >= 10


def section(title: str) -> str:
    text = LANGUAGE.read_text(encoding="utf-8")
    start = text.index(f"\n## {title}\n")
    return text[start : text.find("\n## ", start + 1)]


def test_the_table_of_primitives_is_complete() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section("Primitives"), re.MULTILINE)
    assert sorted(rows) == sorted(primitive.text for primitive in Primitive)


def test_a_row_of_the_table_has_as_many_arrows_as_the_primitive_has_arguments() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)`", section("Primitives"), re.MULTILINE))
    for primitive in Primitive:
        outside = re.sub(r"\([^()]*\)", "f", rows[primitive.text])
        assert outside.count("→") == primitive.arity, primitive.text


def test_the_grammar_names_every_word_of_the_language() -> None:
    words = set(re.findall(r'^[A-Z0-9_]+: "(\w+)"$', GRAMMAR.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(words) > 40
    assert {word for word in words if f"'{word}'" not in section("Grammar")} == set()


def test_the_list_of_reserved_words_is_the_one_of_the_parser() -> None:
    listed = re.search(r"These words are reserved: `([^`]+)`", LANGUAGE.read_text(encoding="utf-8"))
    assert listed is not None
    reserved = set(listed[1].split())
    for word in re.findall(r"'(\w+)'", section("Grammar")):
        try:
            parse(Source("<word>", f"def {word} = 1"))
        except ProblemsFound:
            assert word in reserved
        else:
            assert word not in reserved


def test_the_limits_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| [^|]+ \| ([\d,; ]+) \|", section("Limits"), re.MULTILINE)
    stated = [tuple(int(number.replace(",", "")) for number in row.split(";")) for row in rows]
    assert stated == [
        (MAXIMUM_SIZE_BYTES // 2**20,),
        (MAXIMUM_DIGITS,),
        (MOST_NESTED_DOMAINS,),
        (MOST_BITS,),
        (MOST_TERMS, MOST_DEGREE),
        (DECLARATION_STEPS,),
        (SURVEY_STEPS,),
        (ALL_STEPS,),
        (MAX_STEPS,),
        (MAX_COMMANDS,),
        GRID_LIMITS,
        (BLOCK_THREADS, BLOCK_LIMIT_Z),
        (SHARED_LIMIT_BYTES,),
        (NATURAL_LIMIT,),
    ]


def test_every_code_that_the_reference_mentions_exists() -> None:
    existing = set(re.findall(r"^\| (CG\d+)", diagnostics_page(), re.MULTILINE))
    mentioned = set(re.findall(r"CG\d{3}", LANGUAGE.read_text(encoding="utf-8")))
    assert mentioned <= existing


def test_the_page_of_diagnostics_is_current(refresh_goldens: bool) -> None:
    if refresh_goldens:
        DIAGNOSTICS.write_text(diagnostics_page(), encoding="utf-8")
    assert DIAGNOSTICS.read_text(encoding="utf-8") == diagnostics_page()

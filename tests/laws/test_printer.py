"""The formatter changes layout only: the tree, the comments and their order stay, and a second run changes nothing."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.parser import parse
from cgraph.syntax.printer import print_module
from cgraph.syntax.tree import Module
from tests.support.trees import modules, plain

PROGRAMS = sorted(programs_directory().rglob("*.cg"))
TEXT = """import "sizes.cg" phase p "Part \\"one\\""
-- The plane.
plane x (i : Nat < 3) (j : Nat < n) : f32 [m, (f i)] gradient of y
{- An image. -}
image k = kernel "a.cu" "a" { slot 0 in : read f32 [n, (mul 2 m)] optional aliases in of slot 1 n : natural
  constant C = 3 grid [1, n] block 128 shared 4 require n <= (f 2) }
def f : (pi unrestricted a : Plane f32 [(mul m n), 3] . (pi linear b : Nat . Command)) =
  (lambda unrestricted a : Plane f32 [(mul m n), 3] . (let erased q : Nat = (g 1 2) in ((h x) -1.5e3 (k y))))
def chain = (cgThen (cgFill outputPlane 0.0) (cgThen (cgCopy outputPlane inputPlane) (cgThen first second)))
"""
# One token a match: strings, words, numbers, marks. Written here anew, so that the lexer cannot excuse itself.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_][A-Za-z0-9_\']*|-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?|<=|[][(){}:=.,<]')
TOKENS = TOKEN.findall(re.sub(r"--.*|\{-.*?-\}", "", TEXT))
SEPARATORS = st.sampled_from(
    [" "] * 12
    + ["\n", "\n\n", "\t", " \r\n", "\n \n\n", " -- to the end\n", "\n-- alone\n", "\n\n-- apart\n\n", " --\n"]
    + [" {- short -} ", "\n{- alone -}\n", " {- two\n   lines -} ", "\n{- {- nested -} -}", " {- -- -} "]
)


def comments(module: Module) -> list[str]:
    """The comments without blanks at the ends of lines, which the formatter removes."""
    return [re.sub(r"[ \t\r]+$", "", comment.span.text, flags=re.MULTILINE) for comment in module.comments]


def check_laws(text: str) -> None:
    module = parse(Source("before", text))
    printed = print_module(module)
    again = parse(Source("after", printed))
    assert plain(again.declarations) == plain(module.declarations)
    assert comments(again) == comments(module)
    assert print_module(again) == printed
    assert re.search(r"[ \t\r]$", printed, re.MULTILINE) is None
    assert "\n\n\n" not in printed


@given(modules)
def test_a_made_tree_comes_back(module: Module) -> None:
    printed = print_module(module)
    again = parse(Source("printed", printed))
    assert plain(again.declarations) == plain(module.declarations)
    assert print_module(again) == printed


@settings(max_examples=300)
@given(st.lists(SEPARATORS, min_size=len(TOKENS), max_size=len(TOKENS)))
def test_comments_and_blank_lines_anywhere(separators: list[str]) -> None:
    check_laws("".join(token + separator for token, separator in zip(TOKENS, separators, strict=True)))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs(path: Path) -> None:
    check_laws(path.read_text(encoding="utf-8"))

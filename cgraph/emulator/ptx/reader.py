"""Reads a PTX module: the text's directives, variables and functions.

Receives the text as NVRTC writes it; guarantees a module whose names are resolved, whose calls are expanded and whose
instructions the machine knows. Debugging sections are stepped over. What instructions do is left to the machine.
"""

import math
import re

from attrs import define, field

from cgraph.core.collection import paused_collection
from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.ptx.body import BodyReader
from cgraph.emulator.ptx.declarations import LINKAGE, SPACES, read_declaration, read_parameters
from cgraph.emulator.ptx.layout import place_function
from cgraph.emulator.ptx.linking import Unlinked
from cgraph.emulator.ptx.model import Function, Module, Parameter, Variable
from cgraph.emulator.ptx.places import library_files
from cgraph.emulator.ptx.problems import UnknownName
from cgraph.emulator.ptx.tokens import Words
from cgraph.source import Source, Span

_FILE = re.compile(r'^\s*\.file\s+(\d{1,9})\s+"([^"\n]*)"', re.MULTILINE)
_TUNING = frozenset({".minnctapersm", ".maxnreg", ".noreturn", ".maxclusterrank"})
_THREADS = frozenset({".maxntid", ".reqntid", ".reqnctapercluster"})


@define
class _Bounds:
    """What stands between a function's parameters and its body."""

    max_threads: int | None = None
    required_block: tuple[int, int, int] | None = None


@define
class _Contents:
    """What was read so far."""

    version: tuple[int, int] = (0, 0)
    target: str = ""
    variables: dict[str, Variable] = field(factory=dict)
    functions: dict[str, Unlinked] = field(factory=dict)
    bounds: dict[str, _Bounds] = field(factory=dict)
    references: list[tuple[Span, str]] = field(factory=list)


def read_module(text: str, *, name: str = "<ptx>") -> Module:
    """Reads PTX text.

    Args:
        text: the whole module, as NVRTC writes it; a closing NUL is ignored.
        name: what reports call it.

    Raises:
        ProblemsFound: the text is not PTX, or has something that the machine does not know.
    """
    with paused_collection():
        return _read(Source(name, text.rstrip("\0")))


def _read(source: Source) -> Module:
    words = Words(source)
    files = {int(number): path for number, path in _FILE.findall(source.text)}
    library = library_files(files)
    contents = _Contents()
    _read_header(words, contents)
    while words.word:
        if words.word in {".entry", ".func"}:
            _read_function(words, contents, files, library)
        else:
            _read_part(words, contents)
    for span, name in contents.references:
        if name not in contents.variables or contents.variables[name].space not in {"global", "const"}:
            raise ProblemsFound([UnknownName(span, "variable of the module", name)])
    functions = {each.name: _finish(each, contents) for each in contents.functions.values() if each.body is not None}
    return Module(contents.version, contents.target, functions, contents.variables, files, source)


def _read_part(words: Words, contents: _Contents) -> None:
    """Whatever stands between functions: variables, linkage, files, debugging sections."""
    word = words.word
    if word in LINKAGE:
        words.take()
    elif word in SPACES:
        _read_variable(words, contents)
    elif word == ".file":
        words.take()
        words.natural("a file's number")
        words.take()
        while words.accept(","):
            words.natural("a time or a size")
    elif word == ".section":
        words.take()
        words.take()
        words.skip_braces()
    elif word == ".pragma":
        words.take()
        words.take()
        words.expect(";")
    else:
        words.fail("a variable or a function")


def _read_header(words: Words, contents: _Contents) -> None:
    words.expect(".version")
    major, point, minor = words.take().partition(".")
    if not (major.isdigit() and point and minor.isdigit()):
        words.fail("a version, such as 8.0")
    contents.version = (int(major), int(minor))
    words.expect(".target")
    contents.target = words.name("a target, such as sm_80")
    while words.accept(","):
        words.name("a part of the target")
    if words.accept(".address_size") and words.natural("64") != 64:
        words.unsupported("addresses that have not 64 bits")


def _read_variable(words: Words, contents: _Contents) -> None:
    space = words.take()[1:]
    if space in {"param", "local"}:
        words.unsupported(f"a variable of the module in {space} memory")
    start = words.start
    declared = read_declaration(words)
    contents.references += [(words.span(start), name) for _, name, _ in declared.references]
    if declared.size_bytes is None and space != "shared":
        words.fail("a variable with a size")
    contents.variables[declared.name] = declared.variable(space)
    words.expect(";")


def _read_function(words: Words, contents: _Contents, files: dict[int, str], library: frozenset[int]) -> None:
    entry = words.take() == ".entry"
    returns: tuple[Parameter, ...] = ()
    if not entry and words.word == "(":
        returns = read_parameters(words)
    name = words.name("a function")
    parameters = read_parameters(words) if words.word == "(" else ()
    bounds = _read_bounds(words)
    if words.accept(";"):
        contents.functions.setdefault(name, Unlinked(name, entry, parameters, returns, None))
        return
    symbols = {each.name: (each.name, each.space) for each in contents.variables.values()}
    symbols |= {each.name: (each.name, "param") for each in (*parameters, *returns)}
    body = BodyReader(words, symbols, files, library).read()
    contents.functions[name] = Unlinked(name, entry, parameters, returns, body)
    contents.bounds[name] = bounds


def _read_bounds(words: Words) -> _Bounds:
    bounds = _Bounds()
    while words.word.startswith("."):
        word = words.take()
        if word in _TUNING:
            if word != ".noreturn":
                words.natural("a number")
        elif word in _THREADS:
            numbers = [words.natural("a number of threads")]
            while words.accept(","):
                numbers.append(words.natural("a number of threads"))
            if len(numbers) > 3:
                words.fail("at most three numbers")
            x, y, z = (*numbers, 1, 1)[:3]
            if word == ".maxntid":
                bounds.max_threads = math.prod(numbers)
            elif word == ".reqntid":
                bounds.required_block = (x, y, z)
        elif word == ".pragma":
            words.take()
            words.expect(";")
        else:
            words.unsupported(f"the directive {word}")
    return bounds


def _finish(function: Unlinked, contents: _Contents) -> Function:
    bounds = contents.bounds[function.name]
    return place_function(function, contents.functions, contents.variables, bounds.max_threads, bounds.required_block)

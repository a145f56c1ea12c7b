"""Finds the code of each kernel that a graph launches.

Receives what the driver says about kernels and what the caller passed as code; guarantees that a kernel gets code in
which its name and the sizes of its parameters stand, and that it is certain which: two codes for the same architecture,
or two modules that have such a kernel, are a problem unless the caller said which code is which module's.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attrs import field, frozen

from cgraph.backends.cuda.imported.model import ImportedCode, ImportedKernel
from cgraph.backends.cuda.imported.problems_imported import CodeAmbiguous, CodeMissing
from cgraph.backends.cuda.imported.reading_code import GivenCode
from cgraph.backends.cuda.imported.reading_kernels import FunctionFacts
from cgraph.diagnostics import Problem


@frozen(eq=False)
class KernelTable:
    """Kernels and codes, numbered; only codes that some kernel needs. `numbers` has a kernel's by what is known."""

    codes: tuple[ImportedCode, ...]
    kernels: tuple[ImportedKernel, ...]
    numbers: Mapping[FunctionFacts, int] = field(repr=False)


def match_code(
    functions: Sequence[FunctionFacts], given: Sequence[GivenCode]
) -> tuple[KernelTable, tuple[Problem, ...]]:
    """A kernel for each function, and what is missing (CG852) or not certain (CG853)."""
    problems: list[Problem] = []
    missing: list[str] = []
    numbers: dict[GivenCode, int] = {}
    kernels: list[ImportedKernel] = []
    modules = _modules(functions)
    for function in functions:
        sizes = _sizes(function)
        own = [code for code in given if code.module == function.module]
        found = [code for code in own or [code for code in given if not code.module] if code.has(function.name, sizes)]
        if not found:
            missing.append(str(function))
            continue
        doubt = "" if own else _doubt(found, modules[function.name, sizes])
        if doubt:
            problems.append(CodeAmbiguous(None, function.name, doubt))
        indices = tuple(numbers.setdefault(code, len(numbers)) for code in found)
        kernels.append(ImportedKernel(function.name, function.parameters, indices, function.attributes))
    if missing:
        problems.insert(0, CodeMissing(None, len(missing), tuple(dict.fromkeys(missing))))
        return KernelTable((), (), {}), tuple(problems)
    codes = tuple(code.code for code in numbers)
    return KernelTable(codes, tuple(kernels), {f: number for number, f in enumerate(functions)}), tuple(problems)


def _sizes(function: FunctionFacts) -> tuple[int, ...]:
    return tuple(place.size_bytes for place in function.parameters)


def _modules(functions: Iterable[FunctionFacts]) -> Mapping[tuple[str, tuple[int, ...]], set[int]]:
    """The modules that have a kernel, by its name and parameters."""
    found: dict[tuple[str, tuple[int, ...]], set[int]] = defaultdict(set)
    for function in functions:
        found[function.name, _sizes(function)].add(function.module)
    return found


def _doubt(found: Sequence[GivenCode], modules: set[int]) -> str:
    """Why it is not certain which code a kernel has; "" where it is."""
    if len(modules) > 1:
        return f"{len(modules)} modules have a kernel of this name with such parameters"
    by_target: dict[tuple[object, str], set[bytes]] = defaultdict(set)
    for code in found:
        by_target[code.code.form, code.code.architecture].add(code.code.data)
    if any(len(codes) > 1 for codes in by_target.values()):
        return "several of the codes have a kernel of this name with such parameters"
    return ""

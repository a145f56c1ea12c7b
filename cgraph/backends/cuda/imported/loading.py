"""The kernels of an imported graph, loaded into a context.

Receives kernels and the codes that have them; guarantees a function for each kernel, with the parameters that the graph
was read with and with its attributes. Of a kernel's codes the first is taken that the device loads: machine code before
PTX, which has to be compiled. Owner: the executable, which unloads the modules after its graph is gone.
"""

from typing import Any

from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls, failure
from cgraph.backends.cuda.imported.attributes import apply_function_attributes
from cgraph.backends.cuda.imported.model import CodeForm, ImportedGraph, ImportedKernel, ParameterPlace
from cgraph.backends.cuda.imported.parameters import read_parameters
from cgraph.backends.cuda.imported.problems_imported import CodeNotLoaded
from cgraph.diagnostics import Problem, ProblemsFound

SUCCESS = cu.CUresult.CUDA_SUCCESS
PREFERENCE = (CodeForm.CUBIN, CodeForm.FATBIN, CodeForm.PTX)


@define(eq=False)
class ImportedModules:
    """Functions of kernels with their parameters, by index, and the modules that they belong to."""

    call: Calls = field(repr=False)
    functions: list[tuple[Any, tuple[ParameterPlace, ...]]] = field(factory=list, repr=False)
    _modules: dict[int, Any] = field(factory=dict, repr=False)
    _refusals: dict[int, str] = field(factory=dict, repr=False)

    def load_all(self, graph: ImportedGraph, device: str) -> list[Problem]:
        """Loads all kernels; gives those that can't be (CG858). Raises ProblemsFound (CG742)."""
        problems: list[Problem] = []
        for kernel in graph.kernels:
            found = self._load(graph, kernel, device)
            if isinstance(found, Problem):
                problems.append(found)
            else:
                self.functions.append((found, kernel.parameters))
        return problems

    def _load(self, graph: ImportedGraph, kernel: ImportedKernel, device: str) -> Any:
        """A kernel's function, or the problem that there is none."""
        reasons = []
        for number in sorted(kernel.codes, key=lambda number: PREFERENCE.index(graph.codes[number].form)):
            found = self._function(graph, number, kernel)
            if not isinstance(found, str):
                return found
            code = graph.codes[number]
            made_for = f" for {code.architecture}" if code.architecture else ""
            reasons.append(f"code {number} ({code.form.value}{made_for}): {found}")
        return CodeNotLoaded(None, kernel.name, device, tuple(reasons))

    def _function(self, graph: ImportedGraph, number: int, kernel: ImportedKernel) -> Any:
        """The function of a kernel in one of the codes, or why there is none."""
        if number in self._refusals:
            return self._refusals[number]
        if number not in self._modules:
            # PTX is read up to a zero byte; machine code knows its own length.
            result, module = cu.cuModuleLoadData(graph.codes[number].data + b"\0")
            if result != SUCCESS:
                self._refusals[number] = _said(failure("cuModuleLoadData", result))
                return self._refusals[number]
            self._modules[number] = module
        result, function = cu.cuModuleGetFunction(self._modules[number], kernel.name.encode())
        if result != SUCCESS:
            return _said(failure("cuModuleGetFunction", result))
        if read_parameters(self.call, function) != kernel.parameters:
            return "its parameters are not those that the graph was read with"
        apply_function_attributes(self.call, function, kernel.attributes)
        return function

    def close(self) -> None:
        """Unloads the modules, once or again. Errors are left to whoever uses the device next."""
        self.functions.clear()
        while self._modules:
            cu.cuModuleUnload(self._modules.popitem()[1])


def load_kernels(graph: ImportedGraph, call: Calls, device: str) -> ImportedModules:
    """Loads the code of all kernels into the current context.

    Args:
        graph: with the code.
        call: makes the driver's calls.
        device: in words, for messages.

    Raises:
        ProblemsFound: CG858 for every kernel without code that the device takes, CG742 for all else.
    """
    modules = ImportedModules(call)
    try:
        problems = modules.load_all(graph, device)
    except BaseException:
        modules.close()
        raise
    if problems:
        modules.close()
        raise ProblemsFound(problems)
    return modules


def _said(problem: Problem) -> str:
    return problem.render_title()

"""Names of kernels as people read them.

Receives symbols, mangled by the Itanium C++ ABI, which compilers for CUDA and HIP follow on all systems, or not
mangled. Guarantees a name for each; a symbol that cannot be read is its own name. The package `demangle` reads them:
it is Python alone, and bounds its depth and output, where C libraries may be made to fill the memory by a short name.
"""

from demangle import DemanglingError, signature

from cgraph.view.model import ViewKernel

_PREFIX = "_Z"


def kernel_of(symbol: str) -> tuple[ViewKernel, str]:
    """A kernel with a readable name, without what it returns and takes, and a label: the name without its namespaces.

    `doc` of the kernel is the declaration as a whole.
    """
    if not symbol.startswith(_PREFIX):
        return ViewKernel(symbol, symbol), symbol
    try:
        read = signature(symbol, language="itanium")
    except DemanglingError:
        return ViewKernel(symbol, symbol), symbol
    name = read.qualified_name or symbol
    return ViewKernel(name, symbol, doc=read.demangled), read.base_name or name

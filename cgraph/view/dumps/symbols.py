"""Names of kernels as people read them.

Receives symbols, mangled by the Itanium C++ ABI, which compilers for CUDA and HIP follow on all systems, or not
mangled. Guarantees a name for each; a symbol that cannot be read is its own name. The package `demangle` reads them:
it is Python alone, and bounds its depth and output, where C libraries may be made to fill the memory by a short name.
"""

from demangle import DemanglingError, signature

from cgraph.view.model import ViewKernel

_PREFIX = "_Z"


def kernel_of(symbol: str) -> ViewKernel:
    """A kernel with a readable name, without what it returns and takes; `doc` is the declaration as a whole."""
    if not symbol.startswith(_PREFIX):
        return ViewKernel(symbol, symbol)
    try:
        read = signature(symbol, language="itanium")
    except DemanglingError:
        return ViewKernel(symbol, symbol)
    return ViewKernel(read.qualified_name or symbol, symbol, doc=read.demangled)

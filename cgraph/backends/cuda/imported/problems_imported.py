"""What a user may meet when a live CUDA graph is imported, or an imported one is run: CG850 to CG861."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Problem

CODE_HELP = (
    "pass code=[…]: bytes of PTX, a cubin or a fat binary, a path to one, or an object with `code` such as "
    "cuda.core's ObjectCode"
)
HANDLE_HELP = (
    "pass a CUgraph, its handle as an int, cuda.core's GraphDefinition or GraphBuilder, or torch's CUDAGraph made with "
    "keep_graph=True"
)
MODULE_HELP = "pass the code together with what it was loaded as: code=[(module, bytes), …]"


@frozen
class NoLiveGraph(Problem):
    """Something that is no handle of a CUgraph. `given` says what it is, `reason` what it says itself."""

    code: ClassVar[str] = "CG850"
    title: ClassVar[str] = "{given} is no CUDA graph that can be read"

    given: str
    reason: str = ""

    def notes(self) -> Sequence[str]:
        return (self.reason,) if self.reason else ()

    def helps(self) -> Sequence[str]:
        return (HANDLE_HELP, "the driver tells nothing about a graph that is instantiated already")


@frozen
class NodeNotImported(Problem):
    """A node that no import takes. `node` says which, `reason` why not."""

    code: ClassVar[str] = "CG851"
    title: ClassVar[str] = "{node} can't be imported: {reason}"

    node: str
    reason: str

    def helps(self) -> Sequence[str]:
        return ("nothing is imported in part: capture the graph without this node",)


@frozen
class CodeMissing(Problem):
    """Kernels whose code was not passed. `kernels` says their names and parameters."""

    code: ClassVar[str] = "CG852"
    title: ClassVar[str] = "there is no code for {count} kernel(s) of the graph"

    count: int
    kernels: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        return (*self.kernels, "the driver does not give the code of a loaded module back")

    def helps(self) -> Sequence[str]:
        return (CODE_HELP,)


@frozen
class CodeAmbiguous(Problem):
    """A kernel that several codes or several modules could mean."""

    code: ClassVar[str] = "CG853"
    title: ClassVar[str] = "the code of kernel {kernel} is not certain: {reason}"

    kernel: str
    reason: str

    def helps(self) -> Sequence[str]:
        return (MODULE_HELP,)


@frozen
class CodeUnusable(Problem):
    """A code that was passed and is none. `number` is its place in `code`, from 0."""

    code: ClassVar[str] = "CG854"
    title: ClassVar[str] = "code {number} can't be used: {reason}"

    number: int
    reason: str

    def helps(self) -> Sequence[str]:
        return (CODE_HELP,)


@frozen
class PointerNotFound(Problem):
    """A parameter was declared to be a pointer and is none that can be kept."""

    code: ClassVar[str] = "CG855"
    title: ClassVar[str] = "{node}, parameter {parameter}: {reason}"

    node: str
    parameter: int
    reason: str

    def helps(self) -> Sequence[str]:
        return ("parameters are counted from 0; `pointers` names them for each kernel",)


@frozen
class MemoryNotFound(Problem):
    """A node touches memory that is in no live allocation, or runs past its end."""

    code: ClassVar[str] = "CG856"
    title: ClassVar[str] = "{node} touches memory that can't be kept: {reason}"

    node: str
    reason: str

    def helps(self) -> Sequence[str]:
        return ("import the graph while all memory that it touches is allocated",)


@frozen
class NameUnfit(Problem):
    """A name that was given for an address and does not fit."""

    code: ClassVar[str] = "CG857"
    title: ClassVar[str] = "the name `{name}` does not fit: {reason}"

    name: str
    reason: str


@frozen
class CodeNotLoaded(Problem):
    """A kernel of which the device takes no code. `reasons` has one line for each code that was tried."""

    code: ClassVar[str] = "CG858"
    title: ClassVar[str] = "no code of kernel {kernel} runs on {device}"

    kernel: str
    device: str
    reasons: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        return self.reasons

    def helps(self) -> Sequence[str]:
        return ("import the graph with PTX or with a cubin for this architecture in `code`",)


@frozen
class ImportedNodeFailed(Problem):
    """A driver call for a node of an imported graph failed."""

    code: ClassVar[str] = "CG859"
    title: ClassVar[str] = "{call} failed for {node}: {error}, {text}"

    call: str
    node: str
    error: str
    text: str


@frozen
class ImportedNodeAtFault(Problem):
    """A node whose kernel did something wrong; what, the emulated device says."""

    code: ClassVar[str] = "CG860"
    title: ClassVar[str] = "the emulated device found {count} problem(s) in {node}"

    node: str
    count: int


@frozen
class ImportedOnHost(Problem):
    """An imported graph was to run without a GPU, real or emulated."""

    code: ClassVar[str] = "CG861"
    title: ClassVar[str] = "an imported graph does not run on the host: its kernels have no meaning but their code"

    def helps(self) -> Sequence[str]:
        return ("run it with --device cuda, or, if its code is PTX, with --device emulated",)

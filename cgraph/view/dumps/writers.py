"""Which tool wrote a dump, as far as its text shows it.

Receives what a text holds; guarantees only what is there to see: the form of sizes tells HIP from CUDA, names of
kernels tell whose they are. A tool that passes on what the driver writes leaves no other trace.
"""

import re
from collections.abc import Iterable, Sequence

from cgraph.view.dumps.commands import Command
from cgraph.view.dumps.model import DotGraph

_HIP = re.compile(r"\([0-9]+,[0-9]+,[0-9]+\),")
_HIP_BARE_EDGE = re.compile(r'^"graph_[0-9]+_node_[0-9]+" -> "graph_[0-9]+_node_[0-9]+"[ \t]*\n', re.MULTILINE)
_LIBRARIES = (
    ("MLX", re.compile(r"_ZNK?3mlx4core")),
    ("PyTorch", re.compile(r"_ZNK?2at6native|_ZNK?3c10|^triton_")),
    ("CuPy", re.compile(r"^cupy_")),
)


def writer_of(graph: DotGraph, commands: Sequence[Command]) -> str:
    """A few words on the tool of a driver's dump, e.g. `CUDA debug dot, verbose; kernels of PyTorch`."""
    sizes = (command.launch.sizes for command in commands if command.launch is not None)
    is_hip = any(_HIP.match(text) for text in sizes if text) or _HIP_BARE_EDGE.search(graph.source.text) is not None
    is_verbose = any(node.attributes.get("shape") == "record" for node in graph.nodes) or any(
        name == "topoId" for command in commands for name, _ in command.details
    )
    owners = sorted(set(_owners(command.launch.symbol for command in commands if command.launch is not None)))
    words = f"{'HIP' if is_hip else 'CUDA'} debug dot{', verbose' if is_verbose else ''}"
    return f"{words}; kernels of {' and '.join(owners)}" if owners else words


def _owners(symbols: Iterable[str]) -> Iterable[str]:
    for symbol in set(symbols):
        yield from (name for name, pattern in _LIBRARIES if pattern.search(symbol[:200]))

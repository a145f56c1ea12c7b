"""Weight gradients whose tiles do not fill a device are computed in parts: which, how many, and in which memory."""

from functools import cache

import pytest

from cgraph.graph.model import LaunchNode
from cgraph.pipeline import Compiled, check, compile_checked, parse
from cgraph.source import Source

PROGRAM = """
import "operations.cg"
parameter m : Nat
parameter n : Nat
parameter k : Nat
plane a : half [k, m] input
plane b : half [k, n] input
plane c : f32 [m, n] output
def main = (cgProductWeight m n k c a b)
"""
WHOLE = ["cgImageProductWeight"]
IN_PARTS = ["cgImageProductWeightParts", "cgImageProductWeightSum"]


@cache
def compiled(m: int, n: int, k: int, multiprocessors: int | None) -> Compiled:
    given = {} if multiprocessors is None else {"cgMultiprocessors": multiprocessors}
    return compile_checked(check(parse(Source("weight.cg", PROGRAM))), {"m": m, "n": n, "k": k, **given})


def launches(program: Compiled) -> list[LaunchNode]:
    nodes = [node for node in program.graph.nodes if isinstance(node, LaunchNode)]
    assert len(nodes) == len(program.graph.nodes)
    return nodes


@pytest.mark.parametrize(
    ("m", "n", "k", "multiprocessors", "parts"),
    [
        (1, 1, 65_536, None, 1),
        (1, 1, 65_536, 0, 1),
        (1, 1, 65_536, 1, 1),
        # One tile: as many parts as multiprocessors, or as many as have 256 rows.
        (64, 64, 65_536, 132, 132),
        (1, 1, 65_536, 132, 132),
        (64, 64, 1024, 132, 4),
        (64, 64, 1023, 132, 3),
        (64, 64, 511, 132, 1),
        (64, 64, 1, 132, 1),
        # 16, 18, 131 and 132 tiles for 132 multiprocessors.
        (256, 256, 4096, 132, 9),
        (257, 129, 4096, 132, 9),
        (131 * 64, 64, 4096, 132, 2),
        (132 * 64, 64, 4096, 132, 1),
        # A product with tiles of 128.
        (2048, 1024, 4096, 132, 1),
    ],
)
def test_number_of_parts(m: int, n: int, k: int, multiprocessors: int | None, parts: int) -> None:
    program = compiled(m, n, k, multiprocessors)
    nodes = launches(program)
    assert [node.image.signature.name for node in nodes] == (IN_PARTS if parts > 1 else WHOLE)
    assert nodes[0].grid[2] == parts
    sizes = {plane.name: plane.extent for plane in program.graph.planes}
    if parts > 1:
        assert multiprocessors is not None
        assert sizes["cgProductParts"] == (4096 * multiprocessors,)
        tiles = nodes[0].grid[0] * nodes[0].grid[1]
        assert tiles == -(-m // 64) * -(-n // 64)
        assert multiprocessors <= tiles * parts < multiprocessors + tiles or k // 256 == parts
    else:
        assert "cgProductParts" not in sizes


def test_all_weights_share_the_memory_of_the_parts() -> None:
    twice = "plane d : f32 [m, n] output\ndef main = (cgThen (cgProductWeight m n k d a b)"
    source = Source("weights.cg", PROGRAM.replace("def main =", twice) + ")")
    program = compile_checked(check(parse(source)), {"m": 65, "n": 3, "k": 600, "cgMultiprocessors": 8})
    assert [node.image.signature.name for node in launches(program)] == IN_PARTS * 2
    assert program.plan.size_bytes == 4096 * 8 * 4

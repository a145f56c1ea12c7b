"""An imported graph in a file, in processes of its own: other addresses, no compiler, the command line."""

import ctypes as c
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, kernel_params, upload

from cgraph.capture import from_cuda_graph, save_bundle
from tests.support.driver_kernels import MODULE
from tests.support.emulated import call

ROOT = Path(__file__).parents[3]
HOST = cu.CUmemorytype.CU_MEMORYTYPE_HOST
# out[i] = in[i] + 7 where in is 0 … 7 from the host, and then the first two become 9.
EXPECTED = [9, 9, *range(9, 15)]

REPLAY = """
import sys
sys.modules["cuda.bindings.nvrtc"] = None
from cuda.bindings import driver as cu
from cgraph.backends.cuda.emulated import connect_emulated
from cgraph.capture import Replay
connect_emulated()
cu.cuInit(0)
context = cu.cuCtxCreate(None, 0, 0)[1]
before = [int(cu.cuMemAlloc(100 << 20)[1]), int(cu.cuMemAlloc(12)[1])]
with Replay({path!r}, "emulated") as replay:
    addresses = replay._executable.owned.memory.addresses
    for _ in range({times}):
        replay.run()
        assert replay.get("out").view("<i4").tolist() == {expected}, replay.get("out")
    print(*addresses)
"""


@pytest.fixture
def saved(graph: Any, module: Any, tmp_path: Path) -> Path:
    # Addresses behind it have digits that no other number of the file has by chance.
    upload(np.zeros(0x1234567, np.uint8))
    held, source, out = np.arange(8, dtype=np.int32), upload(np.zeros(8, np.int32)), upload(np.zeros(8, np.int32))
    copied = copy_params(source, 0, 32)
    copied.srcMemoryType, copied.srcHost = HOST, held.ctypes.data
    first = call(cu.cuGraphAddMemcpyNode, graph, [], 0, copied, None)
    types = (c.c_void_p, c.c_int, c.c_uint8, c.c_void_p)
    params = kernel_params(function(module, "addTo"), 2, 4, (out, 8, 7, source), types)
    second = call(cu.cuGraphAddKernelNode, graph, [first], 1, params)
    call(cu.cuGraphAddMemsetNode, graph, [second], 1, fill_params(out, 9, 2), None)
    imported = from_cuda_graph(graph, code=[MODULE], names={source: "in", out: "out"})
    save_bundle(imported, tmp_path / "imported.cgb")
    data = (tmp_path / "imported.cgb").read_bytes()
    for address in (source, out, held.ctypes.data):
        assert address.to_bytes(8, "little") not in data
        assert str(address).encode() not in data
        assert address.to_bytes(8, "little").hex().encode() not in data
    (tmp_path / "addresses").write_text(f"{source} {out}")
    return tmp_path / "imported.cgb"


def start(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_fresh_process_with_other_addresses(saved: Path) -> None:
    done = start("-c", REPLAY.format(path=str(saved), times=100, expected=EXPECTED))
    assert done.returncode == 0, done.stderr
    before = set((saved.parent / "addresses").read_text().split())
    assert not before & set(done.stdout.split())


def test_the_command_line(saved: Path) -> None:
    cgraph = ("-m", "cgraph.cli.main")
    done = start(*cgraph, "inspect", str(saved), "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["commands"] == {"memcpy": 1, "kernel": 1, "memset": 1}
    assert facts["contents"] == {"host allocation 0 (32 bytes)": 32}
    out = saved.parent / "out.safetensors"
    done = start(*cgraph, "replay", str(saved), "--device", "emulated", "--out", str(out), "--times", "2")
    assert done.returncode == 0, done.stderr
    assert np.frombuffer(out.read_bytes(), np.uint8).tobytes().count(np.array(EXPECTED, np.int32).tobytes()) == 1
    done = start(*cgraph, "replay", str(saved))
    assert done.returncode != 0
    assert "CG861" in done.stderr
    assert start(*cgraph, "diff", str(saved), str(saved)).returncode == 0

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cgraph.cli.main import main
from tests.support.kernel_files import SCALE_CG, SCALE_CU, write_files


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGRAPH_CACHE", str(tmp_path / "cache"))


# Keeps more values alive than a thread may have registers.
HUNGRY = """\
extern "C" __global__ void __launch_bounds__(1024) scale(float* out, const float* source, float factor, int n) {
    float kept[150];
#pragma unroll
    for (int i = 0; i < 150; ++i) kept[i] = source[i * n];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 150; ++i) out[i * n] = kept[i] * factor;
}
"""


def test_facts_of_a_program_as_text_and_json(tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cg": SCALE_CG, "scale.cu": SCALE_CU})
    program = str(tmp_path / "scale.cg")
    result = CliRunner().invoke(main, ["kernels", program, "--arch", "sm_80", "--arch", "sm_90", "--strict"])
    assert result.exit_code == 0, result.output
    assert "1 kernels, sm_90, half = f16" in result.stdout
    result = CliRunner().invoke(main, ["kernels", program, "--half", "bf16", "--set", "length=5", "--json"])
    (fact,) = json.loads(result.stdout)
    assert fact["entry"] == "scale"
    assert fact["constants"] == {"LENGTH": 5}
    assert fact["architecture"] == "sm_80"
    assert fact["half"] == "bf16"
    # 64 threads with few registers: 32 blocks, as many as there may be, are 64 warps.
    assert (fact["block_threads"], fact["blocks_per_multiprocessor"], fact["occupancy"]) == (64, 32, 1.0)
    assert (fact["spill_store_bytes"], fact["spill_load_bytes"], fact["dynamic_shared_bytes"]) == (0, 0, 0)


def test_spills_fail_only_when_asked_to(tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cg": SCALE_CG, "scale.cu": HUNGRY})
    program = str(tmp_path / "scale.cg")
    result = CliRunner().invoke(main, ["kernels", program])
    assert result.exit_code == 0
    assert "1 of 1 kernels spill registers" in result.stdout
    assert CliRunner().invoke(main, ["kernels", program, "--strict"]).exit_code == 1


def test_errors_are_problems(tmp_path: Path) -> None:
    write_files(tmp_path, {"scale.cg": SCALE_CG, "scale.cu": "nonsense"})
    result = CliRunner().invoke(main, ["kernels", str(tmp_path / "scale.cg")])
    assert result.exit_code == 1
    assert "error[CG735]" in result.stderr
    result = CliRunner().invoke(main, ["kernels", str(tmp_path / "nowhere.cg")])
    assert result.exit_code == 2
    result = CliRunner().invoke(main, ["kernels", str(tmp_path / "scale.cg"), "--arch", "sm_1"])
    assert result.exit_code == 1
    assert "error[CG734]" in result.stderr

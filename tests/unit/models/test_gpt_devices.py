"""gpt_backward and bert_backward for a device that is not there: one error, and the next call on the host works."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings")

# In a process of its own: in this one an emulated driver may answer for the device.
CALL = """
from cgraph.diagnostics import ProblemsFound
from cgraph.models.backward import bert_backward, gpt_backward
from cgraph.models.config import GptConfig
from cgraph.models.gpt import random_gpt

config = GptConfig(vocab=7, context=4, width=4, heads=2, layers=1, ffn=3)
gpt = random_gpt(config, 0)
for device in ("cuda", "cuda:63"):
    for backward, more in ((gpt_backward, ()), (bert_backward, ([True, True],))):
        try:
            backward(config, gpt, [1, 2], [2, 3], *more, half="HALF", device=device)
            print("ran")
        except ProblemsFound as stopped:
            print(*(f"{problem.code}: {problem.render_title()}" for problem in stopped.problems), sep="; ")
        loss, _ = backward(config, gpt, [1, 2], [2, 3], *more)
        assert loss > 0
"""


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_a_device_that_is_not_there_is_one_error(half: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALL.replace("HALF", half)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0] == lines[1]
    assert lines[2] == lines[3]
    if lines[0] != "ran":
        missing = "CG741: there is no device cuda:0; the driver knows 0"
        assert lines[0] in ("CG740: there is no CUDA driver on this machine", missing)
    assert lines[2] == lines[0] or lines[2].startswith("CG741: there is no device cuda:63; the driver knows ")

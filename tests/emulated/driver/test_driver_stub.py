"""The library that stands for libcuda.so.1: how it is built, and what it answers where nothing is emulated."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cuda.bindings import driver as cu

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.driver.hardware import Hardware
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import entries, install
from cgraph.emulator.driver.stub import build_stub
from tests.support.emulated import INSTALLATION, call, fails

ROOT = Path(__file__).parents[3]


def test_it_is_built_once(tmp_path: Path) -> None:
    library = build_stub(tmp_path)
    assert library.name == "libcuda.so.1"
    written = library.stat().st_mtime_ns
    assert build_stub(tmp_path) == library
    assert library.stat().st_mtime_ns == written
    assert [path.name for path in library.parent.iterdir()] == ["libcuda.so.1"]


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "my-own-cc -O2")
    with pytest.raises(ProblemsFound, match="CG745") as stopped:
        build_stub(tmp_path / "cache")
    assert list(stopped.value.problems[0].notes()) == ["not found: my-own-cc, cc, gcc, clang"]


def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'no room for this' >&2\nexit 3\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(ProblemsFound, match="CG746") as stopped:
        build_stub(tmp_path / "cache")
    assert list(stopped.value.problems[0].notes()) == ["no room for this"]
    monkeypatch.delenv("CC")
    assert build_stub(tmp_path / "cache").is_file()


def test_no_entry_point_is_there_twice() -> None:
    keys = [(entry.name, entry.version) for entry in entries()]
    assert len(keys) == len(set(keys))


def test_what_is_not_emulated_says_so() -> None:
    call(cu.cuInit, 0)
    assert fails(cu.cuMulticastCreate, cu.CUmulticastObjectProp()) == "NOT_SUPPORTED"
    assert ("cuMulticastCreate", 12010) in INSTALLATION.asked


def test_null_pointers_are_an_error_code() -> None:
    library, entry = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    find = library.cuGetProcAddress_v2
    assert find(b"cuDeviceGetCount", ctypes.byref(entry), 2000, ctypes.c_uint64(0), None) == 0
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(entry.value)(None) == 1
    assert find(None, ctypes.byref(entry), 2000, ctypes.c_uint64(0), None) == 1
    assert find(b"cuInit", None, 2000, ctypes.c_uint64(0), None) == 1


def test_an_error_in_the_emulator_never_crosses_into_c(monkeypatch: pytest.MonkeyPatch) -> None:
    call(cu.cuInit, 0)
    driver = INSTALLATION.driver

    class Broken:
        """A device whose memory cannot be asked for."""

        @property
        def total_bytes(self) -> int:
            raise RuntimeError("a defect")

    monkeypatch.setattr(driver, "hardware", Broken())
    assert fails(cu.cuDeviceTotalMem, 0) == "UNKNOWN"
    monkeypatch.undo()
    (problem,) = INSTALLATION.take_problems()
    assert problem.code == "CG749"
    assert "cuDeviceTotalMem" in problem.render_title()
    assert "RuntimeError: a defect" in problem.notes()[-1]


def test_there_is_one_for_a_process() -> None:
    other: Hardware = MachineHardware()
    assert install(other) is INSTALLATION
    assert INSTALLATION.driver.hardware is not other


def test_names_and_texts_of_results() -> None:
    """Against those that cuda.bindings itself keeps for each result."""
    for result in cu.CUresult:
        answer, name = cu.cuGetErrorName(result)
        if answer == cu.CUresult.CUDA_SUCCESS:
            assert name.decode() == result.name
            assert call(cu.cuGetErrorString, result)
        else:
            assert answer == cu.CUresult.CUDA_ERROR_INVALID_VALUE


PROBE = """
from cuda.bindings import driver as cu
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import install
{before}
installation = install(MachineHardware())
print(cu.cuCtxSynchronize()[0].name, cu.cuCtxGetCurrent()[0].name, cu.cuInit(1)[0].name)
print(cu.cuInit(0)[0].name, cu.cuDeviceGet(1)[0].name, cu.cuMemAlloc(4)[0].name)
"""


def run_alone(text: str, **variables: str) -> Any:
    return subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_before_and_after_initialization() -> None:
    done = run_alone(PROBE.format(before=""))
    assert done.stdout.split() == [
        *("CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_INVALID_VALUE"),
        *("CUDA_SUCCESS", "CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_INVALID_CONTEXT"),
    ], done.stderr


def test_a_process_that_has_a_driver_already(tmp_path: Path) -> None:
    library = build_stub(tmp_path)
    done = run_alone(PROBE.format(before=f"import ctypes; ctypes.CDLL({str(library)!r})"))
    assert "CG747" in done.stderr

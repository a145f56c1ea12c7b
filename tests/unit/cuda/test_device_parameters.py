"""The parameter that a device decides: its number of multiprocessors."""

import pytest

pytest.importorskip("cuda.bindings")

from cgraph.backends.devices import HOST, MULTIPROCESSORS, Device, DeviceKind, device_parameters
from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.driver import entries_device
from cgraph.pipeline import check, parse
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from tests.support.emulated import INSTALLATION

CUDA = Device(DeviceKind.CUDA)
KNOWN = ("cgSeq", MULTIPROCESSORS)


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert INSTALLATION is not None
    monkeypatch.setitem(entries_device.ATTRIBUTES, 16, 132)


def test_a_gpu_says_how_many_it_has() -> None:
    assert device_parameters(KNOWN, {"cgSeq": 7}, CUDA) == {"cgSeq": 7, MULTIPROCESSORS: 132}


def test_what_is_given_stands() -> None:
    assert device_parameters(KNOWN, {MULTIPROCESSORS: 3}, CUDA) == {MULTIPROCESSORS: 3}


def test_a_program_without_the_parameter() -> None:
    assert device_parameters(("cgSeq",), {}, CUDA) == {}


@pytest.mark.parametrize("device", [HOST, Device(DeviceKind.EMULATED)])
def test_devices_that_run_one_block_after_the_other(device: Device) -> None:
    assert device_parameters(KNOWN, {"cgSeq": 7}, device) == {"cgSeq": 7}


def test_no_such_device() -> None:
    with pytest.raises(ProblemsFound, match="CG741"):
        device_parameters(KNOWN, {}, Device(DeviceKind.CUDA, 9))


@pytest.mark.parametrize("name", ["layer_backward", "gpt", "bert"])
def test_the_programs_know_it(name: str) -> None:
    program, _warnings = check(parse(load_source(programs_directory() / f"{name}.cg")))
    assert MULTIPROCESSORS in program.parameters

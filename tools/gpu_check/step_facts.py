"""What device, driver and software this is, as the driver says it."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cuda.bindings import driver as cu
from rows import Row, Status
from session import Session

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.context import DeviceContext, open_context
from cgraph.backends.cuda.nvrtc import nvrtc_version
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import install

ATTRIBUTES = {
    "multiprocessors": "MULTIPROCESSOR_COUNT",
    "clock_khz": "CLOCK_RATE",
    "memory_clock_khz": "MEMORY_CLOCK_RATE",
    "memory_bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2_bytes": "L2_CACHE_SIZE",
    "shared_bytes_a_block": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "ecc": "ECC_ENABLED",
}
PACKAGES = ("cgraph-lang", "cuda-python", "nvidia-cuda-nvrtc", "numpy", "torch")
SMI_FIELDS = ("driver_version", "power.limit", "clocks.max.sm", "clocks.max.mem", "temperature.gpu", "mig.mode.current")
SMI_LIMIT_S = 10
# Operations of f16 products with f32 sums that a multiprocessor's tensor cores do in one clock. Source: NVIDIA's
# architecture whitepapers; of those cards of 8.6, 8.9 and 12.0 that are sold for games, half.
TENSOR_OPERATIONS = {(8, 0): 2048, (8, 6): 1024, (8, 9): 1024, (9, 0): 4096, (10, 0): 8192, (12, 0): 1024}


@contextmanager
def open_device(session: Session) -> Iterator[DeviceContext]:
    """The device's context, current."""
    if session.emulated:
        install(MachineHardware())
    context = open_context(session.device.number, Calls())
    try:
        with context.current():
            yield context
    finally:
        context.close()


def architecture_of(session: Session) -> str:
    """As the compiler names it, e.g. `sm_90`."""
    with open_device(session) as context:
        return context.architecture


def device_numbers(session: Session) -> dict[str, Any]:
    """The driver's facts; what a device does not tell is left out."""
    with open_device(session) as context:
        numbers: dict[str, Any] = {
            "name": context.call(cu.cuDeviceGetName, 128, context.device).split(b"\0")[0].decode(),
            "capability": ".".join(map(str, context.capability)),
            "memory_bytes": context.call(cu.cuDeviceTotalMem, context.device),
            "driver_cuda": context.call(cu.cuDriverGetVersion),
        }
        for name, attribute in ATTRIBUTES.items():
            result, value = cu.cuDeviceGetAttribute(
                getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}"), context.device
            )
            if result == cu.CUresult.CUDA_SUCCESS:
                numbers[name] = value
        operations = TENSOR_OPERATIONS.get(context.capability)
        if operations is not None and numbers.get("clock_khz") and numbers.get("multiprocessors"):
            numbers["tensor_tflops"] = operations * numbers["multiprocessors"] * numbers["clock_khz"] / 1e9
    return numbers


def check_facts(session: Session) -> Iterator[Row]:
    """A row for the device, the driver and the software."""
    numbers = device_numbers(session)
    words = f"{numbers['name']}, compute capability {numbers['capability']}, {numbers['memory_bytes'] / 2**30:.1f} GiB"
    yield Row("device", Status.NOTE, words, numbers)
    yield Row("nvidia-smi", Status.NOTE, _smi(session))
    versions = {name: _version(name) for name in PACKAGES}
    versions |= {"nvrtc": nvrtc_version().number, "python": platform.python_version()}
    yield Row("software", Status.NOTE, ", ".join(f"{name} {number}" for name, number in versions.items()), versions)
    yield Row("host", Status.NOTE, f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}")


def _smi(session: Session) -> str:
    path = shutil.which("nvidia-smi")
    if path is None or session.emulated:
        return "not asked"
    command = [path, f"--id={session.device.number}", f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SMI_LIMIT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ", ".join(
        f"{name} {value.strip()}" for name, value in zip(SMI_FIELDS, answer.stdout.split(","), strict=False)
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "–"

"""The emulated device of this process, as executables see it: what it found, and names for its memory."""

from collections.abc import Callable

from attrs import frozen

from cgraph.backends.cuda.watching import Watch
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import install


@frozen(eq=False)
class EmulatedDevice:
    """The device's reports, and `label`, which names the allocation that begins at an address."""

    watch: Watch
    label: Callable[[int, str], None]


def connect_emulated() -> EmulatedDevice:
    """Puts the emulated driver in place, if it is not yet. Raises ProblemsFound (CG745 to CG747)."""
    installation = install(MachineHardware())
    # What an earlier program left behind is none of this one's.
    installation.take_problems()
    hardware = installation.driver.hardware
    watch = Watch(installation.take_problems, lambda: hardware.found, installation.take_culprits)
    return EmulatedDevice(watch, hardware.memory.label)

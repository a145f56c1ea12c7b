"""The machine: memory, and functions executed over grids of threads."""

from cgraph.emulator.machine.launch import LaunchStatistics, launch
from cgraph.emulator.machine.memory import Allocation, DeviceMemory
from cgraph.emulator.machine.variables import place_variables

__all__ = ["Allocation", "DeviceMemory", "LaunchStatistics", "launch", "place_variables"]

"""Puts a module's variables into device memory.

Receives a module and the memory; guarantees that every `.global` and `.const` variable has an address and its initial
bytes. Shared and local variables are placed by the function that uses them.
"""

from cgraph.emulator.machine.memory import DeviceMemory
from cgraph.emulator.ptx.model import Module


def place_variables(module: Module, memory: DeviceMemory) -> dict[str, int]:
    """Allocates and fills the module's variables; those without initial bytes are zero, as CUDA has it.

    Returns:
        The address of each variable by name: what `launch` takes as `symbols` and the driver gives for a global.
    """
    placed = [variable for variable in module.variables.values() if variable.space in {"global", "const"}]
    symbols = {variable.name: memory.allocate(max(variable.size_bytes or 0, 1), variable.name) for variable in placed}
    for variable in placed:
        data = bytearray(variable.data or bytes(variable.size_bytes or 1))
        for offset, name, addend in variable.references:
            data[offset : offset + 8] = ((symbols[name] + addend) % (1 << 64)).to_bytes(8, "little")
        memory.write(symbols[variable.name], data)
    return symbols

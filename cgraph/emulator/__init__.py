"""An emulated GPU: reads PTX, executes it with one NumPy lane a thread, and checks every access.

Receives PTX as NVRTC writes it; guarantees the meaning that the PTX ISA states, and a problem for all that it does not
know. How a program reaches it (driver calls, streams, graphs) is left to the emulated driver.
"""

"""A program executed on the emulator's machine, command by command, with every check on."""

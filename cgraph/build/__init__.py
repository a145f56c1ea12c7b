"""The builder: a checked program and concrete sizes become a command graph."""

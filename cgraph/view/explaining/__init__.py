"""What stands at a line of a program, and what became of it: commands, planes, phases, images, definitions."""

from cgraph.view.explaining.answers import explain_line
from cgraph.view.explaining.model import Table, Topic

__all__ = ["Table", "Topic", "explain_line"]

"""What is wrong with a launch though a device would carry on: races, reads of what nothing wrote, partial barriers."""

from cgraph.emulator.sanitizer.collection import Sanitizer

__all__ = ["Sanitizer"]

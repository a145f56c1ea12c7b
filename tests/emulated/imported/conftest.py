"""Fixtures of the tests of imports: those of the driver's tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "driver"))

from driver_fixtures import context, graph, module, stream  # noqa: F401  (pytest finds them here)

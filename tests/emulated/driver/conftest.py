"""Fixtures of the driver's tests."""

from driver_fixtures import context, graph, module, stream  # noqa: F401  (pytest finds them here)

"""Backends: where a scheduled and planned graph runs."""

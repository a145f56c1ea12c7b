"""Diagnostics: what a user error is, and how it is printed."""

from cgraph.diagnostics.problem import Fix, Label, Problem, ProblemsFound, Severity

__all__ = ["Fix", "Label", "Problem", "ProblemsFound", "Severity"]

"""Dumps of other tools as views: what CUDA, HIP and tools around them write about their graphs, in DOT."""

from cgraph.view.dumps.reading import Reading, examine_dump, read_dump

__all__ = ["Reading", "examine_dump", "read_dump"]

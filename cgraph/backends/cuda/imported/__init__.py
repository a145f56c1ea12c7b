"""Graphs that others made: read from a live CUDA graph, and run again from what was read."""

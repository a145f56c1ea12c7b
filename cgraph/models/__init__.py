"""Whole programs and their surroundings: pairs of forward and backward, values of planes, comparisons."""

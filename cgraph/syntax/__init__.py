"""Syntax: text to tree and back."""

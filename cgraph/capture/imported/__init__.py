"""Imported graphs in bundles."""

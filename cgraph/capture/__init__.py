"""Bundles: a graph in one file, saved, loaded, compared and replayed without its program or a compiler."""

"""The checker: names, types, extents, usage quantities, slots, termination."""

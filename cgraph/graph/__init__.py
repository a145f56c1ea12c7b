"""The command graph: nodes, accesses, hazards, the rules that a built graph obeys, and its text forms."""

"""Pictures of graphs: one model for programs, bundles and other tools' dumps, and what writes it to files."""

"""Memory plans: scratch planes that may share bytes do."""

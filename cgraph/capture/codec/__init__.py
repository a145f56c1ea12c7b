"""The values of a bundle as plain data for its manifest, and back, every field checked."""

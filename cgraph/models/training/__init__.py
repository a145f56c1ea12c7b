"""Training on a text with a program that has the entries of `contract`: data, first weights, the loop, checkpoints."""

"""The oracle: every operation of a transformer layer and its gradient, in float64 NumPy, written to be read.

Imports nothing else of cgraph, so that no mistake can be shared with what it judges. It is slow and keeps every plane;
it is itself proven by finite differences and by PyTorch's autograd.
"""

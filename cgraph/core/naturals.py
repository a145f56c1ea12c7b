"""Natural numbers that may contain symbols, in normal form.

A `Natural` is a plain int, or a `Polynomial` with integer coefficients over atoms. Atoms are parameters, variables
(perhaps with a known upper bound), slots of a signature, and opaque operations (difference that stops at 0, division,
modulo, minimum, maximum) over naturals; equal operations of equal arguments are the same atom. A polynomial without
atoms is always an int, so concrete builds compute with ints alone.
"""

"""Derivatives of programs and of their inverses.

implicit: an inverse called with active numbers. calls_of_inverses: calls of inverses in functions
that are inverted. jacobian: the Jacobian of a program, and its
determinant. array_derivatives: derivatives of statements about arrays, as sparse matrices.
"""

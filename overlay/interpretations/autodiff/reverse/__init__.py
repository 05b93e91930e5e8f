"""Reverse-mode derivatives: the adjoint of a program, as Python source generated from its
statements."""

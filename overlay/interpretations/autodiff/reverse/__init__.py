"""Reverse derivatives: the adjoint of a program, as Python source made from its statements."""

"""Derivatives of programs and of their inverses."""

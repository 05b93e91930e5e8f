"""Contexts, and the stack of them that is in force."""

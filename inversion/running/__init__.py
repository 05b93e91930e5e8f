"""Inverses that run: on one result, on rows of them, and in other processes."""

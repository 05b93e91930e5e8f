"""The Python engine: ordinary code, written by anyone, under a context."""

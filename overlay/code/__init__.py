"""The reader of Python code: instructions in words that are the same on every version."""

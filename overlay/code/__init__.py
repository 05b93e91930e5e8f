"""The reader of Python code: instructions in words that are the same on every version, and what
is known of the values that they work on."""

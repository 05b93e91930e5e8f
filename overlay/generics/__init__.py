"""Generic functions: ours, and plum's."""

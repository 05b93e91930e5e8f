"""Relations of the mathematical integers, and of numpy's words."""

"""Relations of floats."""

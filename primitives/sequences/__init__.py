"""Relations of strings and lists."""

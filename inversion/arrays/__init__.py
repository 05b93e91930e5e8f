"""Arrays as variables of a program: elementwise parts, moved elements, linear systems."""

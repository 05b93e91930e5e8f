"""Relations of whole expressions, solvable once the uses of a variable are collected."""

"""Relations of whole forms: what is determined when the uses of a variable are collected."""

"""From a function to a program: its code is gone through, its calls are resolved."""

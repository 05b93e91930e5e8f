"""Functions that generated code calls: checks of numbers and arrays, and the search for roots."""

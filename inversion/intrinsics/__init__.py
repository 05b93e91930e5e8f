"""Functions that generated code calls, compiled once for all inverses.

checks: tests of numbers and arrays, and why a way was refused. roots: the search for a root.
"""

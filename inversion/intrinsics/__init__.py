"""Functions that generated code calls, compiled once for all inverses.

checks: tests of numbers and arrays, and the reasons why solutions were refused. roots: root finding
in one unknown. simultaneous_roots: root finding in several unknowns.
"""

"""Functions that generated code calls, compiled once for all inverses.

checks: tests of numbers and arrays, and the reasons why solutions were refused. roots: the search
for a root. simultaneous_roots: that for the roots of several equations at once.
"""

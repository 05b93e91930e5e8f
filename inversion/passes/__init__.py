"""Rewritings of programs, before they are planned.

all_passes: all of them, in the order in which they run. simplifying: what any program goes
through. integer_forms: digits, congruences and systems of integers. grouping: statements that are
solved together, as branches, chains and polar coordinates are. array_fusion: statements about
whole arrays.
"""

"""Passes that rewrite programs before they are planned.

all_passes: all of them, in the order in which they run. simplifying: simplifications.
integer_forms: digits, congruences and systems of integers. bit_forms: sums of bits. grouping:
statements that are solved together: branches with statements that only they need, chains, polar
coordinates, elements of arrays, linear systems. array_elements: small arrays as numbers, if no plan
is found otherwise.
"""

"""All solutions, the nearest one, and one where no choices are given.

solutions: the solutions, branch by branch. branch_search: a plan walked through; search_state:
what is chosen so far; candidates: what a choice may be; equations: one statement solved;
isolation: all roots of one; search_slopes: sets of derivatives; starting: the first state.
asking: one solution, by all means; argument_search, boxes, even_points: arguments looked for;
finite: gone through. nearest: the closest one. constraints: contract, pave and solve.
negative_powers, unproved: what has no proof.
"""

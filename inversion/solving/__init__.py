"""Searches: all solutions, the nearest one, and one for which no θ is given.

solutions: the solutions, branch by branch. branch_search: traversal of a plan; search_state: the
choices so far; candidates: values of a choice; equations: single statements; isolation: all roots
of an equation; system_roots: the roots of several equations; search_slopes: sets of derivatives;
starting: the initial state. asking: one solution, by all methods; argument_search, boxes, trials,
even_points: search for arguments; finite: enumeration. least_squares: fits. nearest: the closest
solution. constraints: contract, pave and solve. smt: functions that z3 solves; smt_programs: their
formulas; smt_relations: the table of translations; smt_values: values as terms. negative_powers,
unproved: cases without proof.
"""

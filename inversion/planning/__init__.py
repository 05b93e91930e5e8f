"""The plan of an inverse: its free choices, and the order in which statements are solved.

plan: the plan as data. planner: makes the plan. algebra: collects the uses of a variable; joins:
the statements at which the uses of a variable meet; tearing: guesses one unknown where algebra
fails. loop_modes, statement_modes: solve statements that contain statements. parameters: the free
choices; repeated: those with a value for each iteration. tightening: narrows their domains.
"""

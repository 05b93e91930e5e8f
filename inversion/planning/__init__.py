"""The plan of an inverse: its free choices, and the order in which statements are solved.

plan: the plan as data. planner: makes it. algebra: collects repeated variables; joins: where the
uses of a variable meet; tearing: guesses one unknown where algebra does not help. loop_modes,
statement_modes: solve statements that contain statements. parameters: the free choices; repeated:
those with a value for each iteration. tightening: shrinks their domains.
"""

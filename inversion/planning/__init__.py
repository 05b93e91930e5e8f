"""The plan of an inverse: what is chosen, and what is solved after what.

plan: the plan as data. planner: makes it. algebra: collects what is used several times; joins:
where its uses meet; tearing: guesses one unknown where algebra does not help. loop_modes,
statement_modes: how statements are solved that have statements inside. parameters: the choices
that are left; repeated: those made anew in each turn. tightening: keeps them to where they can
be.
"""

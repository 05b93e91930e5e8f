"""Programs: statements that relate variables, branches and loops among them.

statements: variables, statements, programs. structured: statements with others inside: branches,
loops, elementwise_statements, moved_elements, linear_systems. trees: tuples and records in and
out. causality: the order of solving; loop_blocks: what has to be solved together. variable_names:
what choices are called. limits: what is refused of arrays and strings. shown: text and drawings.
"""

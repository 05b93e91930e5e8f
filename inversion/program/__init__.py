"""Programs: statements that relate variables, including branches and loops.

statements: variables, statements, programs. structured: statements with others inside: branches,
loops, elementwise_statements, moved_elements, equation_systems. trees: tuples and records as
arguments and results. causality: the order of solving; loop_blocks: statements that have to be
solved together. variable_names: names of parameters. limits: operations refused for arrays and
strings. shown: text and drawings. late_parts: what programs ask of the parts above them.
"""

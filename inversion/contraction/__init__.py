"""Interval contraction: constraint propagation backwards through programs, which excludes values
before a search.

variable_sets: initial sets of variables. contractor: the sets of one function;
contracted_arithmetic, _bits, _functions, _ordering: the contractors, by family; contractors: the
contractor of each relation. contracted_programs: sets through programs; contracted_loops: through
loops. contracted_slopes: sets of derivatives. branch_ranges: the branches of a function on which
its argument may lie.

``contracted_bits``: contractors of shifts and bitwise operations: masks cut numbers into blocks,
shifts scale.
``contracted_functions``: contractors of functions of floats: those of the catalogue, angles,
rounding.
``contracted_ordering``: contractors of comparisons, choices and truth values.
``contracted_tables``: contractors of finite tables, by enumeration of the keys.
"""

"""Interval contraction backwards through programs: what cannot be is known before it is tried.

variable_sets: the sets that variables lie in at first. contractor: how one function relates sets;
contracted_arithmetic, _bits, _functions, _ordering: the contractors, by family; contractors: which
relation has which.
contracted_programs: sets through programs; contracted_loops: through loops. contracted_slopes:
sets of derivatives. branch_ranges: which branches of a function an argument may be on.
"""

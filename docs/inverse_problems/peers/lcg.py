"""Linear congruential generators: by others."""


def by_sympy(p):
    import sympy as sp

    return [(int((1 - int(p["C"])) * sp.mod_inverse(int(p["A"]), 2**64) % 2**64),)]


def by_z3(p):
    import z3

    state = z3.BitVec("state", 64)
    solver = z3.Solver()
    solver.add(state * int(p["A"]) + int(p["C"]) == 1)
    assert solver.check() == z3.sat
    return [(solver.model()[state].as_long(),)]

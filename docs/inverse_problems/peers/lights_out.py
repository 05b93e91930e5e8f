"""Lights out: by others."""


def by_z3(p):
    import z3

    pressed = z3.BitVec("pressed", 16)
    solver = z3.Solver()
    solver.add(p["lamps"](pressed) == 511, z3.ULE(pressed, 511))
    found = []
    while solver.check() == z3.sat:
        found.append((solver.model()[pressed].as_long(),))
        solver.add(pressed != found[-1][0])
    return found

"""Gray code: by others."""


def by_z3(p):
    import z3

    n = z3.BitVec("n", 32)
    solver = z3.Solver()
    solver.add(p["gray"](n) == 0b1011_0010, n >= 0)
    assert solver.check() == z3.sat
    return [(solver.model()[n].as_long(),)]

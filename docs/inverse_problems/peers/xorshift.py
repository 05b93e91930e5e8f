"""Xorshift: by others."""


def by_z3(p):
    import z3

    seed = x = z3.BitVec("x", 64)
    x ^= x << 13
    x ^= z3.LShR(x, 7)
    x ^= x << 17
    solver = z3.Solver()
    solver.add(x == 8748534153485358512)
    assert solver.check() == z3.sat
    return [(solver.model()[seed].as_long(),)]

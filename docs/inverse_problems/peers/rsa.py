"""RSA: by others."""


def by_sympy(p):
    import sympy as sp

    private = sp.mod_inverse(17, sp.totient(3233))
    return [(pow(2790, int(private), 3233),)]


def by_z3(p):
    import z3

    m = z3.Int("m")
    solver = z3.Solver()
    solver.add(p["enciphered"](m) == 2790, m >= 0, m <= 3232)
    assert solver.check() == z3.sat
    return [(solver.model()[m].as_long(),)]

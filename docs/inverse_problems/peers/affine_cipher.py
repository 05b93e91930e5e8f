"""Affine cipher: by others."""


def by_sympy(p):
    import sympy as sp

    a = (17 - 3) * sp.mod_inverse(4 - 19, 26) % 26
    return [(int(a), int((17 - 4 * a) % 26))]


def by_z3(p):
    import z3

    a, b = z3.Ints("a b")
    first, second = p["two_letters"](a, b)
    solver = z3.Solver()
    solver.add(first == 17, second == 3, a >= 0, a < 26, b >= 0, b < 26)
    found = []
    while solver.check() == z3.sat:
        found.append(tuple(solver.model()[each].as_long() for each in (a, b)))
        solver.add(z3.Or(a != found[-1][0], b != found[-1][1]))
    return found

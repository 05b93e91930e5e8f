"""Hill cipher: by others."""


def by_sympy(p):
    import sympy as sp

    key = sp.Matrix([[11, 8], [3, 7]])
    return [tuple(int(v) % 26 for v in key.inv_mod(26) * sp.Matrix([5, 16]))]


def by_z3(p):
    import z3

    x, y = z3.Ints("x y")
    first, second = p["enciphered"](x, y)
    solver = z3.Solver()
    solver.add(first == 5, second == 16, x >= 0, x < 26, y >= 0, y < 26)
    assert solver.check() == z3.sat
    return [tuple(solver.model()[each].as_long() for each in (x, y))]

"""Base64: by others."""


def by_z3(p):
    import z3

    a, b, c = v = z3.BitVecs("a b c", 8)
    n = z3.Concat(a, b, c)
    solver = z3.Solver()
    for place, letter in enumerate("TWFu"):
        low = 18 - 6 * place
        solver.add(z3.Extract(low + 5, low, n) == p["ALPHABET"].index(letter))
    assert solver.check() == z3.sat
    return [tuple(solver.model()[each].as_long() for each in v)]

"""Hamming code: by others."""


def by_z3(p):
    import z3

    a, b, c, d, at = v = z3.BitVecs("a b c d at", 8)
    solver = z3.Solver()
    solver.add(p["received"](a, b, c, d, at) == p["word"], z3.ULE(at, 7))
    solver.add(*(z3.ULE(bit, 1) for bit in v[:4]))
    found = []
    while solver.check() == z3.sat:
        found.append(tuple(solver.model()[each].as_long() for each in v))
        solver.add(z3.Or(*(each != got for each, got in zip(v, found[-1], strict=True))))
    return found

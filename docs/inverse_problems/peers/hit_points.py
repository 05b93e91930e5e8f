"""Games: by others."""


def by_z3(p):
    import z3

    a, b = z3.Ints("individual effort")
    solver = z3.Solver()
    solver.add((216 + a + b) * 50 / 100 + 60 == 175, a >= 0, a <= 31, b >= 0, b <= 63)
    found = []
    while solver.check() == z3.sat:
        found.append(tuple(solver.model()[each].as_long() for each in (a, b)))
        solver.add(z3.Or(a != found[-1][0], b != found[-1][1]))
    return found

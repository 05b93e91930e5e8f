"""Calendars: by others."""


def by_z3(p):
    import z3

    year, month, day = v = z3.Ints("year month day")
    t = z3.If(month < 3, z3.IntVal(-1), z3.IntVal(0))
    days = 1461 * (year + 4800 + t) / 4
    days += 367 * (month - 2 - 12 * t) / 12
    days -= 3 * ((year + 4900 + t) / 100) / 4
    solver = z3.Solver()
    solver.add(days + day - 32075 == 2440423, year >= 1960, year <= 1979)
    solver.add(month >= 1, month <= 12, day >= 1, day <= 31)
    found = []
    while solver.check() == z3.sat:
        found.append(tuple(solver.model()[each].as_long() for each in v))
        solver.add(z3.Or(*(each != got for each, got in zip(v, found[-1], strict=True))))
    return found

"""Calendars: by others."""


def by_z3(p):
    import z3

    month = z3.Int("month")
    m = z3.If(month < 3, month + 12, month)
    y = z3.If(month < 3, z3.IntVal(2025), z3.IntVal(2026))
    solver = z3.Solver()
    solver.add((13 + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400) % 7 == 6)
    solver.add(month >= 1, month <= 12)
    found = []
    while solver.check() == z3.sat:
        found.append((solver.model()[month].as_long(),))
        solver.add(month != found[-1][0])
    return found

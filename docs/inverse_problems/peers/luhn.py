"""Luhn: by others."""


def by_z3(p):
    import z3

    def twice(digit):
        return z3.If(digit > 4, 2 * digit - 9, 2 * digit)

    a, b = z3.Ints("a b")
    total = 0
    for place, digit in enumerate((b, 1, 7, 8, 9, 3, a, 2, 9, 9, 7)):
        total += (
            twice(z3.IntVal(digit) if isinstance(digit, int) else digit) if place % 2 else digit
        )
    solver = z3.Solver()
    solver.add(total % 10 == 0, a >= 0, a <= 9, b >= 0, b <= 9)
    found = []
    while solver.check() == z3.sat:
        found.append(tuple(solver.model()[each].as_long() for each in (a, b)))
        solver.add(z3.Or(a != found[-1][0], b != found[-1][1]))
    return found

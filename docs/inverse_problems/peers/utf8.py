"""UTF-8: by others."""


def by_z3(p):
    import z3

    c = z3.BitVec("c", 32)
    low = 0x80 | c & 0x3F
    arms = (
        (c < 0x80, (c, 0, 0, 0)),
        (c < 0x800, (0xC0 | c >> 6, low, 0, 0)),
        (c < 0x10000, (0xE0 | c >> 12, 0x80 | c >> 6 & 0x3F, low, 0)),
        (c <= 0x10FFFF, (0xF0 | c >> 18, 0x80 | c >> 12 & 0x3F, 0x80 | c >> 6 & 0x3F, low)),
    )
    made = list(arms[-1][1])
    for holds, parts in arms[2::-1]:
        made = [z3.If(holds, a, b) for a, b in zip(parts, made, strict=True)]
    solver = z3.Solver()
    solver.add(c >= 0, c <= 0x10FFFF)
    solver.add(*(a == b for a, b in zip(made, (0xE2, 0x82, 0xAC, 0), strict=True)))
    assert solver.check() == z3.sat
    return [(solver.model()[c].as_long(),)]

"""Random programs of arrays with loops that write to them, as source."""

import linecache
import math

import numpy as np

SIZE = 4


def scaled(x, y):
    """A helper with a branch and an early return."""
    if x > y:
        return 0.5 * x * y
    z = math.cos(x) + y
    return z * 0.7


def smoothed(values):
    """A helper that makes an array."""
    out = np.copy(values)
    for i in range(1, len(values)):
        out[i] = 0.5 * (values[i] + out[i - 1] * out[i])
    return out


class ArrayProgram:
    """A random function of an array and a number, written by a random number generator."""

    def __init__(self, rng):
        self.rng = rng
        self.made = 0
        self.numbers, self.arrays, self.own = ["y", "x[0]"], ["x"], []
        rows = ["    u = np.zeros(4)", "    w = np.copy(x)", "    s = 0.0"]
        self.arrays += ["u", "w"]
        self.own += ["u", "w"]
        self.numbers += ["s"]
        rows += self.block(1, 2, rng.randint(2, 6))
        rows.append(f"    return s + {self.number()} + np.sum(u * u) + np.sum({self.array()})")
        self.source = "\n".join(["def f(x, y):", *rows, ""])

    @property
    def function(self):
        self.file = f"<array program {id(self)}>"
        linecache.cache[self.file] = (1, None, self.source.splitlines(keepends=True), self.file)
        space = {"np": np, "math": math, "scaled": scaled, "smoothed": smoothed}
        exec(compile(self.source, self.file, "exec"), space)
        return space["f"]

    def fresh(self):
        self.made += 1
        return f"v{self.made}"

    def index(self, loops):
        rng = self.rng
        if loops and rng.random() < 0.75:
            name = rng.choice(loops)
            return rng.choice([name, f"{name} - 1", f"(2 * {name} + 1) % {SIZE}"])
        return str(rng.randint(-1, SIZE - 1))

    def number(self, loops=()):
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            return rng.choice(self.numbers)
        if kind < 0.7:
            return f"{rng.choice(self.arrays)}[{self.index(loops)}]"
        return repr(round(rng.uniform(-1, 1), 2))

    def expression(self, loops=()):
        rng = self.rng
        a, b = self.number(loops), self.number(loops)
        forms = (
            "{0} * {1}",
            "{0} + {1}",
            "{0} - {1}",
            "0.5 * {0} * {0} + {1}",
            "math.sin({0}) * {1}",
            "scaled({0}, {1})",
            "{0} / (1.5 + {1} * {1})",
            "max({0}, {1})",
            "({0} if {0} > {1} else 0.3 * {1})",
            "{0} ** 2",
            "abs({0})",
        )
        return rng.choice(forms).format(a, b)

    def array(self):
        rng = self.rng
        a, b = rng.choice(self.arrays), rng.choice(self.arrays)
        forms = (
            "{0} * {1}",
            "np.sin({0})",
            "{0} + {2}",
            "0.3 * {0}[::-1]",
            "smoothed({0})",
            "{0} * {1}[1]",
            "np.where({0} > {2}, {0}, {1})",
            "np.cumsum({0}) * 0.2",
            "np.concatenate(({0}[1:], {1}[:1]))",
            "np.ravel(np.outer({0}, {1})[1])",
        )
        return rng.choice(forms).format(a, b, self.number())

    def statement(self, pad, loops):
        rng, kind = self.rng, self.rng.random()
        if kind < 0.2:
            return f"{pad}s {rng.choice(['+=', '-=', '='])} {self.expression(loops)}"
        if kind < 0.3:
            return f"{pad}s *= 0.5 * {self.number(loops)}"
        if kind < 0.55:
            sign = rng.choice(["=", "+=", "*="])
            return (
                f"{pad}{rng.choice(self.own)}[{self.index(loops)}] {sign} {self.expression(loops)}"
            )
        if kind < 0.65:
            own, other = rng.choice(self.own), rng.choice(self.arrays)
            return f"{pad}{own}[1:3] = {other}[:2] * {self.number(loops)}"
        if kind < 0.75:
            return f"{pad}{rng.choice(self.own)} += {self.array()}"
        if kind < 0.85:
            return f"{pad}s += np.sum({self.array()}) * {self.number(loops)}"
        name = self.fresh()
        row = f"{pad}{name} = {self.expression(loops)}"
        if not loops and len(pad) == 4:
            self.numbers.append(name)
        return row

    def block(self, indent, depth, count, loops=()):
        rng, rows, pad = self.rng, [], "    " * indent
        for _ in range(count):
            kind = rng.random()
            if depth and kind < 0.35:
                name = self.fresh()
                rows.append(
                    f"{pad}for {name} in range({rng.choice(['4', '1, 4', 'len(x)', '3, 0, -1'])}):"
                )
                rows += self.block(indent + 1, depth - 1, rng.randint(1, 3), (*loops, name))
                if rng.random() < 0.25:
                    leave = rng.choice(["break", "continue"])
                    rows.append(
                        f"{pad}    if s > {round(rng.uniform(-1, 2), 1)}:\n{pad}        {leave}"
                    )
                    rows += self.block(indent + 1, 0, 1, (*loops, name))
            elif depth and kind < 0.42:
                name = self.fresh()
                rows.append(f"{pad}{name} = 0")
                rows.append(f"{pad}while {name} < 3 and s < 2:")
                rows += self.block(indent + 1, depth - 1, 1, loops)
                rows.append(f"{pad}    {name} += 1")
            elif depth and kind < 0.55:
                rows.append(f"{pad}if {self.number(loops)} > {self.number(loops)}:")
                rows += self.block(indent + 1, depth - 1, rng.randint(1, 2), loops)
                if rng.random() < 0.5:
                    rows.append(f"{pad}else:")
                    rows += self.block(indent + 1, depth - 1, 1, loops)
                elif not loops and rng.random() < 0.3:
                    rows.append(f"{pad}    return {self.expression()} + np.sum(u)")
            else:
                rows.append(self.statement(pad, loops))
        return rows

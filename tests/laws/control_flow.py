"""Random programs of floats that branch and loop, as source."""

from tests.laws.straight_line import function

UNARY = ("math.exp", "math.sqrt", "math.sin", "math.cos", "-", "abs", "math.floor")


class Program:
    """A random function of floats, as source, written by a random number generator."""

    def __init__(self, rng):
        self.rng = rng
        self.count = rng.randint(1, 3)
        self.made = 0
        names = [f"x{i}" for i in range(self.count)]
        self.results = 1 if rng.random() < 0.6 else 2
        rows, after = self.block(names, 2, 1, rng.randint(1, 5))
        result = ", ".join([after[-1], rng.choice(after)][: self.results])
        self.source = "\n".join([f"def f({', '.join(names)}):", *rows, f"    return {result}", ""])

    @property
    def function(self):
        return function(self.source)

    def fresh(self):
        self.made += 1
        return f"v{self.made}"

    def returned(self, text):
        """The values of an early return: as many as at the end."""
        return ", ".join([text] * self.results)

    def expression(self, names):
        rng, first = self.rng, self.rng.choice(names)
        if rng.random() < 0.25:
            return f"{rng.choice(UNARY)}({first})"
        second = rng.choice(names) if rng.random() < 0.5 else repr(round(rng.uniform(0.5, 3), 2))
        return f"{first} {rng.choice('+-*/' if rng.random() < 0.6 else '+-')} {second}"

    def block(self, names, depth, indent, count):
        rows, names = [], list(names)
        for _ in range(count):
            kind = self.rng.random()
            if depth and kind < 0.3:
                rows += self.branch(names, depth, indent)
            elif depth and kind < 0.55:
                rows += self.loop(names, depth, indent)
            else:
                names.append(self.fresh())
                rows.append(f"{'    ' * indent}{names[-1]} = {self.expression(names[:-1])}")
        return rows, names

    def branch(self, names, depth, indent):
        rng, pad = self.rng, "    " * indent
        other = rng.choice(names) if rng.random() < 0.3 else round(rng.uniform(-2, 2), 1)
        head = f"{pad}if {rng.choice(names)} {rng.choice(['<', '>', '<=', '>='])} {other}:"
        target = rng.choice(names) if rng.random() < 0.5 else self.fresh()
        rows, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 2))
        if rng.random() < 0.12:
            return [head, *rows, f"{pad}    return {self.returned(self.expression(inner))}"]
        rows = [head, *rows, f"{pad}    {target} = {self.expression(inner)}"]
        if target in names and rng.random() < 0.3:
            return rows
        others, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 2))
        rows += [f"{pad}else:", *others, f"{pad}    {target} = {self.expression(inner)}"]
        if target not in names:
            names.append(target)
        return rows

    def loop(self, names, depth, indent):
        rng, pad, target = self.rng, "    " * indent, self.rng.choice(names)
        rows, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 1))
        rows += self.exits(inner, indent + 1) if rng.random() < 0.4 else []
        if rng.random() < 0.6:
            change = self.expression([target] * 3 + inner)
            if rng.random() < 0.3:
                change = rng.choice([f"abs({target}) - 0.5", f"{target} * {target} / 4 + 0.1"])
            last = f"{pad}    {target} = {change}"
            found = [f"{pad}for i in range({rng.choice([3, 20, 25])}):", *rows, last]
            other = [f"{pad}else:", f"{pad}    {target} = {target} + 0.25"]
            return found + (other if rng.random() < 0.2 else [])
        less = "" if rng.random() < 0.5 else " - 0.1"
        factor = round(rng.uniform(1.5, 3), 1)
        last = f"{pad}    {target} = {target} / {factor}{less}"
        endless = any(f" {target} = " in row or "continue" in row for row in rows)
        return [f"{pad}while {target} > 2.0:", *([] if endless else rows), last]

    def exits(self, names, indent):
        """Exits from a loop."""
        rng, pad = self.rng, "    " * indent
        rows = []
        for _ in range(rng.randint(1, 2)):
            sign = rng.choice("<>")
            leave = f"return {self.returned(f'{rng.choice(names)} + 1')}"
            out = rng.choice(["break", "break", "continue", leave])
            rows += [f"{pad}if {rng.choice(names)} {sign} {rng.randint(-9, 9)}:", f"{pad}    {out}"]
        return rows

"""Random numeric programs with random tables, and the same programs with each call written by
hand as what it should enter.

Every program is written twice: once in terms of the targets (``math.sin(x)``, ``a + b``), to be run
in a context, and once in terms of functions that choose among the methods as docs/types.md says
(``pick["sin"](x)``), to be run as plain Python. Variables have one type each, integers are kept
small and floats bounded, so that nothing in numba's documented differences takes part.
"""

import itertools
import math
import operator
from dataclasses import dataclass, field

from hypothesis import strategies as st

from overlay import MethodTable, call_next, current_context, nonoverlay

METADATA = 0.75


@dataclass(frozen=True)
class Target:
    """name: in both programs. written: the call as the program has it. hints: what methods may
    be annotated with."""

    name: str
    written: str
    hints: tuple[tuple[str, ...], ...]


MIXED = (("int", "int"), ("float", "float"), ("int", "float"), ("float", "int"))
SINGLE = (("int",), ("float",), ("object",))
# A method's body mentions targets that stand before its own alone, so that all of them end.
TARGETS = (
    Target("sub", "({} - {})", MIXED),
    Target("add", "({} + {})", MIXED),
    Target("sin", "math.sin({})", SINGLE),
    Target("single", "single({})", SINGLE),
    Target("double", "double({}, {})", (("float", "int"), ("float", "object"), ("object", "int"))),
    Target("shifted", "double({}, by={})", ()),  # a keyword reaches the methods of double
    Target("once", "double({})", ()),
)
METHODS_OF = {"shifted": "double", "once": "double"}
BASES = """
def bounded(x):
    return x if -1000.0 < x < 1000.0 else 1.0

def single(x):
    return {add}

def double(x, by=3):
    return {sub}
"""


@dataclass
class Method:
    """One method: of the ``table``-th table, with these annotations and this body, in terms of
    its parameters x and y."""

    table: int
    target: str
    hints: tuple[str, ...]
    body: "Body"


@dataclass
class Body:
    """An expression in the two spellings: in the program's, and by hand. ``{next}`` stands for
    the call of what lies below."""

    written: str
    by_hand: str


@dataclass
class Program:
    """The methods, and the source of the functions in the two spellings; ``main`` is called."""

    tables: int
    methods: list[Method]
    source: Body
    picked: list[str] = field(default_factory=list)

    # ---- by hand ----

    def by_hand(self):
        """``main`` as plain Python, with the methods called where they belong."""
        names = {"math": math, "METADATA": METADATA, **GLOBALS}
        exec(BASES.format(add="x + 1.5", sub="x - by * 0.5"), names)
        names["plain"] = {name: names[name] for name in ("single", "double")}
        names["pick"] = {name: self._picker(name, (), names) for name in BASE_OF}
        spelled = {"add": 'pick["add"](x, 1.5)', "sub": 'pick["sub"](x, by * 0.5)'}
        exec(BASES.format(**spelled), names)
        names["based"] = {name: names[name] for name in ("single", "double")}
        exec(self.source.by_hand, names)
        return names["main"]

    def _picker(self, name, after, names):
        """A function that chooses among the methods of a target below those in ``after``."""

        def pick(x, y=None, by=None):
            args = [x] if y is None and by is None else [x, by if y is None else y]
            for table in reversed(range(self.tables)):
                method = self._best(table, name, args, after)
                if method is not None:
                    self.picked.append(name)
                    below = self._picker(name, (*after, id(method)), names)
                    return _run_by_hand(method, args, {**names, "below": below})
            return BASE_OF[name](names)(*args)

        return pick

    def _best(self, table, name, args, after):
        done = [m for m in self.methods if id(m) in after]
        if done and table > done[-1].table:
            return None
        here = [m for m in self.methods if (m.table, m.target) == (table, name)]
        last = {_hints(m, args): m for m in here}  # of those that are alike for these many
        fitting = [
            m
            for m in last.values()
            if id(m) not in after
            and all(_fits(h, a) for h, a in zip(_hints(m, args), args, strict=True))
        ]
        if done and done[-1].table == table:
            own = _hints(done[-1], args)
            fitting = [m for m in fitting if not _more_specific(_hints(m, args), own)]
        return min(fitting, key=lambda m: _hints(m, args).count("object"), default=None)

    # ---- in a context ----

    def in_context(self):
        """``main`` in terms of the targets, and the tables."""
        names = {
            "math": math,
            "call_next": call_next,
            "current_context": current_context,
            "nonoverlay": nonoverlay,
            **GLOBALS,
        }
        exec(BASES.format(add="x + 1.5", sub="x - by * 0.5"), names)
        exec(self.source.written, names)
        tables = [MethodTable(f"table {i}") for i in range(self.tables)]
        functions = {"sin": math.sin, "single": names["single"], "double": names["double"]}
        for method in self.methods:
            target = functions.get(method.target) or getattr(operator, method.target)
            tables[method.table].overlay(target)(_function(method, names))
        return names["main"], tables


BASE_OF = {
    "sub": lambda names: operator.sub,
    "add": lambda names: operator.add,
    "sin": lambda names: math.sin,
    "single": lambda names: names["based"]["single"],
    "double": lambda names: names["based"]["double"],
}


def _hints(method, args):
    return method.hints[: len(args)]


def _fits(hint, value):
    return hint == "object" or type(value).__name__ == hint


def _more_specific(hints, other):
    return hints != other and all(
        h == o or o == "object" for h, o in zip(hints, other, strict=True)
    )


def _run_by_hand(method, args, names):
    given = dict(zip("xy", [*args, 3], strict=False))
    return eval(method.body.by_hand, {**names, **given})


def _function(method, names):
    hints = method.hints
    parameters = ", ".join(f"{n}: {h}" for n, h in zip("xy", hints, strict=False))
    if method.target == "double":
        parameters += " = 3"
    namespace = dict(names)
    exec(f"def method({parameters}):\n    return {method.body.written}", namespace)
    return namespace["method"]


# ---- drawing ------------------------------------------------------------------------------


def both(text):
    return Body(text, text)


class Writer:
    """Draws expressions of a type; both spellings at once."""

    def __init__(self, draw, targets, helpers=()):
        self.draw = draw
        self.targets = targets
        self.helpers = helpers

    def expression(self, kind, scope, depth):
        """scope: by type, the variables that may be mentioned."""
        leaves = [both(name) for name in scope[kind]]
        leaves += map(both, CONSTANTS[kind])
        if kind == "float":
            leaves.append(Body("current_context().metadata", "METADATA"))
        if depth == 0:
            return self.draw(st.sampled_from(leaves))
        ways = [lambda: self.draw(st.sampled_from(leaves))]
        ways += [lambda t=t: self._call(t, kind, scope, depth) for t in self._callable(kind)]
        ways += [lambda h=h: self._helper(h, scope, depth) for h in self.helpers if kind == "float"]
        return self.draw(st.sampled_from(ways))()

    def _callable(self, kind):
        names = ("add", "sub") if kind == "int" else [t.name for t in self.targets]
        return [t for t in self.targets if t.name in names]

    def _call(self, target, kind, scope, depth):
        if target.name in ("add", "sub"):
            kinds = self.draw(st.sampled_from([k for k in MIXED if _result(k) == kind]))
        elif target.name in ("double", "shifted"):
            kinds = ("float", self.draw(st.sampled_from(("int", "float"))))
        else:
            kinds = (self.draw(st.sampled_from(("int", "float"))),)
        args = [self.expression(k, scope, depth - 1) for k in kinds]
        return self._spelled(target, args)

    def _spelled(self, target, args):
        written = target.written.format(*(a.written for a in args))
        name = METHODS_OF.get(target.name, target.name)
        given = [a.by_hand for a in args]
        if target.name == "shifted":
            given[1] = f"by={given[1]}"
        by_hand = f'pick["{name}"]({", ".join(given)})'
        if name in ("single", "double") and self.draw(st.integers(0, 5)) == 0:
            function, rest = written.split("(", 1)
            plain = f'plain["{name}"]({", ".join(given)})'
            return Body(f"nonoverlay({function})({rest}", plain)
        if name in ("add", "sub"):
            return Body(written, by_hand)
        return Body(f"bounded({written})", f"bounded({by_hand})")

    def _helper(self, name, scope, depth):
        args = [self.expression(k, scope, depth - 1) for k in ("float", "int")]
        return Body(*(f"{name}({args[0].__dict__[s]}, {args[1].__dict__[s]})" for s in SPELLINGS))


SPELLINGS = ("written", "by_hand")
# Globals of the program: the compiler would fold ``1 + 2``.
CONSTANTS = {
    "int": {"zero": 0, "one": 1, "seven": 7},
    "float": {"half": 0.5, "more": 1.25, "less": -2.0},
}
GLOBALS = CONSTANTS["int"] | CONSTANTS["float"]


def _result(kinds):
    return "int" if kinds == ("int", "int") else "float"


@st.composite
def programs(draw):
    """A program with its tables."""
    count = draw(st.integers(1, 3))
    methods = []
    for table, place in itertools.product(range(count), range(5)):
        target = TARGETS[place]
        chosen = draw(st.lists(st.sampled_from(target.hints), unique=True, max_size=2))
        if target.name == "double" and len(chosen) == 2 and ("float", "int") not in chosen:
            chosen = chosen[:1]  # two that are equally specific
        writer = Writer(draw, TARGETS[:place])
        methods += [
            Method(table, target.name, h, _method_body(draw, writer, h, target)) for h in chosen
        ]
    return Program(count, methods, _functions(draw))


def _method_body(draw, writer, hints, target):
    scope = {"int": [], "float": []}
    for name, hint in zip("xy", hints, strict=False):
        if hint in scope:
            scope[hint].append(name)
    kind = _result(hints) if target.name in ("add", "sub") else "float"
    body = writer.expression(kind, scope, draw(st.integers(0, 2)))
    if not draw(st.booleans()):
        return body
    given = ", ".join("xy"[: len(hints)])
    joined = "({0} if {0} < {1} else {1})"
    return Body(
        joined.format(body.written, f"call_next({given})"),
        joined.format(body.by_hand, f"below({given})"),
    )


def _functions(draw):
    """Two helpers and ``main``: branches, loops, closures, unpacking."""
    texts = {spelling: [] for spelling in SPELLINGS}
    helpers = ()
    for name in ("first", "second", "main"):
        writer = Writer(draw, TARGETS, helpers)
        scope = {"float": ["x"], "int": ["n"]}
        lines = Lines(draw, writer, scope).drawn(draw(st.integers(1, 4)))
        end = writer.expression("float", scope, 2)
        for spelling in SPELLINGS:
            body = [getattr(line, spelling) for line in lines]
            body.append(f"    return {getattr(end, spelling)}")
            texts[spelling] += [f"def {name}(x, n):", *body, ""]
        helpers = (*helpers, name)
    return Body(*("\n".join(texts[spelling]) for spelling in SPELLINGS))


class Lines:
    """Draws statements; each leaves its variables in the scope."""

    def __init__(self, draw, writer, scope):
        self.draw, self.writer, self.scope = draw, writer, scope
        self.numbers = itertools.count()

    def drawn(self, count):
        ways = (self.assign, self.branch, self.loop, self.add_in_place, self.closure, self.unpack)
        return [line for _ in range(count) for line in self.draw(st.sampled_from(ways))()]

    def expression(self, kind, depth=2):
        return self.writer.expression(kind, self.scope, depth)

    def new(self, kind):
        name = f"v{next(self.numbers)}"
        self.scope[kind].append(name)
        return name

    def assign(self):
        kind = self.draw(st.sampled_from(("float", "int")))
        value = self.expression(kind)
        return lines("    {} = {}", self.new(kind), value)

    def branch(self):
        left, right = self.expression("float", 1), self.expression("float", 1)
        one, other = self.expression("float"), self.expression("float")
        name = self.new("float")
        return [
            *lines("    if {} < {}:", left, right),
            *lines("        {} = {}", name, one),
            *lines("    else:"),
            *lines("        {} = {}", name, other),
        ]

    def loop(self):
        start, times = self.expression("float", 0), self.draw(st.integers(1, 3))
        name, index = self.new("float"), f"i{next(self.numbers)}"
        inner = {"float": [*self.scope["float"]], "int": [*self.scope["int"], index]}
        step = self.writer.expression("float", inner, 2)
        return [
            *lines("    {} = {}", name, start),
            *lines("    for {} in range({}):", index, str(times)),
            *lines("        {} = bounded({})", name, step),
        ]

    def add_in_place(self):
        first, second = self.expression("float", 1), self.expression("float")
        name = self.new("float")
        before = lines("    {} = {}", name, first)
        hand = f'    {name} = pick["add"]({name}, {second.by_hand})'
        return [*before, Body(f"    {name} += {second.written}", hand)]

    def closure(self):
        inner = {"float": [*self.scope["float"], "z"], "int": list(self.scope["int"])}
        body = self.writer.expression("float", inner, 2)
        argument = self.expression("float", 1)
        function, name = f"f{next(self.numbers)}", self.new("float")
        return [
            *lines("    def {}(z): return {}", function, body),
            *lines("    {} = {}({})", name, function, argument),
        ]

    def unpack(self):
        one, other = self.expression("float"), self.expression("int", 1)
        first, second = self.new("float"), self.new("int")
        return lines("    {}, {} = {}, {}", first, second, one, other)


def lines(text, *parts):
    parts = [both(p) if isinstance(p, str) else p for p in parts]
    return [Body(*(text.format(*(getattr(p, s) for p in parts)) for s in SPELLINGS))]

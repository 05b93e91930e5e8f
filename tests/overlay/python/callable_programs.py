"""Programs that call callables of every kind, from every holder, in every form of call.

A site is a holder, a form and a surrounding: a function ``call(p, k)`` with one call instruction
or more, and ``hold(callee)``, which puts the next callee there. What a site gives for a row of
callees is compared: natively and in contexts.
"""

import sys
import warnings

from overlay import Context, MethodTable, call_next
from tests.overlay.python.program_runs import FILE, NAME, compiled

__all__ = ["CALLEES", "FORMS", "HOLDERS", "MODES", "SURROUNDINGS", "TARGETS", "same_as_natively"]

PRELUDE = """\
import functools, math, operator, re, types

def shown(value):
    if isinstance(value, types.GeneratorType):
        value = list(value)
    text = repr(value)
    return re.sub("0x[0-9a-f]+", "0x", text) if "0x" in text else text

def same(value):
    return value

def function(x=1, y=2):
    return "function", x, y

def another(x=1, y=2, *rest, **names):
    return "another", x, y, rest, names

def positional(x, y=2, /):
    return "positional", x, y

def generator(x=1, y=2):
    yield "generator"
    yield same(x), y

def maker(n):
    def closure(x=1, y=2):
        return "closure", n, same(x), y
    return closure

def wrapped(callee):
    @functools.wraps(callee)
    def wrapper(*args, **names):
        return "wrapped", callee(*args, **names)
    return wrapper

class Object:
    def __init__(self, x=1, y=2):
        self.x, self.y = x, y
    def __repr__(self):
        return f"{type(self).__name__}({self.x}, {self.y})"
    def method(self, x=1, y=2):
        return "method", self, same(x), y
    def leaf(self, x=1, y=2):
        return "leaf", x, y
    @classmethod
    def of_class(cls, x=1, y=2):
        return "of class", cls.__name__, same(x), y
    @staticmethod
    def static(x=1, y=2):
        return "static", same(x), y
    def __call__(self, x=1, y=2):
        return "called", self, same(x), y
    part = functools.partialmethod(method, 7)

class Below(Object):
    def method(self, x=1, y=2):
        return "below", super().method(x, y)
    @property
    def above(self):
        return super().method

class Plain:
    __repr__ = Object.__repr__
    def __init__(self, x=1, y=2):
        self.x, self.y = x, y

class Bare:
    def __repr__(self):
        return "Bare()"

class Made(Object):
    def __new__(cls, *args, **names):
        same(cls)
        return super().__new__(cls)

class Meta(type):
    def __call__(cls, *args, **names):
        return "meta", super().__call__(*args, **names)

class Odd(Object, metaclass=Meta):
    pass

class Static:
    @staticmethod
    def __call__(x=1, y=2):
        return "static call", same(x), y

class OfClass:
    @classmethod
    def __call__(cls, x=1, y=2):
        return "class call", cls.__name__, x, y

class Built:
    __call__ = "built {} {x}".format

class Twice:
    __call__ = Object(5, 6)

ONE = Object(8, 9)
formatting = "{} {y}"
def formats(text):
    return text.format
"""

# Expressions; each is evaluated once for each run.
CALLEES = {
    "function": "function",
    "other function": "another",
    "positional-only function": "positional",
    "generator function": "generator",
    "lambda": "lambda x=1, y=2: ('lambda', x, y)",
    "closure": "maker(1)",
    "other closure": "maker(2)",
    "wrapper": "wrapped(function)",
    "wrapper of a method": "wrapped(Object(1).method)",
    "method": "Object(1).method",
    "method of another object": "Object(2).method",
    "method with nothing to rewrite": "Object(1).leaf",
    "method of a subclass": "Below(1).method",
    "method by super": "Below(2).above",
    "class method": "Object.of_class",
    "class method of an object": "Below().of_class",
    "static method": "Object.static",
    "unbound method": "Object.method",
    "partial method": "Object(3).part",
    "object": "Object(1)",
    "one object": "ONE",
    "object with a static call": "Static()",
    "object with a class's call": "OfClass()",
    "object with a call in C": "Built()",
    "object with an object's call": "Twice()",
    "bound object": "types.MethodType(Object(4), 5)",
    "bound builtin": "types.MethodType(max, 5)",
    "class": "Object",
    "plain class": "Plain",
    "bare class": "Bare",
    "class with new": "Made",
    "class of a metaclass": "Odd",
    "partial": "functools.partial(function, 6)",
    "partial of a method": "functools.partial(Object(1).method, y=6)",
    "cache": "functools.lru_cache(another)",
    "builtin": "max",
    "builtin of a module": "math.hypot",
    "builtin class": "dict",
    "builtin method": "formats(formatting)",
    "other builtin method": "[1, 2].count",
    "class method in C": "dict.fromkeys",
    "method descriptor": "str.center",
    "slot wrapper": "int.__add__",
    "bound slot wrapper": "(5).__add__",
    "object in C": "operator.itemgetter(0)",
    "no callable": "None",
}

_EXPRESSIONS = {name: compile(text, FILE, "eval") for name, text in CALLEES.items()}

# Arguments, beside p = (3,), k = {"y": 4}, n = ().
FORMS = (
    *("", "3", "3, 4", "x=3", "3, y=4", "x=3, y=4", "3, 4, 5"),
    *("*p", "*n", "3, *p", "*p, *p", "*p, 3", "**k", "**n", "3, **k", "*p, **k", "x=3, **k"),
    *("*p, y=4", "3, *n, y=4", "*p, **k, **n", "*p, *p, **k"),
)

# Definitions before, statements that hold a callee, statements before the call, the expression.
HOLDERS = {
    "global": ("held = None", "global held\nheld = callee", "", "held"),
    "local": ("HELD = [None]", "HELD[0] = callee", "held = HELD[0]", "held"),
    "parameter": ("HELD = [None]", "HELD[0] = callee", "", "(lambda held: held({}))(HELD[0])"),
    "cell": ("", "nonlocal held\nheld = callee", "", "held"),
    "module": ("mod = types.ModuleType('m')", "mod.held = callee", "", "mod.held"),
    "object": ("box = Object()", "box.held = callee", "", "box.held"),
    "class": ("class Kept: pass", "Kept.held = callee", "", "Kept.held"),
    "object's class": ("class Kept: pass\nkept = Kept()", "Kept.held = callee", "", "kept.held"),
    "static method": (
        *("class Kept: pass\nkept = Kept()", "Kept.held = staticmethod(callee)"),
        *("", "kept.held"),
    ),
    "class method": ("class Kept: pass", "Kept.held = classmethod(callee)", "", "Kept.held"),
    "super": (
        "class Up: pass\nclass Down(Up): pass\ndown = Down()",
        *("Up.held = callee", "", "super(Down, down).held"),
    ),
    "property": (
        "class Kept:\n    held = property(lambda self: self.it)\nkept = Kept()",
        *("kept.it = callee", "", "kept.held"),
    ),
    "list": ("HELD = [None]", "HELD[0] = callee", "", "HELD[0]"),
    "dict": ("NAMES = {}", "NAMES['it'] = callee", "", "NAMES['it']"),
    "result": (
        "HELD = [None]\ndef get(*args): return HELD[0]",
        *("HELD[0] = callee", "", "get(1)"),
    ),
    "conditional": ("held = None", "global held\nheld = callee", "", "(held if p else same)"),
    "walrus": ("held = None", "global held\nheld = callee", "", "(it := held)"),
}

# What is around a call ``@``.
SURROUNDINGS = {
    "nothing": "return @",
    "a display": "return [0, p, @][2]",
    "arguments": "return max([0], [p], key=same) and same(@)",
    "keywords": "return dict(a=p, b=@)",
    "a call of a call": "return same(x) if (x := @) is None else same(*[x])",
    "a comprehension": "return [@ for _ in range(2)]",
    "a generator expression": "return list(@ for _ in range(2))",
    "a loop": "for _ in range(3):\n    r = @\nreturn r",
    "try": "try:\n    r = @\nfinally:\n    p = None\nreturn r",
    "an exception": "try:\n    raise ValueError\nexcept ValueError:\n    return @",
    "a lambda": "return (lambda: @)()",
    "a function": "def inner(*p, **k):\n    return @\nreturn inner(*p, **k)",
    "a generator": "def inner():\n    yield @\nreturn list(inner())",
    "a class body": "class Body:\n    r = @\nreturn Body.r",
    "formatting": "return f'{@!r:>4}'",
    "two calls": "return @, @",
}

DRIVE = """\
def drive(call, hold, callees, turns):
    told = []
    for callee in callees:
        hold(callee)
        for _ in range(turns):
            try:
                result = shown(call((3,), {"y": 4}, ()))
            except Exception as error:
                result = type(error).__name__, str(error)
            told.append(result)
    return told
"""


def _define(holder, form, surrounding, name):
    """A function ``name()`` that gives ``hold`` and ``call`` of one site."""
    before, hold, first, callee = HOLDERS[holder]
    call = callee.format(form) if "{" in callee else f"{callee}({form})"
    body = f"{first}\n{SURROUNDINGS[surrounding].replace('@', call)}"
    lines = ["", f"def {name}():"] if holder == "cell" else [before, f"def {name}():"]
    lines += ["    held = None"] if holder == "cell" else []
    lines += ["    def hold(callee):", *(f"        {line}" for line in hold.splitlines())]
    lines += ["    def call(p, k, n):", *(f"        {line}" for line in body.splitlines())]
    return "\n".join([*lines, "    return hold, call", ""]).replace("**n", "**dict(n)")


# ---- tables ---------------------------------------------------------------------------------


class Standing:
    """Stands for a callable that is no function, and so is not bound to the object it is got of."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **names):
        return self.function(*args, **names)


# Targets; parameters of a method for each; and how a method takes the target's place natively.
TARGETS = {
    "function": ("x=1, y=2", "function = method"),
    "another": ("x=1, y=2, *rest, **names", "another = method"),
    "Object.method": (
        "self, x=1, y=2",
        "Object.method = method; Object.part = functools.partialmethod(method, 7)",
    ),
    "Object.leaf": ("self, x=1, y=2", "Object.leaf = method"),
    "Object.static": ("x=1, y=2", "Object.static = staticmethod(method)"),
    "Object.__call__": ("self, x=1, y=2", "Object.__call__ = method"),
    "Static.__call__": ("x=1, y=2", "Static.__call__ = staticmethod(method)"),
    "OfClass.__call__": ("cls, x=1, y=2", "OfClass.__call__ = classmethod(method)"),
    "Plain": ("x=1, y=2", "Plain = Standing(method)"),
    "Bare": ("", "Bare = Standing(method)"),
    "ONE": ("x=1, y=2", "ONE = Standing(method)"),
    "max": ("*args, **names", "max = Standing(method)"),
    "math.hypot": ("*args", "math = types.SimpleNamespace(hypot=Standing(method))"),
    "str.format": (
        "self, *args, **names",
        "format_of = Standing(method)\n"
        "def formats(text): return Standing(functools.partial(format_of, text))\n"
        "Built.__call__ = staticmethod(formats('built {} {x}'))",
    ),
}
MODES = ("never reached", "replaced", "passed on")


def crashes_python(form, callee):
    """Whether CPython itself may crash at a call in this form, also without these packages.

    Before 3.13.1, ``a.f()`` with ``a.f = str.center``, after calls ``s.strip()`` there, takes what
    lies beyond the stack for the first argument.
    """
    return sys.version_info < (3, 13, 1) and callee == "method descriptor" and not form


def _text(sites):
    defined = [_define(*site, f"site{i}") for i, site in enumerate(sites)]
    return "\n".join([DRIVE, *defined])


def _replacement(target):
    """A method for a target, which gives the arguments that it has got."""
    return eval(f"lambda {TARGETS[target][0]}: ('replaced', {target!r}, *locals().items())")


def _names(code, targets=()):
    """The names of a program. targets: which are replaced between the prelude and the rest."""
    names = {"__name__": NAME, "Standing": Standing}
    exec(compiled(PRELUDE), names)
    for target in targets:
        names["method"] = _replacement(target)
        exec(TARGETS[target][1], names)
    exec(code, names)
    return names


def _found(names, i, row, turns, enter):
    """What one site gives for the callees of a row: pairs of a name and what came of a call."""
    made = {name: eval(_EXPRESSIONS[name], names) for name in dict.fromkeys(row)}
    hold, call = names[f"site{i}"]()
    return enter(names["drive"], call, hold, [made[name] for name in row], turns)


def _alike(found, expected, mode):
    """Whether a call did the same, errors by type: the text of some depends on how the
    interpreter binds C methods, and what is replaced is called by another name."""
    if found == expected:
        return True
    if type(found) is not tuple or type(expected) is not tuple:
        return False
    text = mode == "never reached" and not any(
        each[1].startswith(("descriptor ", "unbound method ")) for each in (found, expected)
    )
    return not text and expected[0] == "TypeError" and found[0] in ("TypeError", "MethodNotFound")


def _context(names, targets, mode):
    """A new context with a new table: its call sites know nothing."""
    table = MethodTable(mode)
    table.overlay(_never)(lambda: None)
    for target in () if mode == "never reached" else targets:
        method = _replacement(target) if mode == "replaced" else _passed_on
        table.overlay(eval(target, names))(method)
    return Context(table)


def _never():
    raise AssertionError


def _passed_on(*args, **names):
    return call_next(*args, **names)


def same_as_natively(sites, rows, turns, mode="never reached", targets=(), times=1):
    """How many calls do in a context what they do natively, or where targets are replaced.

    sites: triples of holder, form, surrounding. rows: for each site, the names of its callees
    in their order, each called so many turns. mode: one of MODES. times: how often each row is
    gone through. Raises AssertionError with the first call that differs.
    """
    with warnings.catch_warnings():  # a partial in a class
        warnings.simplefilter("ignore", FutureWarning)
        code = compiled(_text(sites))
        plainly = _names(code, targets if mode == "replaced" else ())
        names, count = _names(code), 0
        context = _context(names, targets, mode)
        for i, (site, row) in enumerate(zip(sites, rows, strict=True)):
            expected = _found(plainly, i, row, turns, lambda f, *args: f(*args))
            for _ in range(times):
                found = _found(names, i, row, turns, context)
                _compare(found, expected, mode, site, row, turns)
            count += len(expected)
    return count


def _compare(found, expected, mode, site, row, turns):
    for i, pair in enumerate(zip(found, expected, strict=True)):
        if not _alike(*pair, mode):
            before = row[max(i // turns - 1, 0)]
            raise AssertionError(
                f"{mode}, {site}: {row[i // turns]} after {before}, turn {i % turns}:"
                f" {pair[0]}, natively {pair[1]}"
            )

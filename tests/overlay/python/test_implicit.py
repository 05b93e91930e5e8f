"""With ``implicit=True``, functions that the interpreter calls by itself are entered: the
programs here do the same as natively, in the same order, and what they call is reached."""

# ruff: noqa: E501 (programs, one a line)

import collections
import contextlib
import functools
import io
import operator
import sys
import textwrap
import types
import weakref

import pytest

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.context import current_stack

pytestmark = pytest.mark.interprets

LOG = []


def note(*what):
    LOG.append(what)


class Number:
    """Arithmetic; only asked for ints and its own kind, else it does not know."""

    def __init__(self, value):
        self.value = value

    def _of(self, name, other):
        note(name, self.value)
        if isinstance(other, int):
            return other
        return other.value if isinstance(other, Number) else None


def _arithmetic(name, operate, in_place=False, reflected=False):
    def method(self, other, *modulus):
        value = self._of(method.__name__, other)
        if value is None:
            return NotImplemented
        return Number(operate(value, self.value) if reflected else operate(self.value, value))

    method.__name__ = f"__{'i' if in_place else 'r' if reflected else ''}{name}__"
    method.__qualname__ = f"Number.{method.__name__}"
    return method


_FUNCTIONS = {
    **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod},
    **{"truediv": operator.truediv, "floordiv": operator.floordiv, "pow": operator.pow},
    **{"lshift": operator.lshift, "rshift": operator.rshift, "and": operator.and_},
    **{"or": operator.or_, "xor": operator.xor, "matmul": operator.mul, "divmod": divmod},
}
for _name, _function in _FUNCTIONS.items():
    setattr(Number, f"__{_name}__", _arithmetic(_name, _function))
    setattr(Number, f"__r{_name}__", _arithmetic(_name, _function, reflected=True))
for _name in ("add", "or"):
    setattr(Number, f"__i{_name}__", _arithmetic(_name, _FUNCTIONS[_name], in_place=True))


class Narrow(Number):
    """Its reflected operators come first."""

    def __radd__(self, other):
        note("narrow radd")
        return Number(-1)

    def __rsub__(self, other):
        note("narrow rsub")
        return NotImplemented


class NotKnown:
    def __add__(self, other):
        note("not known add")
        return NotImplemented

    def __radd__(self, other):
        note("not known radd")
        return NotImplemented

    __mul__ = __rmul__ = __iadd__ = __add__


class Ordered:
    def __init__(self, key):
        self.key = key

    def _ask(self, name, other, operate):
        note(name, self.key)
        return operate(self.key, other.key) if isinstance(other, Ordered) else NotImplemented

    def __lt__(self, other):
        return self._ask("lt", other, operator.lt)

    def __le__(self, other):
        return self._ask("le", other, operator.le)

    def __eq__(self, other):
        return self._ask("eq", other, operator.eq)

    def __gt__(self, other):
        return self._ask("gt", other, operator.gt)

    def __hash__(self):
        note("hash", self.key)
        return hash(self.key)


class Steps:
    """An iterator in Python."""

    def __init__(self, *items, fails=StopIteration):
        self.items = list(items)
        self.fails = fails

    def __iter__(self):
        note("iter")
        return self

    def __next__(self):
        note("next")
        if not self.items:
            raise self.fails("the end")
        return self.items.pop(0)


class Box:
    """A container in Python."""

    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        note("len")
        return len(self.items)

    def __iter__(self):
        note("box iter")
        return Steps(*self.items)

    def __getitem__(self, key):
        note("getitem", key)
        return self.items[key]

    def __setitem__(self, key, value):
        note("setitem", key)
        self.items[key] = value

    def __delitem__(self, key):
        note("delitem", key)
        del self.items[key]

    def __contains__(self, item):
        note("contains", item)
        return item in self.items

    def __reversed__(self):
        note("reversed")
        return Steps(*self.items[::-1])


class OldBox:
    """A sequence by place alone."""

    def __init__(self, *items):
        self.items = items

    def __getitem__(self, place):
        note("old getitem", place)
        return self.items[place]

    def __len__(self):
        note("old len")
        return len(self.items)


class Mapping:
    def keys(self):
        note("keys")
        return Steps("a", "b")

    def __getitem__(self, key):
        note("mapping getitem", key)
        return key * 2


class Delegating:
    """A mapping of which not the class has the keys, but what it stands for, or the object."""

    def __init__(self, has_keys=True):
        if not has_keys:
            self.keys = lambda: Steps("c")

    def __getattr__(self, name):
        note("getattr", name)
        if name != "keys":
            raise AttributeError(name)
        return Mapping().keys

    def __getitem__(self, key):
        note("delegating getitem", key)
        return key * 3


class Absent(dict):
    def __missing__(self, key):
        note("missing", key)
        return f"no {key}"


class Doubling:
    """A descriptor in Python that is found before the object's own attributes."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner):
        note("get", instance is None)
        return "class" if instance is None else 2 * getattr(instance, self.name)

    def __set__(self, instance, value):
        note("set", value)
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        note("delete")
        delattr(instance, self.name)


class Lazy:
    """One that is found after them."""

    def __get__(self, instance, owner):
        note("lazy")
        return "lazy"


class Meta(type):
    @property
    def title(cls):
        note("title")
        return cls.__name__

    def __getitem__(cls, key):
        note("meta getitem", key)
        return key

    def __instancecheck__(cls, instance):
        note("instancecheck")
        return isinstance(instance, int)

    def __iter__(cls):
        note("meta iter")
        return Steps(1, 2)

    def __len__(cls):
        note("meta len")
        return 3


class Classy(metaclass=Meta):
    pass


class Attributes:
    twice = Doubling()
    lazy = Lazy()

    def __init__(self):
        self.plain = 1
        self.twice = 4

    @property
    def half(self):
        note("half")
        return self.plain / 2

    @half.setter
    def half(self, value):
        note("set half", value)
        self.plain = value * 2

    @half.deleter
    def half(self):
        note("delete half")

    @property
    def broken(self):
        note("broken")
        raise AttributeError("inside")

    @functools.cached_property
    def once(self):
        note("once")
        return 11

    def method(self):
        note("method")
        return self.plain

    @property
    def function(self):
        note("function")
        return self.method

    def __class_getitem__(cls, key):
        note("class getitem", key)
        return key


class Hooked(Attributes):
    def __getattr__(self, name):
        note("getattr", name)
        if name.startswith("no"):
            raise AttributeError(name)
        return lambda: name

    @property
    def half(self):
        note("hooked half")
        return super().half


class Watched:
    def __getattribute__(self, name):
        note("getattribute", name)
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        note("setattr", name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        note("delattr", name)
        object.__delattr__(self, name)

    @property
    def inner(self):
        note("inner")
        return 5


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        note("bool", self.value)
        return self.value


class Text:
    def __str__(self):
        note("str")
        return "text"

    def __repr__(self):
        note("repr")
        return "<T>"

    def __format__(self, spec):
        note("format", spec)
        return f"[{spec}]"


class Represented:
    def __repr__(self):
        note("only repr")
        return "<R>"


class Manager:
    def __init__(self, swallows=False):
        self.swallows = swallows

    def __enter__(self):
        note("enter")
        return self

    def __exit__(self, kind, error, trace):
        note("exit", kind)
        return self.swallows

    async def __aenter__(self):
        note("aenter")
        return self

    async def __aexit__(self, kind, error, trace):
        note("aexit", kind)
        return self.swallows


class Awaited:
    def __await__(self):
        note("await")
        got = yield "sent out"
        return got


class AwaitedSteps:
    def __await__(self):
        note("await steps")
        return Steps("sent out")


class Countdown:
    def __init__(self, count):
        self.count = count

    def __aiter__(self):
        note("aiter")
        return self

    async def __anext__(self):
        note("anext")
        self.count -= 1
        if self.count < 0:
            raise StopAsyncIteration
        return self.count


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self._x, self._y = x, y

    @property
    def x(self):
        note("x")
        return self._x

    @property
    def y(self):
        note("y")
        return self._y


class Numeric:
    """Everything that makes a number of it."""

    def __int__(self):
        note("int")
        return 3

    def __float__(self):
        note("float")
        return 2.5

    def __complex__(self):
        note("complex")
        return 1j

    def __index__(self):
        note("index")
        return 1

    def __abs__(self):
        note("abs")
        return "abs"

    def __neg__(self):
        note("neg")
        return "neg"

    def __pos__(self):
        note("pos")
        return "pos"

    def __invert__(self):
        note("invert")
        return "invert"

    def __round__(self, digits=None):
        note("round", digits)
        return "round"

    def __trunc__(self):
        note("trunc")
        return "trunc"

    def __floor__(self):
        note("floor")
        return "floor"

    def __ceil__(self):
        note("ceil")
        return "ceil"


class Failing(Exception):
    def __init__(self, text="made"):
        note("failing", text)
        super().__init__(text)


class Told:
    """Is told its name, and what else there is in the class by then."""

    def __set_name__(self, owner, name):
        note("set name", name, [key for key in vars(owner) if "_" not in key])
        if name == "wrong":
            raise KeyError(name)


class Parent:
    def __init_subclass__(cls, tag=None, **keywords):
        super().__init_subclass__(**keywords)
        note("init subclass", cls.__name__, tag, hasattr(cls, "late"))


class Entries:
    """Stands for other bases."""

    def __init__(self, *bases):
        self.bases = bases

    def __mro_entries__(self, bases):
        note("mro entries", len(bases))
        return self.bases


class Namespace(dict):
    pass


class Maker(type):
    @classmethod
    def __prepare__(cls, name, bases, prepared=None, **keywords):
        note("prepare", name, len(bases))
        return Namespace(early=1) if prepared is None else prepared

    def __new__(cls, name, bases, namespace, **keywords):
        note("new", name, type(namespace).__name__, sorted(keywords))
        keywords.pop("prepared", None)
        return super().__new__(cls, name, bases, namespace, **keywords)

    def __init__(cls, name, bases, namespace, **keywords):
        note("init", name)
        super().__init__(name, bases, namespace)

    def __call__(cls, *args):
        note("call")
        return super().__call__(*args)


class Making(type):
    """What calls it calls this."""

    def __call__(cls, *args, **keywords):
        note("making")
        return super().__call__(*args, **keywords)


class MadeMaker(type, metaclass=Making):
    pass


class Wrong:
    """Answers of kinds that the protocols do not allow."""

    def __bool__(self):
        note("wrong")
        return 1

    def __len__(self):
        return -1

    def __iter__(self):
        return 1

    def __str__(self):
        return 1

    __repr__ = __index__ = __int__ = __float__ = __hash__ = __str__

    def __format__(self, spec):
        return 1

    def __index__(self):
        return "x"


class Counted(int):
    """An int that has an index of its own, which nobody asks for."""

    def __index__(self):
        note("counted index")
        return 2


class Veiled(type):
    """Its classes have attributes of their own where those of ``type`` are meant."""

    @property
    def __dict__(cls):
        note("veiled dict")
        return None

    __mro__ = __name__ = __module__ = __dict__


class Behind(metaclass=Veiled):
    def __init__(self):
        self.plain = 1

    @property
    def value(self):
        note("behind")
        return self.plain

    def __add__(self, other):
        return NotImplemented


class Sly(str):
    """Equal to every name."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return str.__hash__(self) ^ 3


class Unnamed:
    """Its errors do not say what was read."""

    @property
    def fails(self):
        raise AttributeError

    @property
    def says(self):
        raise AttributeError(name="else", obj=5)

    def __getattr__(self, name):
        raise AttributeError(f"no {name}")


class Silent:
    @property
    def fails(self):
        raise AttributeError("inside")


class Reading:
    """Classes in C that read attributes by slots of their own, below classes of ours."""

    @property
    def read(self):
        return type(self).__name__

    @read.setter
    def read(self, value):
        note(type(self).__name__, value)


class ReadingInt(Reading, int):
    pass


class ReadingStr(Reading, str):
    pass


class ReadingError(Reading, Exception):
    pass


class ReadingPair(Reading, collections.namedtuple("Pair", "a b")):
    pass


class ReadingDeque(Reading, collections.deque):
    pass


READING = [ReadingInt(3), ReadingStr("x"), ReadingError("x"), ReadingPair(1, 2), ReadingDeque()]


class FallsBack(type):
    def __getattr__(cls, name):
        return name


class Gives:
    def __get__(self, owner, cls):
        note("gives", owner, cls.__name__)
        return 5


class Falling(metaclass=FallsBack):
    told = Gives()


# One program a line, or a block; each is the body of a function.
PROGRAMS = """
return [x.read for x in READING]
for x in READING: x.read = 3
return Falling.told, Falling.other
return [(Number(7) OP Number(2)).value for _ in "a"]
return (Number(7) OP 2).value, (2 OP Number(3)).value
return Number(7) OP "x"
return "x" OP Number(1)
return [1] OP Number(2)
return NotKnown() OP NotKnown()
return NotKnown() OP 1
return 1 OP NotKnown()
return [1, 2] OP NotKnown()
return (1, 2) OP NotKnown()
return "ab" OP NotKnown()
return Narrow(1) OP Narrow(2), Number(1) OP Narrow(2)
a = Number(6); a OP= Number(2); return a.value
a = Number(6); a OP= 2; return a.value
a = 6; a OP= Number(2); return a.value
a = NotKnown(); a OP= 1; return a
a = 1; a OP= NotKnown(); return a
""".strip().splitlines()
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"]
BODIES = [line.replace("OP", op) for op in OPERATORS for line in PROGRAMS]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]
BODIES += [
    line.replace("OP", op)
    for op in COMPARISONS
    for line in [
        "return Ordered(1) OP Ordered(2)",
        "return Ordered(1) OP 2",
        "return 2 OP Ordered(1)",
        "return Ordered(1) OP Ordered(1) OP Ordered(3)",
        "return 'yes' if Ordered(1) OP Ordered(2) else 'no'",
        "return [1, 2] OP Ordered(1)",
        "return object() OP Ordered(1)",
        "return Ordered(1) OP None",
    ]
]
BODIES += """
a, b, *c = Steps(1, 2, 3, 4); return a, b, c
a, b = Steps(1); return a
a, b = Steps(1, 2, 3); return a
a, b = Steps(1, fails=KeyError); return a
a, b = 5; return a
for x in Steps(1, 2): note(x)
for x in Box(1, 2): note(x)
for x in OldBox(1, 2): note(x)
for x in 5: note(x)
for x in Wrong(): note(x)
for x in Steps(1, fails=ValueError): note(x)
return [x for x in Box(1, 2)], {x for x in OldBox(3)}, {x: 1 for x in Steps(4)}
return list(x for x in Box(1, 2))
return [*Steps(1, 2), *Box(3), *OldBox(4)], {*Steps(5)}, (*Box(6),)
return [*5]
return (lambda *a, **k: (a, k))(*Steps(1, 2), **Mapping())
return (lambda *a: a)(*Box(1, 2))
return (lambda *a: a)(*5)
return (lambda **k: k)(**5)
return {**Mapping()}, dict(Mapping()), dict(Steps((1, 2)))
return {**Delegating()}, dict(Delegating()), dict(Delegating(False)), (lambda **k: k)(**Delegating())
d = {}; d.update(Delegating()); d.update(Delegating(False)); return d
return {**5}
def g():\\n    x = yield from Steps(1, 2)\\n    note(x)\\n    y = yield from Box(3)\\nreturn list(g())
def g():\\n    yield from Steps(1, 2)\\ni = g()\\nnext(i)\\nreturn i.send(3)
def g():\\n    yield from Steps(1, 2)\\ni = g()\\nnext(i)\\nreturn i.throw(KeyError)
def g():\\n    yield from 5\\nreturn list(g())
return 1 in Box(1), 2 not in Box(1), 1 in Steps(0, 1, 2), 5 in OldBox(4, 5, 6)
return 1 in 5
b = Box(1, 2, 3); b[0] = 5; del b[1]; b[0] += 2; return b[0], b[1:], b[:], b.items
b = Box(1, 2, 3); b[0:2] = Steps(8, 9); return b.items
b = [1, 2, 3]; b[0:2] = Steps(8, 9); return b
b = [1, 2, 3]; return b[Numeric()], b[Numeric():], "abc"[Numeric()]
b = [1, 2, 3]; b[Numeric()] = 5; del b[Numeric()]; return b
b = [1]; b += Steps(1, 2); b += Box(3); return b
b = [1]; b += 5; return b
b = [1, 2] * Numeric(); return b
return [1][Wrong()]
return {}["x"], 5
a = Absent(x=1); return a["x"], a["y"], a.get("z")
d = collections.defaultdict(lambda: note("factory") or []); d["a"].append(1); return d
return Attributes[3], Classy[4], list[int], type[int]
return int[3]
b = Box(0); return len(b), len(Classy), bool(b), not b
if Box(): return 1\\nelse: return 2
while Truth(False): pass
return Truth(True) and 5, Truth(False) and 5, Truth(True) or 5, Truth(False) or 5, not Truth(True)
return 1 if Truth(True) and not Truth(False) else 2
assert Truth(False), "asserted"
return [x for x in [1, 2] if Truth(x == 1)]
x = Truth(True); return [1 for _ in "ab" if x or x]
a = Attributes(); return a.half, a.twice, a.lazy, a.once, a.once, a.method(), a.plain
a = Attributes(); a.half = 4; a.twice = 3; a.plain = 1; a.lazy = 5; return a.half, a.twice, a.lazy
a = Attributes(); del a.half; del a.twice; del a.plain; return vars(a)
a = Attributes(); return a.broken
a = Attributes(); return a.missing
a = Attributes(); a.broken = 1
a = Attributes(); del a.broken
a = Attributes(); del a.missing
a = Attributes(); return a.function()
return Attributes.twice, Attributes.lazy, Attributes.half.fget
a = Attributes(); a.half += 1; return a.half
h = Hooked(); return h.half, h.anything(), h.plain, h.method(), h.broken()
h = Hooked(); return h.nothing
h = Hooked(); return getattr(h, "nothing", 3), hasattr(h, "nothing"), getattr(h, "half")
w = Watched(); w.a = 1; b = w.a, w.inner; del w.a; return b, w.__class__
w = Watched(); return w.missing
w = Watched(); setattr(w, "b", 2); delattr(w, "b"); return hasattr(w, "b"), getattr(w, "inner")
return Classy.title, Classy().__class__
return Classy.missing
return [*Classy], isinstance(3, Classy), isinstance("x", (str, Classy)), len(Classy)
return f"{Text()} {Text()!r} {Text()!s:>6} {Text()!a} {Text():>{5}} {Represented()} {Represented()!s}"
return f"{Represented():>5}"
return str(Text()), repr(Text()), ascii(Text()), format(Text(), "x"), format(Represented())
return str(Represented()), "%s %r" % (1, 2), "{}".format(3), str(b"x", "ascii")
return f"{Wrong()!s}"
return f"{Wrong()}"
print(Text(), Represented(), 3)
print(Text(), sep=3)
with Manager() as m: note("body")
with Manager(True) as m: raise KeyError
with Manager() as m: raise KeyError
with Manager(), Manager(True) as n: raise ValueError("x")
with Manager() as m: return 5
with 5: pass
with contextlib.suppress(KeyError), contextlib.closing(io.StringIO()) as s: raise KeyError
for x in (1, 2):\\n    with Manager(True):\\n        if x == 1: continue\\n        raise KeyError
raise Failing
raise Failing from Failing
raise Failing("given") from None
raise 5
raise type("C", (), {})
try: raise Failing\\nexcept Failing as e: return e.args, e.__context__
n = Numeric(); return int(n), float(n), complex(n), abs(n), -n, +n, ~n, round(n), round(n, 2)
import math; n = Numeric(); return math.floor(n), math.ceil(n), math.trunc(n), operator.index(n)
return pow(Number(2), 3, 5).value, divmod(Number(7), 2).value, divmod(7, Number(2)).value
return pow(Number(2), "x", 5)
return divmod(NotKnown(), 1)
return sum(Steps(1, 2)), min(Steps(3, 1)), max(Box(1, 2)), any(Steps(0, 1, 2)), all(Box(1, 0, 2))
return sorted(Steps(2, 1)), list(enumerate(Steps(5))), list(zip(Steps(1, 2), Box(3, 4, 5)))
return list(Box(1)), tuple(Box(1)), set(Steps(1)), frozenset(Box(2)), list(OldBox(1, 2))
return list(map(abs, Steps(-1))), list(filter(None, Steps(0, 1))), "".join(Steps("a", "b"))
return functools.reduce(operator.add, Steps(1, 2, 3)), list(reversed(Box(1, 2)))
return list(reversed(OldBox(1, 2))), collections.deque(Steps(1)), bytes(Steps(65))
a = [0]; a.extend(Box(1)); d = {}; d.update(Mapping()); s = {0}; s.update(Steps(4)); return a, d, s
i = iter(Box(1)); return next(i), next(i, "end"), next(i)
i = iter(Steps(1)); return next(i), list(i)
i = iter(lambda: note("called") or len(LOG), 6); return list(i)
return iter(Wrong())
return next(5)
return next(Box(1))
return len(Wrong())
return bool(Wrong())
if Wrong(): pass
return str(Wrong())
return int(Wrong())
return hash(Wrong())
return hash(Ordered(3)), {Ordered(1): 2}[Ordered(1)]
return operator.add(Number(1), 2).value, operator.iadd(Number(1), 2).value, operator.not_(Truth(1 == 1))
return operator.getitem(Box(4), 0), operator.contains(Box(1), 1), operator.lt(Ordered(1), Ordered(2))
return object.__getattribute__(Attributes(), "half"), Attributes.half.__get__(Attributes())
match Point(1, 2):\\n    case Point(1, 3): return 1\\n    case Point(x=1, y=z): return z
match Point(1, 2):\\n    case Point(1, 2, 3): return 1
match 3:\\n    case Classy(): return "classy"
match 3:\\n    case str(): return 1\\n    case int(x): return x
match [1, 2]:\\n    case [a, b]: return a + b
match {"a": 1}:\\n    case {"a": x, **rest}: return x, rest
match collections.UserDict(a=1):\\n    case {"b": x}: return x\\n    case {"a": x}: return x
match collections.UserList([1, 2, 3]):\\n    case [1, *rest]: return rest
class C(Attributes):\\n    def __init__(self): super().__init__(); note(super().half)\\nreturn C().plain
class D(Attributes):\\n    def f(self): return super().lazy, super().method()\\nreturn D().f()
return run(awaits())
return run(managed())
return run(counted())
return run(failing())
return run(awaits_steps())
""".strip().splitlines()
BODIES += """
class C(Parent, tag=3):\\n    a, late = Told(), Told()\\nreturn C.__name__, list(vars(C))
class C(Parent):\\n    a = Doubling()\\nc = C(); c.a = 2; return c.a, C.__mro__[1:]
class C(Entries(Parent, Number), Box, tag=1): pass\\nreturn C.__mro__[1:], len(C.__orig_bases__)
class C(Entries()): pass\\nreturn C.__mro__[1:], len(C.__orig_bases__)
class C(5): pass
class C(metaclass=Maker, tag=4):\\n    def f(self): return __class__\\nreturn C().f() is C, C.early
class C(Parent, metaclass=Maker, tag=4):\\n    a = Told()\\nclass D(C): pass\\nreturn list(vars(D))
class C(Parent, metaclass=Maker, tag=4, prepared={"late": Told()}):\\n    def f(self): return super()\\nreturn type(C)
class C(metaclass=Maker, prepared=5): pass
class C(metaclass=lambda *args: len(args)): pass\\nreturn C
class C(metaclass=lambda *args, **keywords: keywords, self=1, body=2, name=3): pass\\nreturn C
class C(Classy, metaclass=Maker): pass
class C(Classy): a = Told()\\nreturn type(C)
class C(tag=1): pass
class C: wrong = Told()
class C(*(Number, Box), **{"metaclass": Maker}): a = Told()\\nreturn C.__mro__[1:]
class C(metaclass=MadeMaker): a = Told()\\nreturn type(C), MadeMaker("D", (Parent,), {"b": Told()}).__name__
class C(metaclass=MadeMaker): __slots__ = ("x", "y")\\nc = C(); c.x = 1; return c.x, vars(C).keys() - {"__module__", "__firstlineno__", "__static_attributes__"}
C = type("C", (Parent,), {"a": Told()}, tag=2); return C.__name__, C.__doc__, C.__module__, type(C)
C = type("C", (Box, Entries()), {}); return C
C = type("C", (Number,), {"a": 1, "__doc__": "text"}); return C.__doc__, C.a
C = Maker("C", (Parent,), {"a": Told()}, tag=2); return type(C), C.__mro__[1:]
C = type("C", (Maker("D", (), {}),), {"a": Told()}); return type(C)
C = types.new_class("C", (Entries(Parent),), {"tag": 3}, lambda n: n.update(a=Told())); return C.__mro__[1:]
return type(3), type(Number(1)), type("C", (), {}).__name__
return type()
return type(1, 2)
return type("C", 1, 2)
return type("C", (), {}, tag=2)
return type.__new__(type, "C", (), {"a": Told()}).__name__, type.__new__(int)
return object.__new__(Number).__class__, dict.__new__(Absent)
return "%s %r %a" % (Text(), Text(), Represented()), "%s" % Text(), "%5.2s|" % Text(), "%%" % ()
return "%d %i %x %f %c" % (Numeric(), Numeric(), Numeric(), Numeric(), Numeric())
return "%(a)s %(b)d %(c)s" % {"a": Text(), "b": Numeric(), "c": 3}, "%(a)s" % Mapping(), "text" % Mapping()
return "%(a)s %(b)s" % Absent(a=Text())
a = "%s"; a %= Text(); return a, operator.mod("%s", Text()), operator.mod(7, 4)
return "%d" % Text()
return "%d" % Represented()
return "%s" % Wrong()
return "%d" % Wrong()
return "%s %s" % Text()
return "text" % Text()
return "%*d" % (Numeric(), 3)
class I(int):\\n    def __str__(self): return "I"\\nreturn "%s %d %x %r" % (I(3), I(4), I(255), I(5)), "%5d" % I(6)
class S(str):\\n    def __str__(self): return "S"\\n    def __rmod__(self, x): return "rmod"\\nreturn "%s" % S("x"), "%s %r" % (S("a"), S("b"))
class F(float):\\n    def __repr__(self): return "F"\\nreturn "%s %.1f %d %r" % (F(1), F(2), F(3), F(4))
return "{} {!r} {!s} {!a} {:>{}}".format(Text(), Text(), Text(), Text(), Text(), 5)
return "{0.half} {0.twice} {a[x]} {a[y]} {b[0]} {c}".format(Attributes(), a=Absent(x=1), b=Box(4), c=Represented())
return "{a} {b}".format_map(Absent(a=Text())), "{a}".format_map({"a": Text()})
return "{0.__class__.__name__} {0.plain:>3}".format(Attributes())
return "{x.missing}".format(x=Attributes())
return "{x[1]}".format(x=Attributes())
return "{0:x}".format(Represented())
return "{}".format(Wrong())
return "{} {}".format(Text())
return object().__format__(""), object().__format__(None)
class E:\\n    __eq__ = property(lambda self: 1 / 0)\\nreturn E() == 3, E() != E()
class E:\\n    __lt__ = property(lambda self: 1 / 0)\\nreturn E() < 3
return "{!s}".format(Wrong())
return str.format("{:a}", Text()), "{:>4}|{}".format(1, "a")
return [o.key for o in sorted([Ordered(2), Ordered(1), Ordered(3)])]
return [o.key for o in sorted(Steps(Ordered(2), Ordered(1)), reverse=True)]
return sorted([3, 1, 2], key=Ordered), sorted([3, 1, 2], key=lambda x: -x), sorted("ba")
return sorted([Ordered(1), 2, Ordered(3)])
return sorted([3, 1], key=5)
return sorted([3, 1], foo=5)
return sorted(5)
a = [Ordered(2), Ordered(1)]; a.sort(); return [o.key for o in a]
a = [Ordered(2), Ordered(1)]; a.sort(key=lambda o: (note("key"), o.key)[1], reverse=True); return [o.key for o in a]
a = [Ordered(2), Ordered(1)]; a.sort(key=lambda o: a.append(1) or o); return a
return min(Ordered(2), Ordered(1)).key, max([Ordered(1), Ordered(2)]).key, max(Box(Ordered(1), Ordered(2))).key
return min([3, 1], key=Ordered), max(3, 1, key=lambda x: Ordered(-x)), min([], default=Ordered), max("ab")
return max([])
return max(5)
return min()
return max(1, 2, default=3)
return min(Ordered(1), 5)
return Ordered(1) in [Ordered(2), Ordered(1), Ordered(3)], 3 in (Ordered(1), 3), Ordered(3) not in [1]
o = Ordered(1); return o in [o], operator.contains([o], Ordered(1)), o not in ("a", 2)
""".strip().splitlines()
BODIES += """
c = Counted(1); return operator.index(c), [1, 2, 3][c], [1, 2, 3][c:], "ab" * c, c.__index__()
b = [1, 2, 3]; b[Counted(1)] = 5; del b[Counted(0)]; return b, int(Counted(4)), float(Counted(4))
b = Behind(); b.plain = 3; b.other = 4; del b.other; return b.value, getattr(b, "plain"), bool(b), len([*[b]])
return Behind() + 1
return "%s" % Behind().value, isinstance(Behind(), Behind), f"{Behind().plain}"
class C(Behind):\\n    @property\\n    def value(self): return super().value + 1\\nreturn C().value
match Behind():\\n    case Behind(value=v): return v
return pow(base=Number(2), exp=3).value, pow(Number(2), mod=5, exp=3).value, pow(2, exp=3)
return pow(2, base=3)
return pow(2, 3, 5, 7)
return pow(exp=2)
return round(1.75, **{Sly("foo"): 1})
print(1, **{Sly("foo"): ","})
return {}.__delattr__()
return Attributes().__getattribute__(name="half")
""".strip().splitlines()
BODIES += [  # an error that does not say what was read is told it
    f"""try:
    return {read}
except AttributeError as e:
    return e.args, e.name, type(e.obj)"""
    for read in [
        *("Unnamed().absent", "getattr(Unnamed(), 'absent')", "Unnamed().fails", "Unnamed().says"),
        *("Silent().fails", "getattr(Silent(), 'fails')", "Silent().absent", "Watched().absent"),
        *("Silent().fails()", "Unnamed().absent()", "Hooked().nothing", "Attributes.nothing"),
    ]
]
BODIES += [  # what fails inside keeps its context
    "try:\n    return Attributes().missing\nexcept AttributeError as e:\n    return e.name, e.obj.plain",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise Failing",
]


def run(coroutine):
    """What a coroutine sends out and returns, sent numbers."""
    sent = []
    try:
        while True:
            sent.append(coroutine.send(len(sent) or None))
    except StopIteration as stop:
        return sent, stop.value


async def awaits():
    return await Awaited()


async def awaits_steps():
    return await AwaitedSteps()


async def managed():
    async with Manager() as one, Manager(True):
        note("body")
        raise KeyError
    return one


async def counted():
    return [x async for x in Countdown(3)], [y async for y in Countdown(1)]


async def failing():
    async for _ in Steps():
        pass


def program(body):
    """A function with this body, in this module's names."""
    scope = {}
    text = textwrap.indent(body.replace("\\n", "\n"), "    ")
    exec(f"def f():\n{text}", globals(), scope)
    return scope["f"]


def outcome(call):
    """What a call gives or raises, what it printed, and the log that it left."""
    LOG.clear()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            result = "returned", call()
        except Exception as error:
            result = "raised", type(error), error.args, type(error.__context__)
    return normal(result), out.getvalue(), list(LOG)


def normal(value):
    """Values that can be compared with those of another run."""
    if type(value) in (list, tuple):
        return type(value)(map(normal, value))
    if type(value) in (Number, Narrow, NotKnown, Manager, Countdown):
        return type(value), getattr(value, "value", None)
    if isinstance(value, str | int | float | complex | dict | set | frozenset | type):
        return value
    return type(value), repr(value) if type(value).__module__ == "builtins" else None


def never():
    pass


@pytest.fixture(scope="module")
def unreached():
    table = MethodTable("never")
    table.overlay(never)(lambda: None)
    return Context(table, implicit=True)


@pytest.mark.parametrize("body", BODIES)
def test_programs_do_what_they_do_natively(body, unreached):
    f = program(body)
    assert outcome(lambda: unreached(f)) == outcome(f)


def standing():
    """The builtins that functions of ours stand for."""
    return [each.of for each in current_stack().python.implicit.standing.values()]


SHAPES = [((), {}), ((), {"foo": 1}), ((None,), {"foo": 1}), ((None,) * 9, {})]


def test_calls_of_builtins_that_do_not_fit_have_the_errors_of_the_builtins(unreached):
    def error(native, args, keywords):
        try:
            native(*args, **keywords)
        except TypeError as failure:
            return failure.args
        return None

    natives = unreached(standing)
    assert {print, round, getattr, str.format, object.__delattr__} <= set(natives)
    for native in natives:
        for args, keywords in SHAPES:
            expected = error(native, args, keywords)
            assert unreached(error, native, args, keywords) == expected


def test_code_that_is_dropped_is_not_kept_by_its_rewriting(unreached):
    def dropped():
        made = eval("lambda: 42")
        code = weakref.ref(made.__code__)
        del made
        return code()

    assert unreached(dropped) is None


# ---- what is reached ----------------------------------------------------------------------

CLASSES = [
    *(
        Number,
        Narrow,
        NotKnown,
        Ordered,
        Steps,
        Box,
        OldBox,
        Mapping,
        Delegating,
        Absent,
        Doubling,
        Lazy,
    ),
    *(Meta, Attributes, Hooked, Watched, Truth, Text, Represented, Manager, Countdown, Point),
    *(Numeric, Failing, Told, Parent, Entries, Maker, Making),
]


def functions_of(cls):
    for name, held in vars(cls).items():
        if isinstance(held, property):
            parts = {"fget": held.fget, "fset": held.fset, "fdel": held.fdel}
            yield from ((f"{name}.{p}", f) for p, f in parts.items() if f is not None)
        elif isinstance(held, functools.cached_property):
            yield name, held.func
        elif isinstance(held, types.FunctionType | classmethod | staticmethod):
            yield name, getattr(held, "__func__", held)


FUNCTIONS = {f.__code__: f for cls in CLASSES for _, f in functions_of(cls)}
ARITHMETIC = [f for cls in (Number,) for _, f in functions_of(cls)]


def counting():
    """A table that counts the calls of every function of the classes, and its counts."""
    table, counts = MethodTable("counting"), collections.Counter()
    seen = {id(f): f for cls in CLASSES for _, f in functions_of(cls)}
    for function in seen.values():
        count(table, function, counts)
    return table, counts


def count(table, function, counts):
    @table.overlay(function)
    def counted(*args, **kwargs):
        counts[function.__qualname__] += 1
        return call_next(*args, **kwargs)


TABLE, COUNTS = counting()
REACHING = Context(TABLE, implicit=True)


def natively(f):
    """Calls of the same functions as the profiler sees them."""
    counts, seen = collections.Counter(), {id(f) for cls in CLASSES for _, f in functions_of(cls)}
    by_code = {}
    for cls in CLASSES:
        for _, function in functions_of(cls):
            same = by_code.setdefault(id(function.__code__), [])
            if id(function) in seen and function not in same:
                same.append(function)

    def profile(frame, event, arg):
        if event == "call" and id(frame.f_code) in by_code and frame.f_lasti <= first(frame.f_code):
            counts[named(frame, by_code)] += 1

    sys.setprofile(profile)
    try:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            f()
    finally:
        sys.setprofile(None)
    return counts


def first(code):
    """Where a function is when it starts, also if it is to be a coroutine."""
    return 8 if code.co_flags & 0x80 else 1 << 30


def named(frame, by_code):
    """Functions that share their code are told apart by their names."""
    found = by_code[id(frame.f_code)]
    if len(found) == 1:
        return found[0].__qualname__
    return frame.f_locals["method"].__qualname__


# what is called by C code, and stays outside
BY_C_CODE = ["{Ordered(1): 2}", "[1, 2] < Ordered", "\\n    x = yield"]


@pytest.mark.parametrize("body", [b for b in BODIES if not any(c in b for c in BY_C_CODE)])
def test_every_call_that_the_profiler_sees_is_reached(body):
    f = program(body)
    LOG.clear()
    expected = natively(f)
    LOG.clear()
    COUNTS.clear()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        REACHING(f)
    assert expected == COUNTS


SYNTAX = [
    "Number(1) + 2",
    "Ordered(1) < Ordered(2)",
    "[*Box(1)]",
    "Attributes().half",
    "f'{Text()}'",
    "bool(Truth(True)) and 1 if Truth(True) else 2",
    "with Manager(): pass",
    "Box(1)[0]",
    "for x in Steps(1): pass",
]


@pytest.mark.parametrize("body", SYNTAX)
def test_without_implicit_syntax_reaches_nothing(body):
    f = program(body)
    COUNTS.clear()
    Context(TABLE)(f)
    assert {name for name in COUNTS if not name.endswith(("__init__", "Doubling.__set__"))} == set()
    COUNTS.clear()
    Context(TABLE, implicit=True)(f)
    assert {name for name in COUNTS if not name.endswith("__init__")}


def test_methods_of_the_table_stand_in_for_dunders_and_properties():
    table = MethodTable("t")

    @table.overlay(Number.__add__)
    def add(self: Number, other: int):
        return "added"

    @table.overlay(Attributes.half.fget)
    def half(self: Attributes):
        return "half of", call_next(self)

    def f():
        return Number(1) + 2, (Number(1) + Number(2)).value, Attributes().half

    assert Context(table, implicit=True)(f) == ("added", 3, ("half of", 0.5))
    assert Context(table)(f)[2] == 0.5
    assert f()[2] == 0.5


def test_a_method_that_uses_the_operator_itself_goes_on_below_with_call_next():
    table = MethodTable("t")

    @table.overlay(Number.__add__)
    def add(self: Number, other: object):
        return call_next(self, call_next(self, other))

    f = program("return (Number(1) + 2).value")
    assert Context(table, implicit=True)(f) == 4


def test_what_the_bodies_call_is_overlaid_too():
    table = MethodTable("t")
    seen = []

    @table.overlay(note)
    def noted(*what):
        seen.append(what[0])

    f = program("[*Box(1)]\nwith Manager(): Attributes().half")
    Context(table, implicit=True)(f)
    steps = ["box iter", "len", "next", "next"]
    assert [s for s in seen if s in steps] == ["box iter", "len", "next", "next"]
    assert {"enter", "exit", "half"} <= set(seen)


def test_overlaid_operators_come_before_the_functions_of_the_operands():
    table = MethodTable("t")

    @table.overlay(operator.add)
    def add(a: Number, b: str):
        return "overlaid"

    f = program("return Number(1) + 'x', (Number(1) + 1).value, len(LOG)")
    LOG.clear()
    assert Context(table, implicit=True)(f) == ("overlaid", 2, 1)


def test_the_truth_of_what_an_overlaid_operator_gives_is_asked_in_the_context():
    table, counts = MethodTable("t"), collections.Counter()
    count(table, Truth.__bool__, counts)
    for function in (operator.lt, operator.contains, operator.is_, operator.not_):
        table.overlay(function)(lambda *args: nonoverlay(Truth)(True))
    f = program("x = 3\nif x < 2:\n    return 5 in [], not 5 in [], x is None, not x")
    assert Context(table, implicit=True)(f) == (True, False, True, True)
    assert counts == {"Truth.__bool__": 5}


def test_what_a_class_holds_is_told_its_name_by_methods_of_the_table():
    table = MethodTable("t")
    seen = []

    @table.overlay(Told.__set_name__)
    def set_name(self: Told, owner: type, name: str):
        seen.append((name, list(vars(owner))[-2:]))

    @table.overlay(Parent.__init_subclass__.__func__)
    def init_subclass(cls, tag):
        call_next(cls, tag=tag)
        seen.append(tag)

    f = program("class C(Parent, tag='t'):\n    a = Told()\n    b = Told()\nreturn C")
    made = Context(table, implicit=True)(f)
    assert [x[0] for x in seen] == ["a", "b", "t"]
    assert {type(vars(made)[name]) for name in "ab"} == {Told}
    seen.clear()
    Context(table)(f)
    assert seen == []


def test_a_class_body_runs_in_the_context():
    table = MethodTable("t")
    table.overlay(note)(lambda *what: "noted")
    f = program("class C(metaclass=Maker):\n    a = note(1)\nreturn C.a")
    assert Context(table, implicit=True)(f) == "noted"


def test_a_redefined_special_method_is_seen_at_the_next_call(unreached):
    class Changing:
        def __len__(self):
            return 1

        @property
        def value(self):
            return 1

    def f():
        c = Changing()
        before = len(c), c.value
        Changing.__len__ = lambda self: 2
        Changing.value = property(lambda self: 2)
        after = len(c), c.value
        del Changing.__len__
        return before, after, hasattr(c, "__len__")

    assert unreached(f) == ((1, 1), (2, 2), False)


def test_a_getter_sees_its_caller_and_no_frame_between(unreached):
    class Looking:
        @property
        def caller(self):
            return sys._getframe(1).f_code.co_name

        def __getitem__(self, key):
            return sys._getframe(1).f_code.co_name

    def looks():
        return Looking().caller, Looking()[0]

    assert unreached(looks) == ("looks", "looks")


def test_tracebacks_show_the_lines_of_the_program(unreached):
    class Fails:
        def __add__(self, other):
            raise KeyError("inside")

    def adds():
        return Fails() + 1

    with pytest.raises(KeyError) as caught:
        unreached(adds)
    names = [entry.name for entry in caught.traceback]
    assert [name for name in names if name in ("adds", "__add__")] == ["adds", "__add__"]


def test_errors_of_the_interpreter_have_no_frame_of_ours(unreached):
    def divides():
        return 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        unreached(divides)
    assert caught.traceback[-1].name == "divides"


def test_a_generator_made_in_the_context_keeps_it():
    def g():
        yield Number(1) + 2

    COUNTS.clear()
    made = Context(TABLE, implicit=True)(g)
    next(made)
    assert COUNTS["Number.__add__"] == 1


def test_nested_contexts_take_the_flag_of_the_inner_one():
    f = program("Number(1) + 2")
    inner, outer = Context(MethodTable("i")), Context(TABLE)
    for flag in (False, True):
        COUNTS.clear()
        outer.replace(implicit=not flag)(lambda flag=flag: inner.replace(implicit=flag)(f))
        assert COUNTS["Number.__add__"] == flag


def test_classes_are_as_they_were_afterwards(unreached):
    before = {cls: dict(vars(cls)) for cls in CLASSES}
    for body in BODIES[:40]:
        outcome(lambda body=body: unreached(program(body)))
    assert {cls: dict(vars(cls)) for cls in CLASSES} == before


class Countdown:
    def __iter__(self):
        self.left = 3
        return self

    def __next__(self):
        note("next", self.left)
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


def over_a_variable_that_a_closure_has(x):
    def assign():
        nonlocal x
        x += 1

    return [x + 1 for x in Countdown()], assign(), x


def test_the_variable_of_a_comprehension_may_be_a_closure_s_as_well():
    expected = over_a_variable_that_a_closure_has(1)
    LOG.clear()
    assert (
        Context(MethodTable("never reached"), implicit=True)(over_a_variable_that_a_closure_has, 1)
        == expected
    )
    assert len(LOG) == 4

"""Small programs that each use a construct of Python: differentiated in every way, all agree."""

# as people write them
# ruff: noqa: B006, B007, B023, B905, C408, C417, E731, F841, N805, RUF005, SIM108

import contextlib
import math
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from overlay.interpretations.autodiff import autodiff, derivative, gradient

CONSTRUCTS = {}
ALIASING = {}
"""Programs in which something has several names, or is read later than it is asked for."""


def case(f):
    CONSTRUCTS[f.__name__.rstrip("_")] = f
    return f


def aliasing(f):
    ALIASING[f.__name__] = f
    return f


@case
def list3(x):
    return np.sum(x * np.array([1.0, 2.0, 3.0]))


@case
def list2d(x):
    return np.sum(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) @ x)


@case
def listints(x):
    return np.sum(x[np.array([0, 2, 0])] ** 2)


@case
def comp_arr(x):
    return sum([k * k for k in x])


@case
def comp_range(x):
    return sum([x[i] * i for i in range(3)])


@case
def comp_tuple(x):
    a, b, c = x
    return sum([k * k for k in (a, b, c)])


@case
def gen_arr(x):
    return sum(v * v for v in x)


@case
def gen_zip(x):
    return sum(v * w for v, w in zip(x, x[::-1]))


@case
def append5(x):
    items = [x[0]]
    for i in range(5):
        items.append(np.sin(items[-1]) * x[1] + x[2])
    return items[-1] + sum(items) / len(items)


@case
def append_n(x):
    items = []
    for v in x:
        items.append(v * v)
    return sum(items) * len(items)


@case
def append_long(x):
    items = [x[0]]
    for i in range(300):
        items.append(0.5 * math.sin(items[i]) + x[1])
    return items[-1] + items[7]


@case
def comp_then_array(x):
    return np.sum(np.array([v * 2.0 for v in x]) * x)


@case
def comp_if(x):
    return sum([v * v for v in x if v > 0.5])


@case
def nested_comp(x):
    return np.sum(np.array([[v * w for v in (x[0], x[1])] for w in (x[1], x[2])]))


@case
def slice_write(x):
    v = np.copy(x)
    v[1:-1] = v[:-2] * v[2:]
    return np.sum(v * x)


@case
def slice_write2(x):
    v = x.copy()
    v[0] = v[1] * v[2]
    return np.sum(v * x)


@case
def slice_iadd(x):
    v = np.zeros(5)
    v[1:4] += x
    v[1:4] *= x
    v[0] += x[0]
    return np.sum(v * v)


@case
def view_iadd(x):
    v = np.copy(x)
    w = v[1:]
    w += x[0]
    return np.sum(v * v)


@case
def iadd_arr(x):
    v = x * 1.0
    v += x
    v *= 2.0
    v -= np.sin(x)
    v /= x
    return np.sum(v * v)


@case
def eye(x):
    return np.sum((np.eye(3) * 2 + np.outer(x, x)) @ x)


@case
def full(x):
    return np.sum(np.full(3, 2.5) * x) + np.sum(np.full(3, x[0]) * x)


@case
def linspace(x):
    return np.sum(np.linspace(0.0, 1.0, 3) * x)


@case
def diagk(x):
    return np.linalg.det(np.outer(x, x) + np.diag(np.array([1.0, 2.0, 3.0])))


@case
def newaxis(x):
    return np.sum(x[None, :] * x[:, None] * np.tri(3))


@case
def dm(x):
    q, r = divmod(x[0], 0.3)
    return r * x[1] + q


@case
def with_errstate(x):
    with np.errstate(all="ignore"):
        y = np.log(x[0])
    return y * x[1]


@case
def with_null(x):
    with contextlib.nullcontext(x[1]) as q:
        y = np.log(x[0]) * q
    return y * x[1]


@case
def try_ok(x):
    try:
        y = x[0] * x[1]
    except ValueError:
        y = 0.0
    return y * x[2]


@case
def try_else_finally(x):
    y = 1.0
    try:
        y = x[0] * x[1]
    except (ValueError, TypeError) as error:
        y = 0.0
    else:
        y = y * 2.0
    finally:
        y = y + x[2]
    return y


@case
def try_raise(x):
    try:
        if x[0] > 0.1:
            raise ValueError("no")
        r = x[1]
    except ValueError:
        r = x[1] ** 2 * x[2]
    finally:
        r = r + x[0]
    return r


@case
def try_raise_loop(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.6:
                raise ValueError("no")
            s = s + v
        except ValueError:
            s = s + v * v
    return s


class Poly:
    scale = 2.0

    def __init__(self, c):
        self.c = c

    def __call__(self, t):
        return self.c[0] + self.c[1] * t + self.c[2] * t * t * self.scale

    @property
    def lead(self):
        return self.c[2]

    def shifted(self, by):
        return Poly([self.c[0] + by, *self.c[1:]])

    def __add__(self, o):
        return Poly([a + b for a, b in zip(self.c, o.c)])


@case
def poly(x):
    p = Poly([x[0], x[1], x[2]])
    return p(p(1.5)) * p.lead


@case
def poly_more(x):
    p = Poly([x[0], x[1], x[2]]).shifted(x[0])
    q = p + p
    return q(0.3) * p(0.2)


@dataclass
class Point:
    a: float
    b: float = 1.0

    def norm(self):
        return math.sqrt(self.a * self.a + self.b * self.b)


@case
def dataclass_(x):
    p = Point(x[0], b=x[1])
    q = Point(x[2])
    q.b = q.b * p.a
    q.a += p.b
    return p.norm() * q.norm()


@case
def attr_loop(x):
    p = Point(x[0], x[1])
    for i in range(4):
        p.a = p.a * p.b + x[2]
    return p.norm()


@case
def attr_branch(x):
    p = Point(x[0], x[1])
    if x[2] > 0.7:
        p.a = p.a * 2.0
    else:
        p.b = p.b * x[2]
    return p.norm()


@case
def dict_(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    d["c"] = d["a"] * d["b"]
    return sum(v * v for v in d.values()) + d.get("c", 0.0) + len(d)


@case
def dict_comp(x):
    d = {k: x[i] * x[i] for i, k in enumerate(("a", "b", "c"))}
    return sum(d[k] * (i + 1) for i, k in enumerate(d))


@case
def local_two(x):
    if x[0] > 0.9:
        f = lambda t: t * x[1]
    else:

        def f(t):
            return t * t * x[2]

    return f(x[0]) + f(1.5)


def fib(n, a, b):
    return a if n == 0 else fib(n - 1, b, a + b * a)


@case
def recursion(x):
    return fib(5, x[0], x[1])


@case
def local_rec(x):
    def g(n):
        return x[0] if n == 0 else g(n - 1) * x[1] + x[2]

    return g(3)


@case
def closure_rec(x):
    f = lambda g, n: lambda y: y if n == 0 else g(f(g, n - 1)(y))
    return f(lambda t: t * x[0] + x[1], 3)(x[2])


def star(*args, **kw):
    s = 0.0
    for a in args:
        s = s + a * a
    return s * kw.get("k", 1.0)


@case
def star_args(x):
    t = (x[0], x[1])
    return star(*t, k=x[2]) + star(*[x[2], x[0]], x[1])


@case
def star_dict(x):
    d = {"k": x[1]}
    return star(x[0], **d)


def helper(a, b=2.0, *c, k=1.0):
    s = a * b * k
    for q in c:
        s = s + q * q
    return s


@case
def kwonly(x):
    return helper(x[0], x[1], x[2], x[0] * x[1], k=x[2]) + helper(x[1])


@case
def list_mut(x):
    items = [0.0] * 3
    for i in range(3):
        items[i] = x[i] * x[i]
    items.insert(0, x[0])
    items.extend([x[1]])
    m = items[1:] + [x[2]]
    q = m.pop()
    items.reverse()
    return sum(items) * q + m[-1]


@case
def list_branch(x):
    items = [x[0], x[1]]
    if x[2] > 0.8:
        items[0] = items[1] * x[2]
    return items[0] * items[1]


@case
def list_rows(x):
    matrix = [[x[0], x[1]], [x[1], x[2]]]
    return matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]


@case
def swap(x):
    items = [x[0], x[1], x[2]]
    for i in range(2):
        items[i], items[i + 1] = items[i + 1] * 2.0, items[i]
    return items[0] + 2 * items[1] * items[2]


@case
def loop_break(x):
    s = 0.0
    for v in (x[0], x[1], x[2]):
        if v < 0.5:
            break
        s = s + v * v
    return s


@case
def star_unpack(x):
    a, *b = [x[0], x[1], x[2]]
    return a * b[0] + b[1] * b[1]


@case
def map_(x):
    return sum(map(lambda t: t * t, [x[0], x[1]]))


@case
def minmax_list(x):
    return max([x[0], x[1], x[2]]) * min(x[0] * 2, x[1], x[2])


@case
def any_gen(x):
    return x[0] * 2.0 if any(v > 1.0 for v in x) else x[0] * x[1]


@case
def gen_fun(x):
    def g():
        yield x[0]
        for i in range(2):
            yield x[i] * x[2]

    return sum(g())


@case
def ret_list_helper(x):
    def h(a):
        return [a, a * a]

    u, v = h(x[0])
    return u * v + sum(h(x[1]))


@case
def isinst(x):
    items = [x[0]]
    return x[1] * 2.0 if isinstance(items, list) and not isinstance(x[0], (list, tuple)) else x[2]


@case
def aug_list(x):
    items = [x[0]]
    items += [x[1]]
    items[0] *= x[2]
    return items[0] * items[1]


@case
def enum_list(x):
    s = 0.0
    for i, v in enumerate([x[0], x[1], x[2]]):
        s += v * (i + 1)
    return s


@case
def matrix_build(x):
    matrix = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            matrix[i, j] = x[i] * x[j] + (i == j)
    return np.linalg.det(matrix)


@case
def rows_write(x):
    matrix = np.zeros((3, 3))
    matrix[0] = x
    matrix[:, 1] = x * x
    matrix[1:, 2] += x[1:]
    return np.sum(matrix @ x)


@case
def second_num(x):
    return autodiff(lambda t: t * t * t * x[1], x[0]) * x[2]


@case
def second_arr(x):
    return np.sum(autodiff(lambda y: np.sum(y * y * y), x) * x)


@case
def second_loop(x):
    def f(y):
        s = 0.0
        for i in range(len(y) - 1):
            s = s + y[i] * y[i + 1] ** 2
        return s

    return np.sum(autodiff(f, x) ** 2)


@case
def raise_valid(x):
    if len(x) != 3:
        raise ValueError("bad")
    if x[0] < 0:
        raise ValueError(f"negative {x[0]}")
    assert x[1] > 0
    return x[0] * x[1]


@case
def zip_list_arr(x):
    s = 0.0
    for c, v in zip([1.0, 2.0, 3.0], x):
        s += c * v * v
    return s


@case
def list_times_n(x):
    items = [0.0] * len(x)
    for i in range(len(x)):
        items[i] = x[i] * x[i - 1]
    return sum(items) + items[0] * items[-1]


@case
def rk4(x):
    def f(t, y):
        return [y[1], -x[0] * y[0] - x[1] * y[1]]

    y = [x[2], 0.5]
    h = 0.1
    for i in range(20):
        k1 = f(0, y)
        k2 = f(0, [a + h / 2 * b for a, b in zip(y, k1)])
        y = [a + h * b for a, b in zip(y, k2)]
    return y[0] + y[1]


@case
def rk4_arr(x):
    def f(t, y):
        return np.array([y[1], -x[0] * y[0] - x[1] * y[1]])

    y = np.array([x[2], 0.5])
    h = 0.1
    for i in range(20):
        k1 = f(0, y)
        k2 = f(0, y + h / 2 * k1)
        y = y + h * k2
    return y[0] + y[1]


@case
def layers(x):
    weights = [np.outer(x, x), np.diag(np.array([1.0, 2.0, 3.0])), np.eye(3)]
    h = x
    for weight in weights:
        h = np.tanh(weight @ h)
    return np.sum(h)


@case
def sliding(x):
    v = np.zeros(6)
    for i in range(3):
        v[2 * i : 2 * i + 2] = x[i] * np.array([1.0, 2.0])
    return np.sum(v * v[::-1])


@case
def nested_append(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x[i] * x[j] + (2.0 if i == j else 0.0))
        rows.append(row)
    return np.linalg.det(np.array(rows))


@case
def count_break(x):
    items = []
    for v in x:
        if v > 1.2:
            break
        items.append(v * v)
    return sum(items) + len(items)


@case
def pairs_comp(x):
    return sum(a * b for i, a in enumerate(x) for b in x[:i])


@case
def lam_default(x):
    fs = [lambda t, k=k: t * k for k in (1.0, 2.0, 3.0)]
    return sum(f(v) for f, v in zip(fs, (x[0], x[1], x[2])))


@case
def while_list(x):
    items = [x[0], x[1], x[2]]
    s = 0.0
    while items:
        s = s * 1.5 + items.pop()
    return s


class Base:
    def __init__(self, k):
        self.k = k

    def go(self, v):
        return self.k * v


class Der(Base):
    def __init__(self, k, b):
        super().__init__(k)
        self.b = b

    def go(self, v):
        return super().go(v) + self.b


@case
def inherit(x):
    m = [Der(x[0], x[1]), Base(x[2])]
    v = 1.5
    for items in m:
        v = items.go(v)
    return v * m[0].k


NT = namedtuple("NT", "u v")


@case
def named(x):
    s = NT(x[0], v=x[1])
    for i in range(3):
        s = NT(s.u * s.v, s.v + x[2])
    return s.u + s[1]


@case
def second_mix(x):
    def f(y):
        total = 0.0
        for v in y:
            total += v**3 * x[0]
        return total

    g = autodiff(f, x)
    return g[0] * g[1] + np.sum(g)


@case
def second_matrix(x):
    def f(y):
        return np.sum(np.tanh(np.outer(y, y) @ y))

    return np.sum(autodiff(f, x) * x)


@case
def second_arr_rec(x):
    def f(y):
        u = np.zeros(len(y))
        u[0] = y[0]
        for i in range(1, len(y)):
            u[i] = u[i - 1] * y[i] + math.sin(u[i - 1])
        return u[len(y) - 1]

    return np.sum(autodiff(f, x) ** 2)


@case
def second_two(x):
    a, b = autodiff(lambda u, v: u * u * v + math.exp(u * v), x[0], x[1])
    return a * b + x[2]


@case
def third(x):
    return autodiff(lambda t: autodiff(lambda u: u**4 * x[1], t) * t, x[0])


@case
def second_gradient(x):
    return np.sum(gradient(lambda y: np.sum(np.exp(y) * y))(x)) + derivative(lambda t: t**3)(x[0])


@case
def second_branch(x):
    def f(y):
        return np.sum(y * y * y) if y[0] > 0.9 else np.sum(np.sin(y)) * y[1]

    return np.sum(autodiff(f, x) * x)


@case
def second_poly(x):
    p = Poly([x[0], x[1], x[2]])
    return autodiff(p, 1.5) * autodiff(lambda t: p(t * x[0]), x[1])


@case
def newton_opt(x):
    def loss(t):
        return (t - x[0]) ** 2 * x[1] + t**4

    t = 0.3
    for _ in range(4):
        t = t - autodiff(loss, t) / autodiff(lambda u: autodiff(loss, u), t)
    return t * x[2]


@aliasing
def alias1(x):
    a = [x[0]]
    b = a
    b.append(x[1])
    return sum(a) * a[-1]


@aliasing
def alias2(x):
    def f(items):
        items.append(x[2])
        items[0] = items[0] * 2.0
        return items

    a = [x[0], x[1]]
    b = f(a)
    return a[0] * b[2] + len(a)


def deflt(v, acc=[]):
    return v * 2.0


@aliasing
def mutdef(x):
    return deflt(x[0]) + deflt(x[1])


@aliasing
def alias_loop(x):
    a = [x[0], x[1]]
    b = a
    for i in range(3):
        a = [a[0] * x[2], a[1] + 1.0]
    return b[0] * a[0] + a[1] * b[1]


@aliasing
def alias_loop2(x):
    a = [x[0], x[1]]
    b = a
    for i in range(30):
        a[0] = a[0] * 0.9 + x[2]
        b[1] = b[1] * 0.5 + a[0]
    return a[0] * b[1]


@aliasing
def alias_branch(x):
    a = [x[0]]
    b = [x[1]]
    c = a if x[2] > 0.8 else b
    return c[0] * a[0] + b[0]


@aliasing
def alias_branch_w(x):
    a = [x[0]]
    b = [x[1]]
    c = a if x[2] > 0.8 else b
    c[0] = c[0] * 2.0
    return c[0] * a[0] + b[0]


@aliasing
def branch_new(x):
    if x[2] > 0.8:
        c = [x[0], x[1]]
    else:
        c = [x[1], x[2]]
    c[0] = c[0] * 2.0
    c.append(x[0])
    return c[0] * c[1] * c[2]


@aliasing
def branch_two_names(x):
    if x[2] > 0.8:
        c = [x[0], x[1]]
        d = c
    else:
        c = [x[1], x[2]]
        d = c
    c[0] = c[0] * 2.0
    return d[0] * c[1]


@aliasing
def branch_two_names2(x):
    if x[2] > 0.8:
        c = [x[0], x[1]]
        d = [x[0], x[1]]
    else:
        c = [x[1], x[2]]
        d = c
    c[0] = c[0] * 2.0
    return d[0] * c[1]


@aliasing
def iter_twice(x):
    z = zip([x[0], x[1]], [x[1], x[2]])
    s = 0.0
    for a, b in z:
        s += a * b
    for a, b in z:
        s += a
    return s


@aliasing
def gen_twice(x):
    g = (v * v for v in [x[0], x[1]])
    s = sum(g)
    return s + sum(g) + x[2]


@aliasing
def gen_lazy(x):
    items = [x[0]]
    g = (v * v for v in items)
    items.append(x[1])
    return sum(g)


@aliasing
def gen_lazy2(x):
    k = x[0]
    g = (v * k for v in [x[1], x[2]])
    k = x[2] * 2
    return sum(g)


@aliasing
def map_lazy(x):
    items = [x[0]]
    g = map(lambda v: v * v, items)
    items.append(x[1])
    return sum(g)


@aliasing
def enum_mut(x):
    items = [x[0], x[1], x[2]]
    for i, v in enumerate(items):
        if i < 2:
            items[i + 1] = items[i + 1] + v * v
    return items[2]


@aliasing
def for_append(x):
    items = [x[0], x[1]]
    s = 0.0
    for v in items:
        if len(items) < 4:
            items.append(v * x[2])
        s += v
    return s


@aliasing
def late_closure(x):
    fs = []
    for k in (1.0, 2.0, 3.0):
        fs.append(lambda t: t * k)
    return fs[0](x[0]) + fs[1](x[1])


@aliasing
def late_closure2(x):
    k = x[0]
    f = lambda t: t * k
    k = x[1] * 3
    return f(x[2])


@aliasing
def nested_alias(x):
    row = [x[0], x[1]]
    m = [row, row]
    m[0][0] = m[0][0] * 2
    return m[1][0] * m[0][1]


@aliasing
def mult_alias(x):
    m = [[x[0], x[1]]] * 2
    m[0][0] = x[2]
    return m[1][0] * m[0][1]


@aliasing
def dict_alias(x):
    d = {"a": [x[0]], "b": [x[1]]}
    d["a"].append(x[2])
    e = dict(d)
    e["a"][0] = e["a"][0] * 3
    return d["a"][0] * d["a"][1] + e["b"][0]


@dataclass
class Node:
    v: float
    kids: list = field(default_factory=list)

    def total(self):
        return self.v + sum(k.total() for k in self.kids)


@aliasing
def tree(x):
    r = Node(x[0])
    k = Node(x[1] * x[0])
    r.kids.append(k)
    k.kids.append(Node(x[2]))
    k.v = k.v * 2
    return r.total() * k.total()


@aliasing
def obj_loop(x):
    ps = [Node(x[0]), Node(x[1])]
    for t in range(20):
        for p in ps:
            p.v = p.v * 0.9 + x[2] * ps[0].v * 0.1
    return ps[0].v * ps[1].v


@aliasing
def obj_while(x):
    p = Node(x[0])
    n = 0
    while p.v < 8.0:
        p.v = p.v * 1.5 + x[1]
        n += 1
    return p.v * x[2] + n


@aliasing
def arr_in_list(x):
    items = [np.copy(x)]
    m = items[0]
    m[0] = m[1] * m[2]
    return np.sum(items[0] * x)


@aliasing
def arr_view_list(x):
    u = np.copy(x)
    items = [u[:2], u[1:]]
    u[1] = x[0] * x[2]
    return np.sum(u) + x[0]


@aliasing
def slices_alias(x):
    u = np.zeros(4)
    v = u[1:3]
    v[0] = x[0]
    v += x[1]
    u[2] *= x[2]
    return np.sum(u * u)


@aliasing
def ret_branch_list(x):
    def f(t):
        if t > 0.8:
            return [t, t * t]
        return [t * t * t, 1.0]

    a = f(x[0])
    b = f(x[1])
    return a[0] * b[1] + b[0] * a[1]


@aliasing
def break_struct(x):
    items = []
    for i in range(5):
        if i * x[0] > 1.5:
            break
        items.append(x[1] * i + x[2])
    return sum(items) * 2 + len(items)


@aliasing
def cont_struct(x):
    d = {"s": 0.0, "n": 0}
    for v in x:
        if v < 0.6:
            continue
        d["s"] = d["s"] + v * v
        d["n"] += 1
    return d["s"] / d["n"]


@aliasing
def negidx(x):
    items = [v * v for v in x]
    s = 0.0
    for i in range(len(items)):
        s += items[i - 1] * items[-i]
    return s


@aliasing
def stack_pop(x):
    st = [x[0]]
    out = 0.0
    for i in range(40):
        st.append(st[-1] * 0.5 + x[1])
        if i % 3 == 2:
            out += st.pop()
    return out + len(st) * x[2]


@aliasing
def try_nested(x):
    s = 0.0
    for v in x:
        try:
            try:
                if v > 1.0:
                    raise KeyError("a")
                s += v
            except ValueError:
                s += 100.0
            finally:
                s += v * v
        except KeyError:
            s += v**3
    return s


@aliasing
def try_else_ret(x):
    def f(t):
        try:
            if t < 0.5:
                raise ValueError
        except ValueError:
            return t * t
        else:
            return t * 3
        finally:
            pass

    return f(x[0]) * f(x[1]) + f(x[2])


@aliasing
def exc_in_callee(x):
    def f(t):
        if t < 0.5:
            raise ValueError
        return t * 3

    try:
        a = f(x[0])
    except ValueError:
        a = x[1]
    return a * x[2]


@aliasing
def for_else(x):
    items = [x[0], x[1], x[2]]
    for v in items:
        if v > 5:
            r = v
            break
    else:
        r = items[0] * items[1]
    return r * x[2]


@aliasing
def ifexp_list(x):
    items = [x[0], x[1]] if x[2] > 0.8 else [x[1], x[2], x[0]]
    return items[0] * items[1]


@aliasing
def sum_start(x):
    return sum([x[0], x[1]], x[2]) * sum((v for v in x), 1.0)


@aliasing
def zip3(x):
    return sum(a * b * c for a, b, c in zip(x, x[1:], [1.0, 2.0]))


@aliasing
def swap_objs(x):
    p = Node(x[0])
    q = Node(x[1])
    for i in range(3):
        p, q = q, p
        p.v = p.v * 2 + q.v * x[2]
    return p.v - q.v * 3


@aliasing
def int_list(x):
    idx = [0, 2, 1]
    idx.append(0)
    s = 0.0
    for i in range(4):
        s += x[idx[i]] * (i + 1)
    return s


@aliasing
def int_build(x):
    idx = []
    for i in range(30):
        idx.append((i * 7) % 3)
    s = 0.0
    for i in range(30):
        s += x[idx[i]] * x[idx[29 - i]]
    return s


@aliasing
def mixed_list(x):
    items = [1]
    for i in range(30):
        items.append(items[-1] * 0.5 + x[i % 3])
    return items[-1] * items[3]


@aliasing
def cond_float(x):
    items = [0] * 30
    for i in range(30):
        if x[i % 3] > 0.7:
            items[i] = x[i % 3] * i
    return sum(items)


@aliasing
def setslice(x):
    items = [0.0] * 4
    items[1:3] = [x[0], x[1]]
    del items[0]
    return items[0] * items[1] + items[2] + x[2]


@aliasing
def inplace_mul(x):
    items = [x[0], x[1]]
    m = items
    items *= 2
    return sum(m) * len(items)


@aliasing
def plus_copy(x):
    items = [x[0], x[1]]
    m = items
    items = items + [x[2]]
    return sum(m) * len(m) + sum(items)


@aliasing
def str_keys(x):
    p = {"a": x[0]}
    for k in ("b", "c"):
        p[k] = p["a"] * (2.0 if k == "b" else x[1])
    return sum(p.values()) + (x[2] if "b" in p else 0.0)


@aliasing
def kwcall(x):
    def f(a, *, b, c=2.0):
        return a * b + c

    return f(x[0], b=x[1]) + f(b=x[2], a=1.0)


@aliasing
def varkw(x):
    def f(**k):
        return k["a"] * k["b"]

    d = dict(a=x[0])
    return f(b=x[1], **d)


@aliasing
def static(x):
    class C:
        @staticmethod
        def m(t):
            return t * t

        @classmethod
        def mk(cls, t):
            return t * 3

    return C.m(x[0]) * C.mk(x[1]) + x[2]


class V2:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(s, o):
        return V2(s.a + o.a, s.b + o.b)

    def __mul__(s, k):
        return V2(s.a * k, s.b * k)

    __rmul__ = __mul__

    def __sub__(s, o):
        return s + (-1.0) * o

    def __getitem__(s, i):
        return s.a if i == 0 else s.b

    def __len__(s):
        return 2

    def __iter__(s):
        yield s.a
        yield s.b

    def __eq__(s, o):
        return True

    def __neg__(s):
        return V2(-s.a, -s.b)

    def __abs__(s):
        return math.sqrt(s.a**2 + s.b**2)


@aliasing
def vec2(x):
    u = V2(x[0], x[1])
    v = 2.0 * u - V2(x[2], 1.0) * x[0]
    u += v
    return abs(u) * v[1] + sum(-v) + len(u)


@aliasing
def vec_loop(x):
    p = V2(x[0], x[1])
    v = V2(x[2], 0.1)
    for i in range(50):
        p, v = p + v * 0.01, v - p * 0.01
    return abs(p)

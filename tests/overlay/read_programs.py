"""Small functions, one for each kind of statement, that are read on each version."""

import operator
from contextlib import nullcontext


def loops(xs, n):
    total = 0
    for i, x in enumerate(xs):
        if x:
            continue
        total += i * x
    else:
        total -= 1
    while n > 0:
        n = n - 1
        if n == 3:
            break
    else:
        n = abs(n)
    return total, n


def handles(f, x):
    try:
        y = f(x)
    except (ValueError, KeyError) as error:
        y = str(error)
    except TypeError:
        raise RuntimeError("no") from None
    else:
        y = y + 1
    finally:
        print(y)
    return y


def enters(f):
    with nullcontext(f) as first, open(f) as second:
        first.close(second)
    with f:
        len(f)
    return f


async def awaits(x):
    async with x as y:
        await y.z(1)
    async for item in x:
        print(item)
    return [await i async for i in x]


def comprehends(xs):
    pairs = {x: x * 2 for x in xs}
    squares = [x * x for x in xs if x > 1]
    kinds = {type(x) for x in xs}
    return pairs, squares, kinds


def of_generators(xs):
    print(sum(abs(x) for x in xs))
    return all(x > 1 for x in xs), any(repr(x) for x in xs), tuple(-x for x in xs)


def collects(xs):
    return list(abs(x) for x in xs), set(abs(x) for x in xs)  # noqa: C400, C401


def matches(x):
    match x:
        case 0 | 1:
            return abs(x)
        case [first, *_]:
            return len(first)
        case {"key": value}:
            return repr(value)
        case complex(real=r):
            return round(r)
        case None:
            return bool(x)
    return x


def formats(x, y):
    return f"{x} and {y!r:>{x}} {y:.2f}"


def calls(f, a, k):
    f(*a)
    f(*a, **k)
    f(1, *a, x=2)
    f(1, x=2, y=a)
    f(**k)
    f((1, 2), [3, 4])
    return f.method(a)(k)


def encloses(x):
    count = 0

    def inner(y=1, *, z=2):
        nonlocal count
        count += y
        return x + z

    return inner(3), lambda: inner


def classes(base):
    class Inner(base):
        value = abs(-1)

        def method(self):
            return super().method()

    return Inner()


def decorates(f):
    @f
    @operator.itemgetter(1)
    def inner():
        return 1

    return inner


def names(x):
    if (y := len(x)) > 3:
        return y
    return 0 < y <= 2 != x


GLOBAL = 1


def globals_too(x):
    global GLOBAL
    GLOBAL += x
    del x
    return GLOBAL


def items(x, i):
    x[i] += 1
    x.a = x[1:2], x[i:], x[::2], x[i, 0], x[-1]
    x[1:3] = i
    del x[i], x.b
    x.c -= i
    return ~x @ i // -i


def generates(xs):
    got = yield 1
    yield from xs
    return got


def tests(x, y):
    assert x, "text"
    if x is None or y is not None:
        return not x
    return x in y and y not in x


def unpacks(x):
    a, (b, *c) = x
    (a, b) = b, a
    return [*a, *b], {**c, "d": 1}


def imports():
    import math
    from os.path import join as j

    return math.sin(1.0), j("a", "b")

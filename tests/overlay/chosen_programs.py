"""Programs that call functions which they choose when they run, from variables and containers."""

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any


def up(x):
    return x + 1.0


def down(x):
    return x - 1.0


def tripled(x):
    return 3.0 * x


def halved(x):
    return 0.5 * x


@dataclass
class Pair:
    first: Any
    second: Any
    scale: float = 1.0


@dataclass(frozen=True)
class FrozenPair:
    first: Any
    second: Any


Named = namedtuple("Named", "first second")

PYTHON, NATIVE, MIXED = (up, down), (math.sin, math.cos), (up, math.sin)
LISTED, LISTED_NATIVE = [up, down], [math.sin, math.cos]
NUMBERED, LETTERED = {0: up, 1: math.sin}, {"a": math.sin, "b": math.cos}
NAMED = Named(math.sin, up)
HELD, FROZEN = Pair(math.sin, up, 2.0), FrozenPair(math.sin, up)
SCALED = ((math.sin, 2.0), (math.cos, 3.0))
NESTED = {"trigonometry": {"sine": math.sin, "cosine": math.cos}, "steps": [up, down]}


def by_branch(k, x):
    f = math.sin if k else math.cos
    return f(x) + f(x + 1.0)


def by_branch_of_both_kinds(k, x):
    f = up if k else math.sin
    return f(x)


def in_a_loop(k, x):
    f = math.sin
    for i in range(3):
        x = f(x)
        f = up if i == k else math.sin
    return x


def in_a_tuple(k, x):
    return PYTHON[k](x)


def in_a_tuple_of_numbas(k, x):
    return NATIVE[k](x) + NATIVE[-k](x)


def in_a_mixed_tuple(k, x):
    return MIXED[k](x)


def in_a_tuple_made_there(k, x):
    functions = (math.sin, math.cos, up)
    return functions[k](x) + (up, down)[k](x=x)


def in_a_list(k, x):
    return LISTED[k](x) + len(LISTED)


def in_a_list_made_there(k, x):
    functions = [math.sin, up]
    functions.append(math.sin)
    return functions[k](x) + functions[-1](x)


def unpacked_from_a_list(k, x):
    first, second = LISTED_NATIVE
    return first(x) - second(x)


def in_a_dict(k, x):
    return NUMBERED[k](x) + NUMBERED[1](x)


def in_a_dict_by_text(k, x):
    return LETTERED["a" if k else "b"](x) + LETTERED["ab"[k]](x)


def in_a_dict_or_not(k, x):
    found = NUMBERED.get(k + 1, math.cos)(x)
    return found + NUMBERED[k + 1](x) if k + 1 in NUMBERED else found


def in_a_dict_made_there(k, x):
    return {0: math.sin, 1: up}[k](x)


def over_a_dict(k, x):
    total = 0.0
    for number, f in NUMBERED.items():
        total += f(x) * number
    for f in LETTERED.values():
        total += f(x)
    for number in NUMBERED:
        total += number
    return total


def over_a_tuple(k, x):
    total = 0.0
    for f in MIXED:
        total += f(x)
    for i, f in enumerate(NATIVE):
        total += f(x) * i
    return total


def over_a_list(k, x):
    return sum([f(x) for f in LISTED_NATIVE])


def beside_numbers(k, x):
    f, scale = SCALED[k]
    return f(x) * scale


def in_nested_containers(k, x):
    return NESTED["trigonometry"]["sine"](x) + NESTED["steps"][k](x)


def in_a_named_tuple(k, x):
    return NAMED.first(x) + NAMED[k](x)


def in_a_named_tuple_made_there(k, x):
    pair = Named(math.sin, up)
    return pair.first(x) + pair[k](x)


def in_a_dataclass(k, x):
    return HELD.first(x) * HELD.scale + FROZEN.second(x)


def by_default(k, x, f=math.sin, functions=(math.sin, up), listed=[up, math.sin]):  # noqa: B006
    return f(x) + functions[k](x) + listed[k](x)


def by_default_of_a_callee(k, x):
    return by_default(k, x)


def applied(f, x):
    return f(x)


def handed_on(k, x):
    f = NATIVE[k]
    return applied(f, x) + applied(PYTHON[k], x)


def chosen(k):
    return math.sin if k else up


def got(k, x):
    return chosen(k)(x)


def in_a_closure(k, x):
    f = MIXED[k]

    def inner(y):
        return f(y) + NATIVE[k](y)

    return inner(x)


def among_lambdas(k, x):
    return (lambda y: math.sin(y), lambda y: up(y))[k](x)


def among_tuples(k, x):
    return (NATIVE if k else (up, down))[k](x)


def by_star(k, x):
    args = (x,)
    return MIXED[k](*args)


def countdown(k, x):
    return x if k < 1 else STEPS[k % 2](k - 1, x)


STEPS = (countdown, lambda k, x: up(x))


def by_identity(k, x):
    f = PYTHON[k]
    found = 1.0 if f is up else f(x)
    if NATIVE[k] is not math.sin:
        found += 2.0
    if PYTHON[0] is up and f is not None and math.cos is not math.sin:
        found += 4.0
    return found


class Tables:
    functions = (math.sin, up)
    numbered = {0: up, 1: math.sin}  # noqa: RUF012


def in_a_class(k, x):
    return Tables.functions[k](x) + Tables.numbered[k](x)


WAYS = [
    by_identity,
    in_a_class,
    by_branch,
    by_branch_of_both_kinds,
    in_a_loop,
    in_a_tuple,
    in_a_tuple_of_numbas,
    in_a_mixed_tuple,
    in_a_tuple_made_there,
    in_a_list,
    in_a_list_made_there,
    unpacked_from_a_list,
    in_a_dict,
    in_a_dict_by_text,
    in_a_dict_or_not,
    in_a_dict_made_there,
    over_a_dict,
    over_a_tuple,
    over_a_list,
    beside_numbers,
    in_nested_containers,
    in_a_named_tuple,
    in_a_named_tuple_made_there,
    in_a_dataclass,
    by_default,
    by_default_of_a_callee,
    handed_on,
    got,
    in_a_closure,
    among_lambdas,
    among_tuples,
    by_star,
    countdown,
]

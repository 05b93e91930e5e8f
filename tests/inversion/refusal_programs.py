"""Programs that are refused, one for each site that refuses programs, each with its remedy."""

# ruff: noqa: B905, C406, F507, F841, RET504, RUF059, UP030, UP031, UP032

from __future__ import annotations

import functools
import itertools
import math
import operator
import random
import struct
from dataclasses import dataclass

import numpy as np
from scipy import special

from inversion import invert
from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import (
    autodiff,
    derivative,
    differentiation,
    jvp,
    partials_of,
)
from primitives import Integers, Positive, relation, relation_of
from tests.inversion.refusals import refusal, remedy

F, Z = float, np.zeros
OVERLAID = Context(MethodTable("without methods"))


# ---- statements -------------------------------------------------------------------------------


class Pair:
    """A pair of numbers."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def total(self):
        return self.x + self.y


@refusal("lifted_statements._made: a class statement", F)
def class_within(x):
    class Inner:  # here
        pass

    return x


@remedy(2.0)
def class_outside(x):
    return Pair(x, 1.0).total()


@refusal(
    "lifted_statements.StatementCall._unpacking: a call with unpacked arguments whose number "
    "depends on the arguments",
    F,
    int,
)
def unpacked_range(x, n):
    return x + largest(*range(n))  # here


def largest(*numbers):
    return max(numbers)


@remedy(2.0, 3)
def arguments_given(x, n):
    return x + largest(0, 1, n)


@refusal(
    "lifted_statements.StatementCall._entered: with, a manager that may change more than a setting",
    F,
)
def managed(x):
    with LOCK:  # here
        return x + 1.0


class Lock:
    """A context manager with an effect."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


LOCK = Lock()


@remedy(2.0)
def managed_within(x):
    with Lock():
        return x + 1.0


@refusal("lifted_statements.StatementCall.items_of: its items", int, context=OVERLAID)
def items_of_itself(n):
    if n < 1:
        return 0, 1
    a, b = items_of_itself(n - 1)  # here
    return b, a + b


@remedy(5, context=OVERLAID)
def items_in_a_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


@refusal("lifted_statements.StatementCall.iterated: loop over {}", F)
def looped_over_a_number(x):
    total = 0.0
    for i in x:  # here
        total += i
    return total


@remedy(2.0)
def looped_over_items(x):
    total = 0.0
    for i in (x, 1.0):
        total += i
    return total


@refusal("lifted_statements.StatementCall._used_up: an iterator that is used again", F)
def gone_through_twice(x):
    pairs = zip((1.0, 2.0), (x, 3.0))
    total = 0.0
    for a, b in pairs:
        total += a * b
    for a, _ in pairs:  # here
        total += a
    return total


@remedy(2.0)
def gone_through_a_tuple(x):
    pairs = tuple(zip((1.0, 2.0), (x, 3.0)))
    total = 0.0
    for a, b in pairs:
        total += a * b
    for a, _ in pairs:
        total += a
    return total


@refusal("lifted_statements.StatementCall.outer: the name {}, which is not defined", F)
def undefined(x):
    return x + not_defined  # noqa: F821  # here


@remedy(2.0)
def defined(x):
    return x + HALF


HALF = 0.5


@refusal("lifted_statements.StatementCall.other: _unread", F)
def to_a_global(x):
    global assigned
    assigned = x  # here
    return x


@remedy(2.0)
def to_a_local(x):
    assigned = x
    return assigned


@refusal("lifted_statements._unpacked_value: {} are unpacked into {}", F)
def too_many(x):
    a, b = (x, x, 1.0)  # here
    return a + b


@remedy(2.0)
def as_many(x):
    a, b, c = (x, x, 1.0)
    return a + b + c


@refusal(
    "lifted_statements._starred: unpacking with a star of a sequence of unknown length", F, int
)
def starred_range(x, n):
    first, *rest = range(n)  # here
    return x + first


@remedy(2.0, 3)
def cut_items(x, n):
    numbers = (1, n, 3)
    return x + numbers[0]


@refusal("lifted_statements._starred: too few items to unpack", F)
def too_few(x):
    a, b, *c = (x,)  # here
    return a + b


@remedy(2.0)
def enough(x):
    a, b, *c = (x, 1.0)
    return a + b


# ---- values -----------------------------------------------------------------------------------


@refusal(
    "lifted_values.plain: {} that depends on the arguments is used where a constant is needed", F
)
def by_a_varying_sign(x):
    return sorted((1.0, 2.0), reverse=x > 0.0)[0] + x  # here


@remedy(2.0)
def by_a_branch(x):
    return (2.0 if x > 0.0 else 1.0) + x


@refusal("lifted_values.read: not_set", F)
def set_in_one_branch(x):
    if x > 0.0:
        y = 2.0
    return x * y  # here


@remedy(2.0)
def set_before(x):
    y = 1.0
    if x > 0.0:
        y = 2.0
    return x * y


@refusal("lifted_values.unpacked: unpacking of {} into {}", F, int)
def range_taken_apart(x, n):
    a, b = range(n)  # here
    return x + a + b


@remedy(2.0, 3)
def items_taken_apart(x, n):
    a, b = (1, n)
    return x + a + b


@refusal("lifted_values.attribute_of: cannot invert the attribute {} of {}", F)
def attribute_of_number(x):
    return x.real_part  # here


@remedy(2.0)
def function_of_it(x):
    return abs(x)


@refusal("lifted_values.function_in: cannot invert a call of {}", F)
def called_number(x):
    return x(2.0)  # here


@remedy(2.0)
def multiplied(x):
    return x * 2.0


@dataclass
class Point:
    """A record."""

    x: float
    y: float


@refusal("lifted_values.record: cannot call {} like this: its fields are {}", F)
def record_of_three(x):
    return Point(x, x, x).x  # here


@remedy(2.0)
def record_of_two(x):
    return Point(x, 3.0).x


@refusal("lifted_values.range_of: range of these arguments", F)
def range_of_a_tuple(x):
    for _ in range((1, 2)):  # here
        x += 1.0
    return x


@remedy(2.0)
def range_of_numbers(x):
    for _ in range(1, 2):
        x += 1.0
    return x


# ---- instances of classes -----------------------------------------------------------------------


class Slotted:
    """A class that sets attributes in its own way."""

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Computed:
    """A class with a computed attribute, by a descriptor."""

    def __init__(self, x):
        self.x = x

    class Doubled:
        def __get__(self, owner, cls=None):
            return 2.0 * owner.x

    doubled = Doubled()

    @property
    def tripled(self):
        return 3.0 * self.x


class Held:
    """A class with a read-only property, and a method that calls one of its base class."""

    def __init__(self, x):
        self.x = x

    @property
    def half(self):
        return self.x / 2.0

    def above(self):
        return super().missing()  # here


class Scaled(Pair):
    """A subclass."""

    def total(self):
        return 2.0 * super().total()  # here


class Empty:
    """An empty class."""


@refusal("class_instances._instance: an instance of {}, which defines {}", F)
def with_setattr(x):
    return Slotted().x + x  # here


@remedy(2.0)
def with_init(x):
    return Pair(x, 1.0).x + x


@refusal("class_instances._instance: {} takes no arguments", F)
def arguments_of_empty(x):
    return Empty(x).x  # here


@remedy(2.0)
def arguments_of_pair(x):
    return Pair(x, 1.0).x


@refusal("class_instances.get_attribute: cannot invert the attribute {} of {}", F)
def missing_attribute(x):
    return Pair(x, 1.0).z  # here


@remedy(2.0)
def attribute_set_before(x):
    pair = Pair(x, 1.0)
    pair.z = 2.0 * x
    return pair.z


@refusal("class_instances._bound: the attribute {} of {}, which is computed", F)
def descriptor(x):
    return Computed(x).doubled  # here


@remedy(2.0)
def with_property(x):
    return Computed(x).tripled


@refusal("class_instances.set_attribute: assignment to the attribute {} of {}", F)
def set_outside(x):
    OUTSIDE.x = x  # here
    return OUTSIDE.x


OUTSIDE = Pair(1.0, 2.0)


@remedy(2.0)
def set_inside(x):
    inside = Pair(1.0, 2.0)
    inside.x = x
    return inside.x


@refusal("class_instances.set_attribute: assignment to {}, which is computed or frozen", F)
def set_computed(x):
    held = Held(1.0)
    held.half = x  # here
    return held.x


@remedy(2.0)
def set_anew(x):
    held = Held(2.0 * x)
    return held.x


@refusal("class_instances.attribute_of_super: super() of what the function did not make", F)
def super_of_outside(x):
    return x + OUTSIDE_SCALED.total()


@remedy(2.0)
def super_of_inside(x):
    return x + Scaled(1.0, 2.0).total()


@refusal("class_instances.attribute_of_super: the attribute {} of super(), which is not there", F)
def missing_above(x):
    return Held(x).above()


@remedy(2.0)
def found_above(x):
    return Scaled(x, 1.0).total()


OUTSIDE_SCALED = Scaled(1.0, 2.0)

# ---- containers ---------------------------------------------------------------------------------


@refusal("container_calls.container_call: assignment to an item of {}", F)
def item_of_a_number_set(x):
    x[0] = 1.0  # here
    return x


@remedy(2.0)
def item_of_a_list_set(x):
    xs = [x, x]
    xs[0] = 1.0
    return xs


@refusal("container_calls._method: {} of {} raises {}", F)
def popped_of_empty(x):
    xs = []
    return x + xs.pop()  # here


@remedy(2.0)
def popped_of_one(x):
    xs = [1.0]
    return x + xs.pop()


@refusal("container_calls._by_role: all items of {}", F, int)
def extended_by_a_range(x, n):
    xs = [x]
    xs.extend(range(n))  # here
    return xs[0]


@remedy(2.0, 3)
def extended_by_items(x, n):
    xs = [x]
    xs.extend((1.0, float(n)))
    return xs[0] + xs[2]


@refusal("container_calls._varying_key: {} of a dict by a key that depends on the arguments", int)
def popped_by_a_key(n):
    table = {1: 2.0, 2: 5.0}
    return table.pop(n)  # here


@remedy(2)
def read_by_a_key(n):
    table = {1: 2.0, 2: 5.0}
    return table.get(n, 0.0)


@refusal("container_calls._get: item {} of {} of {}", F)
def beyond_the_end(x):
    return [x, 1.0][2]  # here


@remedy(2.0)
def within_the_list(x):
    return [x, 1.0][0]


@refusal("container_calls._get_of_dict: the key {} is not in a dict", F)
def missing_key(x):
    return {"a": x}["b"]  # here


@remedy(2.0)
def key_that_is(x):
    return {"a": x}["a"]


ROW = [1.0, 2.0]


@refusal("container_calls._set: assignment to an item of what the function did not make", F)
def item_outside_set(x):
    ROW[0] = x  # here
    return ROW[0]


@remedy(2.0)
def item_of_a_copy_set(x):
    row = list(ROW)
    row[0] = x
    return row[0]


@refusal("container_calls._set: assignment of unknown length to a slice", F, int)
def slice_set_to_a_range(x, n):
    row = [x, 1.0]
    row[1:] = range(n)  # here
    return row[0]


@remedy(2.0, 3)
def slice_set_to_items(x, n):
    row = [x, 1.0]
    row[1:] = (1.0, float(n))
    return row


@refusal("container_calls._set: assignment to an item: {}", F)
def set_beyond_the_end(x):
    row = [x, 1.0]
    row[5] = 2.0  # here
    return row[0]


@remedy(2.0)
def set_within(x):
    row = [x, 1.0]
    row[1] = 2.0
    return row[0]


@refusal("container_calls._delete: del of an item of what the function did not make", F)
def item_outside_deleted(x):
    del ROW[0]  # here
    return x


@remedy(2.0)
def item_of_a_copy_deleted(x):
    row = list(ROW)
    del row[0]
    return x + row[0]


@refusal("container_calls._delete: del of an item that is not there", F)
def missing_item_deleted(x):
    row = [x]
    del row[3]  # here
    return row[0]


@remedy(2.0)
def item_deleted(x):
    row = [x, 1.0]
    del row[1]
    return row[0]


@refusal("container_calls._remove: remove of an item that depends on the arguments", F)
def varying_item_removed(x):
    row = [1.0, 2.0, x]
    row.remove(x)  # here
    return row[0]


@remedy(2.0)
def rest_written_with_if(x):
    row = [2.0, x] if x == 1.0 else [1.0, x]
    return row[0] + row[1]


@refusal("container_calls._remove: remove of an item that is not there", F)
def missing_item_removed(x):
    row = [1.0, 2.0]
    row.remove(3.0)  # here
    return row[0] + x


@remedy(2.0)
def known_item_removed(x):
    row = [1.0, 2.0]
    row.remove(1.0)
    return row[0] + x


# ---- objects ------------------------------------------------------------------------------------


@refusal("heap.contents_of: {} is used that was made on another execution path", F, int)
def list_of_calls(x, n):
    return kept_list(x, n)[0]  # here


def kept_list(x, n):
    return [x] if n < 1 else kept_list(2.0 * x, n - 1)


@remedy(2.0, 3)
def tuple_of_calls(x, n):
    return kept_tuple(x, n)[0]


def kept_tuple(x, n):
    return (x,) if n < 1 else kept_tuple(2.0 * x, n - 1)


@refusal("heap.change: {} is changed that may be one of several, or has several names", F)
def one_or_another(x):
    one, other = [x], [2.0]
    row = one if x > 0.0 else other
    row.append(x)  # here
    return one[0] + row[-1]


@remedy(2.0)
def one_or_another_copied(x):
    one, other = [x], [2.0]
    row = list(one if x > 0.0 else other)
    row.append(x)
    return one[0] + row[-1]


@refusal("heap.frozen: cannot invert {} that contains itself", F)  # here
def holding_itself(x):
    row = [x]
    row.append(row)
    return row


@remedy(2.0)
def holding_a_copy(x):
    row = [x]
    row.append(list(row))
    return row


# ---- iterables ----------------------------------------------------------------------------------


@refusal("iterable_calls.key_of: a key or an index that depends on the arguments", F)
def varying_key(x):
    return len({x: 1.0}) + x  # here


@remedy(2.0)
def known_keys(x):
    return len({0.0: 1.0} if x > 0.0 else {1.0: 1.0}) + x


@refusal("iterable_calls.mapping_of: a mapping made of {}", F)
def mapping_of_a_number(x):
    return dict(x)["a"]  # here


@remedy(2.0)
def mapping_of_pairs(x):
    return dict((("a", x),))["a"]


@refusal("iterable_calls.set_of: a set of items that depend on the arguments", F)
def varying_set(x):
    return len({x, 1.0}) + x  # here


@remedy(2.0)
def varying_tuple(x):
    return len((x, 1.0)) + x


@refusal("iterable_calls._moved.found: {}: {}", F)
def sliced_backwards(x):
    return sum(itertools.islice((x, 1.0), -1))  # here


@remedy(2.0)
def sliced_forwards(x):
    return sum(itertools.islice((x, 1.0), 2))


@refusal("iterable_calls._enumerate: enumerate from a number that depends on the arguments", F, int)
def counted_from(x, n):
    total = x
    for i, item in enumerate((x, 1.0), n):  # here
        total += i * item
    return total


@remedy(2.0, 3)
def counted_from_0(x, n):
    total = x
    for i, item in enumerate((x, 1.0)):
        total += (n + i) * item
    return total


@refusal("iterable_calls._next: next of an iterator that is at its end", F)
def next_of_none(x):
    return x + next(iter(()))  # here


@remedy(2.0)
def next_of_one(x):
    return x + next(iter((1.0,)))


@refusal("iterable_calls._filter: a filter whose condition depends on the arguments", F)
def filtered(x):
    return sum(filter(lambda a: a > 0.0, (x, 1.0)))  # here


@remedy(2.0)
def summed_with_if(x):
    return sum(a if a > 0.0 else 0.0 for a in (x, 1.0))


@refusal("iterable_calls._reduce: reduce of no items", F)
def reduced_none(x):
    return x + functools.reduce(operator.add, ())  # here


@remedy(2.0)
def reduced_from(x):
    return x + functools.reduce(operator.add, (), 0.0)


@refusal("iterable_calls._extreme.found: {} of no items", F)
def least_of_none(x):
    return x + min(())  # here


@remedy(2.0)
def least_or_default(x):
    return x + min((), default=1.0)


@refusal("iterable_calls._sorted: sorting of items that depend on the arguments", F)
def sorted_items(x):
    return sorted((x, 1.0))[0]  # here


@remedy(2.0)
def least_item(x):
    return min(x, 1.0) + x


# ---- lookups ------------------------------------------------------------------------------------


@refusal("lookups.looked_up: an item by {} that depends on the arguments", F, int)
def item_by_a_list(x, n):
    row = [1.0, 2.0]
    return x + row[[n]]  # here


@remedy(2.0, 1)
def item_by_an_index(x, n):
    return x + [1.0, 2.0][n]


@refusal("lifter.Lifter.call: a slice whose bounds depend on the arguments", F, int)
def varying_slice(x, n):
    return sum([x, 1.0, 2.0][:n])  # here


@remedy(2.0, 1)
def known_slices(x, n):
    row = [x, 1.0, 2.0]
    return sum(row[:1]) if n == 1 else sum(row[:2])


@refusal(
    "lookups._entries: an item of an empty container, by an index that depends on the arguments",
    F,
    int,
)
def item_of_none(x, n):
    return x + [][n]  # here


@remedy(2.0, 1)
def item_of_some(x, n):
    return x + [1.0, 5.0][n]


@refusal(
    "lookups._entries: an item is read by an index or key that depends on the arguments, from "
    "a container whose items are not numbers, strings, or rows of them with one structure",
    F,
    int,
)
def item_of_functions(x, n):
    return [math.sin, math.exp][n](x)  # here


@remedy(0.5, 1)
def function_by_if(x, n):
    return math.sin(x) if n == 0 else math.exp(x)


@refusal(
    "lookups._of_mixed_types: an item of a table of floats, and of integers that no float equals",
    F,
    int,
)
def item_that_no_float_is(x, n):
    return x + (0.5, 2**60 + 1)[n]  # here


@remedy(2.0, 0)
def item_that_is_a_float(x, n):
    return x + (0.5, 2.0**60)[n]


@refusal("mixed_numbers._called: {} raises {}", F, int)
def character_of_no_number(x, n):
    return x + len(chr((-1, 0.5)[n]))  # here


@remedy(2.0, 1)
def character_of_a_number(x, n):
    return x + len(chr((65, 66)[n]))


@refusal("mixed_numbers._parts: a result that depends on which of {} a number is", F, int)
def number_of_a_loop(x, n):
    y = 0
    for i in range(n):
        y = i if i > 2 else 0.5
    return x if isinstance(y, int) else -x  # here


@remedy(2.0, 4)
def float_of_a_loop(x, n):
    y = 0.0
    for i in range(n):
        y = float(i) if i > 2 else 0.5
    return x if y > 2.5 else -x


@refusal("lookups._by_parts: an item of a list by a tuple", F, int)
def item_by_a_tuple(x, n):
    row = [1.0, 2.0]
    return x + row[n, n]  # here


@remedy(2.0, 1)
def item_by_two(x, n):
    return x + ((1.0, 2.0), (3.0, 5.0))[n][n]


# ---- ways through a program ---------------------------------------------------------------------


@refusal("execution_paths.Walk.block: try, an exception that is caught", F)
def caught(x):
    try:
        return 1.0 / x  # here
    except ZeroDivisionError:
        return 0.0


@remedy(2.0)
def asked_before(x):
    return 1.0 / x if x != 0.0 else 0.0


@refusal("execution_paths.Walk._count: cannot invert {}: {}", F)
def branching_often(x):
    for edge in [0.5] * 600:
        if x > edge:  # here
            x = x + 1.0
    return x


@remedy(2.0)
def branching_in_a_range(x):
    for _ in range(600):
        if x > 0.5:
            x = x + 1.0
    return x


@refusal("iterations.looped: never_left", F)
def never_left(x):
    while True:  # here from Python 3.14 on
        x = x + 1.0  # here before


@remedy(2.0)
def left(x):
    while True:
        x = x + 1.0
        if x > 5.0:
            return x


@refusal("joining.Join.value: _of_two_shapes", F)
def of_two_shapes(x):
    row = [x]
    if x > 1.0:  # here
        row.append(1.0)
    return row[0] + row[-1]


@remedy(2.0)
def of_one_shape(x):
    row = [x]
    if x > 1.0:
        row.append(1.0)
    else:
        row.append(x)
    return row[0] + row[-1]


@refusal("joining.Join.value: one path of a branch", int, context=OVERLAID)
def itself_in_a_pair(n):
    if n < 1:
        return 0
    pair = (itself_in_a_pair(n - 1), 1) if n > 3 else (n, 2)  # here
    return pair[0] + pair[1]


@remedy(5, context=OVERLAID)
def itself_alone(n):
    if n < 1:
        return 0
    return itself_alone(n - 1) + 1 if n > 3 else n + 2


@refusal("joining.Join.value: a value is {} on one path and {} on the other", F)
def number_or_tuple(x):
    y = (x, 1.0) if x > 1.0 else x  # here
    return y


@remedy(2.0)
def tuple_on_both(x):
    y = (x, 1.0) if x > 1.0 else (x, 0.0)
    return y


@refusal("joining.Join.number: {} is of type {} on one path and of type {} on the other", F)
def real_or_complex(x):
    y = complex(x, 1.0) if x > 1.0 else x  # here
    return y


@remedy(2.0)
def always_complex(x):
    y = complex(x, 1.0) if x > 1.0 else complex(x, 0.0)
    return y


# ---- loops --------------------------------------------------------------------------------------


@refusal(
    "iterations.looped: cannot invert {}: its unrolled loops have more than {} iterations",
    F,
)
def many_known_turns(x):
    for a in [0.5] * 1200:  # here
        x = x + a
    return x


@remedy(2.0)
def many_turns_of_a_range(x):
    for _ in range(1200):
        x = x + 0.5
    return x


@refusal("iterations.Turns.same_arrays: a write in a loop to the array of {}", Z(3), int)
def written_view(x, turns):
    y = x * 1.0
    rows = [y]
    for _ in range(turns):  # here
        rows[0][0] = 2.0
    return y[1:]


@remedy(Z(3), 3)
def written_by_its_name(x, turns):
    y = x * 1.0
    for _ in range(turns):
        y[0] = 2.0
    return y[1:]


@refusal(
    "iterations.Turns.same_arrays: a write in a loop to an array with several names", Z(3), int
)
def written_by_two_names(x, turns):
    y = x * 1.0
    z = y
    for _ in range(turns):  # here
        z[1:] += 0.01 * y[:-1]
    return y


@remedy(Z(3), 3)
def written_by_one_name(x, turns):
    y = x * 1.0
    for _ in range(turns):
        y[1:] += 0.01 * y[:-1]
    return y


@refusal(
    "repeating.Repeating.as_list: {} has another number of items after an iteration of the loop",
    F,
    int,
)
def grown_with_rows(x, n):
    rows = []
    for i in range(n):  # here
        rows.append((x, i))
    return rows


@remedy(2.0, 3)
def grown_in_columns(x, n):
    first, second = [], []
    for i in range(n):
        first.append(x)
        second.append(i)
    return first, second


@refusal(
    "repeating.Repeating.wider: {} has another number of items after an iteration of the loop", F
)
def grown_dict(x):
    table = {}
    while x < 100.0:  # here from Python 3.14 on
        table[len(table)] = x  # here before
        x *= 2.0
    return x


@remedy(2.0)
def grown_dict_of_known_length(x):
    table = {}
    for i in (0, 1, 2):
        table[i] = x
        x *= 2.0
    return x


@refusal("repeating.Repeating.wider: another", F, int)
def number_then_tuple(x, n):
    y = x
    for _ in range(n):  # here
        y = (x, 1.0)
    return y


@remedy(2.0, 3)
def always_a_tuple(x, n):
    y = (x, 0.0)
    for _ in range(n):
        y = (x, 1.0)
    return y


@refusal("repeating.Repeating.fresh: {} is {}, and changes in a loop", F, int)
def range_that_changes(x, n):
    turns = range(n)
    for i in range(n):  # here
        turns = range(i)
    return x + len(turns)


@remedy(2.0, 3)
def number_that_changes(x, n):
    turns = n
    for i in range(n):
        turns = i
    return x + turns


# ---- calls --------------------------------------------------------------------------------------


@refusal("function_code.code_of: cannot invert {}: a call gives a coroutine", F)  # here
async def coroutine(x):
    return x


@remedy(2.0)
def no_coroutine(x):
    return x


@refusal("lifter._lifted.leaf: _no_result", F)  # here
def giving_nothing(x):
    x + 1.0


@remedy(2.0)
def giving_a_number(x):
    return x


@refusal("lifter.Lifter._call_next: call_next() stands outside a method", F)
def next_outside(x):
    return call_next(x)  # here


steeper = MethodTable("steeper")


@steeper.overlay(math.exp)
def exp_steeper(x: float) -> float:
    return 2.0 * call_next(x)


@remedy(2.0, context=Context(steeper))
def next_inside(x):
    return math.exp(x)


@refusal("lifter.Lifter._base: no_relation", F)
def without_relation(x):
    return special.exp10(x)  # here


powers = MethodTable("powers")


@powers.generated(relation_of(special.exp10))
def exp10_backwards(x: float):
    return relation(
        special.exp10, float, "return = exp10(x)", codomain=Positive, x=lambda ret: math.log10(ret)
    )


@remedy(2.0, context=Context(powers))
def with_relation(x):
    return special.exp10(x)


@refusal("lifter.Lifter._base: of_chance", F)
def drawn_within(x):
    return x + random.gauss(0.0, 1.0)  # here


@remedy(2.0, 0.5)
def drawn_outside(x, noise):
    return x + noise


def halved(x):
    return x / 2.0


@refusal("lifter.Lifter.converted: {} in the place of {}", complex, np.uint64)
def word_and_number(x, n):
    return x + n  # here


@remedy(2.0 + 1j, np.uint64(3))
def converted_word(x, n):
    return x + int(n)


@refusal("lifter.Lifter.through: cannot invert {}: it raises for all arguments", F)
def always_raising(x):
    return raising(x)  # here


def raising(x):
    raise ValueError(x)


@remedy(2.0)
def raising_sometimes(x):
    return positive(x)


def positive(x):
    if x < 0.0:
        raise ValueError(x)
    return x


@refusal("made_calls.as_result: cannot invert {}: a call gives a generator", F)  # here
def generator(x):
    yield x


@remedy(2.0)
def tuple_for_generator(x):
    return (x, x + 1.0)


@refusal("recursion.entered: for_ever", F)
def for_ever(x):
    return for_ever(x)  # here


@remedy(2.0)
def once(x):
    return 2.0 * x


@refusal("recursion.generated: a generator that is used again", F)
def generator_used_again(x):
    squares = (a * a for a in (x, 1.0))
    return sum(squares) + sum(squares)  # here


@remedy(2.0)
def tuple_used_again(x):
    squares = tuple(a * a for a in (x, 1.0))
    return sum(squares) + sum(squares)


@refusal("recursion.generated: a generator that raises", F)
def raising_generator(x):
    return sum(raises_within(x))  # here


def raises_within(x):
    yield x
    raise ValueError(x)


@remedy(2.0)
def ending_generator(x):
    return sum(ends(x))


def ends(x):
    yield x
    yield 1.0


@refusal("recursion.Calls.gone: for_ever", int)  # here
def for_ever_varying(n):
    return for_ever_varying(n - 1) if n > 0 else for_ever_varying(n + 1)


@remedy(3)
def ending(n):
    return 0 if n < 1 else ending(n - 1) + 1


@refusal("repeating.Repeating.changed: another", int, F)
def another_function(n, x):
    return applied(n, math.sin, x)


def applied(n, f, x):  # here
    return f(x) if n < 1 else applied(n - 1, math.exp, x)


@remedy(3, 0.5)
def one_function(n, x):
    return applied_one(n, math.sin, x)


def applied_one(n, f, x):
    return f(x) if n < 1 else applied_one(n - 1, f, x)


@refusal(  # here
    "recursion.Calls.forward: cannot invert {}: it calls itself with an argument or a result "
    "that is not a number",
    int,
)
def two_of_itself(n):
    if n < 1:
        return 0, 1
    a, b = two_of_itself(n - 1)
    return b, a + b


@remedy(5)
def two_by_a_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


@refusal("resolve.bound: cannot call {} like this: {}", F)
def too_many_arguments(x):
    return halved(x, x)  # here


@remedy(2.0)
def one_argument(x):
    return halved(x)


@refusal("resolve.check_named: cannot invert {}: it takes any number of arguments", F)  # here
def any_number(*xs):
    return xs[0] / 2.0


@remedy(2.0)
def named(x):
    return x


@refusal("self_calls.through: used_otherwise", int, context=OVERLAID)
def cosine_of_itself(n):
    return 1.0 if n < 1 else math.cos(cosine_of_itself(n - 1))  # here


@remedy(3, context=OVERLAID)
def sum_of_itself(n):
    return 1.0 if n < 1 else 2.0 * sum_of_itself(n - 1) + 1.0


@refusal("self_calls.returned: a tuple", int, context=OVERLAID)
def tuple_of_itself(n):
    return (0, 0) if n < 1 else (tuple_of_itself(n - 1), 0)  # here


@remedy(5, context=OVERLAID)
def tuple_around_itself(n):
    return sum_of_itself(n), 0


# ---- texts and lists ----------------------------------------------------------------------------


@refusal("sequence_calls._common: _mixed", F)
def grown_while(x):
    rows = [(x, x)]
    while rows[-1][0] < 100.0:  # here from Python 3.14 on
        rows.append((2.0 * rows[-1][0], x))  # here before
    return rows[-1]


@remedy(2.0)
def columns_while(x):
    column = [x]
    while column[-1] < 100.0:
        column.append(2.0 * column[-1])
    return column[-1], x


@refusal("sequence_calls._sliced: cannot invert a slice of {} from {} to {} by {}", str)
def sliced_by_0(text):
    return text[::0]  # here


@remedy("ab", types=(str,))
def sliced_by_2(text):
    return text[::2]


@refusal("text_calls._with_names: {}: {}", F)
def number_of_a_word(x):
    return int("twelve") + x  # here


@remedy(2.0)
def number_of_digits(x):
    return int("12") + x


@refusal("text_calls._formatted: a format that depends on the arguments", F, int)
def varying_format(x, n):
    return f"{x:.{n}f}"  # here


@remedy(2.0, 1)
def known_formats(x, n):
    return f"{x:.1f}" if n == 1 else f"{x:.2f}"


@refusal("text_calls._filled: an item, an attribute or a format within a format", F)
def item_in_a_format(x):
    return "{0[1]}".format((1.0, x))  # here


@remedy(2.0)
def argument_of_a_format(x):
    return "{}".format(x)


@refusal("text_calls._percent: not enough arguments for a format", F)
def too_few_for_a_format(x):
    return "%s %s" % (x,)  # here


@remedy(2.0)
def enough_for_a_format(x):
    return "%s %s" % (x, 1)


@refusal("text_calls._percent: a format with % of another kind", F)
def percent_by_name(x):
    return "%(a)s" % {"a": x}  # here


@remedy(2.0)
def braces_by_name(x):
    return "{a}".format(a=x)


@refusal("text_calls._find.found: a part that is not in the string", int)
def index_of_missing(n):
    return (chr(n % 10 + 48) + "b").index("x") + n  # here


@remedy(7)
def find_of_missing(n):
    return (chr(n % 10 + 48) + "b").find("x") + n


@refusal("text_calls._decode: characters of several bytes that are written out", int)
def decoded_bytes(n):
    return (bytes((n,)) + b"\xc3").decode()  # here


@remedy(97)
def decoded_apart(n):
    return bytes((n,)).decode() + "\xc3"


@refusal("text_calls._fields: the layout {}", int)
def native_layout(n):
    return struct.pack("i", n)  # here


@remedy(7)
def known_layout(n):
    return struct.pack("<i", n)


@refusal("text_calls._pack: too few values to pack", int)
def too_few_to_pack(n):
    return struct.pack("<ii", n)  # here


@remedy(7)
def enough_to_pack(n):
    return struct.pack("<ii", n, 1)


@refusal("text_calls._unpack: as many bytes as the layout says are unpacked", int)
def too_many_to_unpack(n):
    return struct.unpack("<h", struct.pack("<i", n))[0]  # here


@remedy(7)
def as_many_to_unpack(n):
    return struct.unpack("<i", struct.pack("<i", n))[0]


# ---- functions ----------------------------------------------------------------------------------


@refusal(
    "lifted_statements._made: defaults of an inner function that differ between execution paths",
    F,
)
def chosen_defaults(x):
    def inner(a, b=x, *, c=1.0 if x > 0.0 else 2.0):  # here
        return a + b * c

    return inner(x)


@remedy(2.0)
def defaults_computed_before(x):
    chosen = 1.0 if x > 0.0 else 2.0

    def inner(a, b=x, *, c=chosen):
        return a + b * c

    return inner(x)


# ---- arrays -------------------------------------------------------------------------------------

M = Z((2, 2))


@refusal("array_calls.ArrayCall.folded: not_taken", Z(2))
def wrong_constant(x):
    return x + np.reshape(np.ones(4), (3,))  # here


@remedy(Z(2))
def right_constant(x):
    return x + np.reshape(np.ones(4), (2, 2))[0]


@refusal(
    "array_calls.ArrayCall.known: its indices, axes and shapes have to be known beforehand",
    Z(3),
    int,
)
def write_at_an_index(x, n):
    y = x * 1.0
    y[n] = 2.0  # here
    return y


@remedy(Z(3), 1)
def write_where(x, n):
    y = x * 1.0
    return np.where(np.arange(3) == n, 2.0, y), n


@refusal("array_calls.ArrayCall.of_numpy: not_taken", Z(3))
def reshaped_wrongly(x):
    return np.reshape(x, (2, 2))  # here


@remedy(Z(4))
def reshaped_rightly(x):
    return np.reshape(x, (2, 2))


@refusal("array_calls.ArrayCall._placed: the result has no elements", Z(3))
def empty_slice(x):
    return x[3:]  # here


@remedy(Z(3))
def full_slice(x):
    return x[:3]


@refusal("array_calls.ArrayCall.filling: it takes arrays and numbers", Z(3))
def filled_with_a_text(x):
    y = x * 1.0
    y[0] = "a"  # here
    return y


@remedy(Z(3))
def filled_with_a_number(x):
    y = x * 1.0
    y[0] = 1.0
    return y[1:]


@refusal("array_calls.ArrayCall.filling: its elements are not complex numbers", Z(3))
def filled_with_complex(x):
    y = x * 1.0
    y[0] = 1j * x[1]  # here
    return y


@remedy(Z(3))
def filled_with_its_part(x):
    y = x * 1.0
    y[0] = (1j * x[1]).imag
    return y


@refusal("array_methods.array_attribute: cannot invert the attribute {} of an array", Z(3))
def strides_of(x):
    return x.strides  # here


@remedy(Z(3))
def shape_of_it(x):
    return x * x.shape[0]


@refusal("array_methods.array_call: out= in a call of {}", Z(3))
def with_out(x):
    y = np.zeros(3)
    np.exp(x, out=y)  # here
    return y


@remedy(Z(3))
def with_assignment(x):
    y = np.zeros(3)
    y[:] = np.exp(x)
    return y


@refusal("array_methods.array_call: its result is computed from the values of its array", Z(3))
def gradient(x):
    return np.gradient(x, x)  # here


@remedy(Z(3))
def differences(x):
    return x[1:] - x[:-1], x[0]


@refusal(
    "array_methods._forwards: its indices, axes and shapes have to be known beforehand", Z(3), int
)
def item_at_n(x, n):
    return x[n]  # here


@remedy(Z(3), 1)
def item_by_if(x, n):
    return (x[0] if n == 0 else x[1]), n


@refusal("array_methods._forwards: it has none for arguments of these shapes, types and axes", Z(3))
def places_of_others(x):
    return np.flatnonzero(x)  # here


@remedy(Z(3))
def places_kept(x):
    return x != 0.0, x


@refusal("array_methods._forwards: it gives no array or number", M)
def singular_values(x):
    return np.linalg.svd(x)  # here


@remedy(np.array([[2.0, 1.0], [0.5, 3.0]]))
def inverse_matrix(x):
    return np.linalg.inv(x)


@refusal(
    "array_methods._forwards: the type or the shape of its result depends on the elements",
    Z(3, complex),
)
def real_if_close(x):
    return np.real_if_close(x)  # here


@remedy(Z(3, complex))
def real_part(x):
    return x.real, x


@refusal("array_reductions.reduced: it does not take these arguments", Z(3))
def sum_with_unknown_keyword(x):
    return np.sum(x, 0, None, None, False, 0, True, 3)  # here


@remedy(Z(3))
def sum_along_an_axis(x):
    return np.sum(x, axis=0), x[1:]


@refusal("array_reductions.reduced: a mask needs a function with a neutral element", Z(3))
def masked_maximum(x):
    return np.max(x, where=[True, False, True], initial=0.0)  # here


@remedy(np.array([1.0, 2.0, 3.0]))
def maximum_of_a_part(x):
    return np.max(x[[0, 2]]), x[1]


@refusal(
    "array_reductions._rows: it has none for arguments of these shapes, types and axes",
    Z(3, complex),
)
def greatest_complex(x):
    return np.max(x)  # here


@remedy(Z(3, complex))
def greatest_part(x):
    return np.max(x.real), x


@refusal("array_writes.ArrayWrite._write: _not_own", Z(3))
def argument_written(x):
    x[0] = 1.0  # here
    return x


@remedy(Z(3))
def copy_written(x):
    x = x.copy()
    x[0] = 1.0
    return x[1:]


@refusal(
    "array_writes.ArrayWrite._write: a write to an array that is a view of another one on "
    "some execution paths only",
    Z((2, 3)),
    F,
)
def written_in_some_cases(x, t):
    y = x * 1.0
    z = y[0] if t > 0.0 else np.zeros(3)
    z[0] = 5.0  # here
    return y, t


@remedy(Z((2, 3)), 1.0)
def copy_written_in_some_cases(x, t):
    y = x * 1.0
    z = (y[0] if t > 0.0 else np.zeros(3)).copy()
    z[0] = 5.0
    return y, z[1] + t


@refusal("array_writes.ArrayWrite._shown: an array that a write may have changed", Z((2, 3)), F)
def read_after_a_write(x, t):
    y = x * 1.0
    z = y[0] if t > 0.0 else np.zeros(3)
    y[0, 0] = 5.0  # here
    return y, z, t


@remedy(Z((2, 3)), 1.0)
def read_before_the_write(x, t):
    y = x * 1.0
    z = (y[0] if t > 0.0 else np.zeros(3)) + 0.0
    y[0, 0] = 5.0
    return y, z, t


@refusal("elements.each: the keyword {} has no meaning here", Z(3))
def exp_of_a_type(x):
    return np.exp(x, casting="no")  # here


@remedy(Z(3))
def exp_alone(x):
    return np.exp(x)


@refusal("elements._element: arrays of {} have no relations", Z(3))
def narrow(x):
    return x.astype(np.float32)  # here


@remedy(Z(3))
def wide(x):
    return x.astype(np.float64)


@refusal("elements._of_elements: arithmetic with truth values means something else in numpy", Z(3))
def sum_of_truths(x):
    return (x > 0.0) + (x > 1.0)  # here


@remedy(Z(3), Z(3))
def or_of_truths(x, y):
    return (x > 0.0) | (y > 1.0)


@refusal("elements._broadcast: arrays of the shapes {} do not broadcast", Z(3), Z(2))
def of_other_shapes(x, y):
    return x + y  # here


@remedy(Z(3), Z(2))
def reshaped_to_fit(x, y):
    return x + np.reshape(y, (2, 1)), x, y


@refusal("elements._broadcast: it takes arrays and numbers", Z(3))
def plus_a_text(x):
    return np.add(x, "a")  # here


@remedy(Z(3))
def plus_a_number(x):
    return np.add(x, 1.0)


@refusal("array_methods.array_call: not_taken", Z(3))
def taken_along_a_number(x):
    return np.take_along_axis(x, 1, 0)  # here


@remedy(Z(3))
def taken_along_an_array(x):
    return np.take_along_axis(x, np.array([1, 0, 2]), 0)


@refusal("container_calls._part: a slice with the step 0", F)
def step_0(x):
    return (x, 1.0)[::0]  # here


@remedy(2.0)
def step_1(x):
    return (x, 1.0)[::1]


@refusal(
    "repeating.Repeating.wider: a variable that an inner function uses may be used before it has "
    "a value",
    F,
    int,
)
def shared_without_value(x, n):
    def inner():
        return shared

    for i in range(n):  # here
        shared = x + i
    return inner()


@remedy(2.0, 3)
def shared_with_value(x, n):
    def inner():
        return shared

    shared = x
    for i in range(n):
        shared = x + i
    return inner()


# ---- derivatives --------------------------------------------------------------------------------


@refusal("lifted_slopes.derivative: cannot invert a call of autodiff in this form", F)
def slope_of_a_function_made_here(x):
    def inner(t):
        return math.exp(t)

    return autodiff(inner, x)  # here


@remedy(2.0)
def slope(x):
    return autodiff(math.exp, x)


RULES = MethodTable("rules")


@RULES.overlay(partials_of(math.exp))
def rule_of_exp(x: float):
    return (math.exp(x),)


@refusal(
    "lifted_slopes.check_rules: cannot invert a derivative in a context with rules of derivatives",
    F,
    context=differentiation(RULES),
)
def slope_with_rules(x):
    return autodiff(math.exp, x)  # here


@remedy(2.0)
def slope_without_rules(x):
    return autodiff(math.exp, x)


by_rules = derivative(math.exp, rules=RULES)


@refusal("interpreted_calls.interpreted_call: a derivative with rules", F)
def derivative_with_rules(x):
    return by_rules(x)  # here


by_none = derivative(math.exp)


@remedy(2.0)
def derivative_without_rules(x):
    return by_none(x)


FAITHFUL = MethodTable("rounded", faithful=True)


@FAITHFUL.overlay(math.exp)
def rounded_exp(x: float):
    return round(call_next(x), 3)


@refusal(
    "lifted_slopes.check_faithful: cannot invert a derivative of what calls {}, whose table is "
    "faithful",
    F,
    context=Context(FAITHFUL),
)
def slope_of_a_faithful_method(x):
    return autodiff(math.exp, x)  # here


@remedy(2.0)
def slope_without_the_faithful_table(x):
    return autodiff(math.exp, x)


# ---- contexts and inverses ----------------------------------------------------------------------


@refusal("interpreted_calls.check_interpreted: cannot invert a call of {}", F)
def jvp_within(x):
    return jvp(math.exp, (x,), (1.0,))[1]  # here


@remedy(2.0)
def derivative_within(x):
    return autodiff(math.exp, x)


@refusal("lifted_statements.StatementCall._entered: with, a context", F)
def block_in_a_context(x):
    with OVERLAID:  # here
        return math.exp(x)


@remedy(2.0)
def call_in_a_context(x):
    return OVERLAID(math.exp, x)


root = invert(lambda x: x * x, float)


@refusal("interpreted_calls._inverted: a call of an inverse in this form", F)
def inverse_by_name(y):
    return root(y, negative_x=True)[0]  # here


@remedy(4.0)
def inverse_by_theta(y):
    return root(y, (True,))[0]


@refusal("interpreted_calls._inverted: an inverse whose θ depends on the arguments", F)
def inverse_of_a_varying_choice(y):
    return root(y, (y > 2.0,))[0]  # here


@remedy(4.0)
def inverse_of_a_known_choice(y):
    return root(y, (False,))[0]


@refusal("interpreted_calls._inverted: an inverse of a value that is not a number", F)
def inverse_of_a_pair(y):
    return root((y, 1.0))[0]  # here


@remedy(4.0)
def inverse_of_a_number(y):
    return root(y)[0]


@refusal("lifted_slopes.derivative: a derivative of what gives {}", F)
def slope_of_a_pair(x):
    return autodiff(paired, x)  # here


def paired(x):
    return x, x


@remedy(2.0)
def slope_of_a_number(x):
    return autodiff(squared, x)


@refusal("lifted_slopes._own: a derivative by a value of type {}", F)
def slope_by_a_text(x):
    return autodiff(math.exp, (x, 1.0))  # here


@remedy(2.0)
def slope_by_a_number(x):
    return autodiff(math.exp, x)


@refusal("lifted_slopes._partials: no derivative is known here of `{}`", F)
def slope_of_a_branch(x):
    return autodiff(clipped, x)


def clipped(x):
    return x * x if x > 1.0 else 2.0 * x  # here


@remedy(2.0)
def slope_in_a_branch(x):
    return autodiff(squared, x) if x > 1.0 else autodiff(doubled, x) + x


def squared(x):
    return x * x


def doubled(x):
    return 2.0 * x


# ---- plans --------------------------------------------------------------------------------------


@refusal("planner.plan: _not_invertible", F, root_finding=False)
def used_twice(x):
    return math.sin(x) + x  # here


@remedy(2.0, root_finding=True)
def used_twice_with_a_search(x):
    return math.sin(x) + x


@refusal(  # here
    "causality.causalise: cannot invert {}: ordering its nested branches and loops takes more "
    "than {} steps",
    F,
)
def cell_of_many(x):
    low, high, index = 0.0, 1.0, 0
    for _ in range(12):
        middle = (low + high) / 2
        if x >= middle:
            low, index = middle, 2 * index + 1
        else:
            high, index = middle, 2 * index
    return index


@remedy(0.3125)
def cell_of_eight(x):
    low, high, index = 0.0, 1.0, 0
    for _ in range(3):
        middle = (low + high) / 2
        if x >= middle:
            low, index = middle, 2 * index + 1
        else:
            high, index = middle, 2 * index
    return index


# ---- what z3 is not asked ---------------------------------------------------------------

FEW = {"n": Integers(0, 60)}


@refusal(
    "smt_programs.Translating.__exit__: cannot translate {} of {} for z3: {}",
    int,
    solver="z3",
    domain=FEW,
)
def scaled_by_a_float(n):
    return n * 0.5  # here


@remedy(8, solver="z3", domain=FEW)
def scaled_by_an_integer(n):
    return n // 2


@refusal(
    "smt_programs.Formula._turns: cannot translate the loop {} for z3: it has more than {} "
    "iterations, or an unknown number of them",
    int,
    solver="z3",
    domain=FEW,
)
def turns_that_vary(n):
    turns = 0
    while n != 1:  # here from Python 3.14 on
        n = 3 * n + 1 if n % 2 else n // 2  # here before
        turns += 1
    return turns


@remedy(9, solver="z3", domain=FEW)
def turns_that_are_known(n):
    turns = 0
    for _ in range(20):
        if n > 1:
            n = 3 * n + 1 if n % 2 else n // 2
            turns += 1
    return turns


@refusal(
    "smt_programs.Formula._range: cannot translate the loop {} for z3: the ends of its range "
    "are not known, or it has more than {} iterations",
    int,
    solver="z3",
    domain=FEW,
)
def as_many_turns_as_given(n):
    total = 0
    for i in range(n):  # here
        total += i ^ n
    return total


@remedy(9, solver="z3", domain=FEW)
def as_many_turns_as_it_has_values(n):
    total = 0
    for i in range(60):
        if i < n:
            total += i ^ n
    return total

"""Builtin functions that stand for a protocol, or that iterate over what they are given."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.python.forms import with_forms
from overlay.python.implicit.arithmetic import COMPARISONS, compare, power, unary, unequal
from overlay.python.implicit.protocols import MISSING, PLAIN, in_python, invoke, lookup

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Standing", "table"]

Function = Callable[..., Any]


class Standing(NamedTuple):
    """What stands for a builtin: ``over(found)``, where ``found`` would be called otherwise."""

    of: Any
    over: Callable[[Any], Any]


# Builtins that iterate over arguments: by position, None for all of them.
_ITERATE: list[tuple[Any, tuple[int, ...] | None]] = [
    *((f, (0,)) for f in (set, frozenset, sum, any, all, enumerate, collections.deque)),
    *((f, None) for f in (zip, itertools.chain, itertools.product, itertools.zip_longest)),
    *((f, (1,)) for f in (filter, functools.reduce, itertools.starmap, itertools.dropwhile)),
    *((f, (1,)) for f in (itertools.takewhile, itertools.filterfalse)),
    *((f, (0,)) for f in (itertools.accumulate, itertools.groupby, itertools.islice)),
    *((f, (0,)) for f in (itertools.cycle, itertools.tee, itertools.permutations)),
    *((f, (0,)) for f in (itertools.combinations, itertools.combinations_with_replacement)),
    *((f, (0,)) for f in (itertools.pairwise, math.fsum, math.prod)),
    *((f, (1,)) for f in (set.__init__, collections.deque.__init__)),
    *((f, (1,)) for f in (collections.deque.extend, collections.deque.extendleft)),
    *((f, (0, 1)) for f in (itertools.compress,)),
    *((getattr(kind, name), (1,)) for kind in (set,) for name in ("intersection_update",)),
    *((f, None) for f in (set.update, set.union, frozenset.union)),
]
# The same, but they ask for the length as well.
_MEASURE: list[tuple[Any, tuple[int, ...]]] = [
    *((f, (0,)) for f in (list, tuple, bytes, bytearray)),
    *((f, (1,)) for f in (list.__init__, list.extend)),
]
_FILL = [(dict, 0), (dict.update, 1), (dict.__init__, 1)]


def table(implicit: Implicit) -> dict[int, Standing]:
    """What stands for builtins, by id."""
    found = [Standing(f, _always(to)) for f, to in _protocols(implicit).items()]
    found += [Standing(f, _always(to)) for f, to in _operators(implicit).items()]
    entered, sized = implicit.iteration.entered, implicit.iteration.sized
    found += [Standing(f, _converting(places, entered)) for f, places in _ITERATE]
    found += [Standing(f, _converting(places, sized)) for f, places in _MEASURE]
    filled = implicit.iteration.mapping
    found += [Standing(f, _converting((place,), filled)) for f, place in _FILL]
    listed = implicit.iteration.listed
    found += [Standing(f, _converting((1,), listed)) for f in (str.join, bytes.join)]
    found += [Standing(map, _converting_rest(entered))]
    checks = {isinstance: "__instancecheck__", issubclass: "__subclasscheck__"}
    found += [Standing(f, _checking(implicit, f, name)) for f, name in checks.items()]
    return {id(standing.of): standing for standing in found}


def _always(to: Function) -> Callable[[Any], Any]:
    least, most, keywords = _shape(to)

    def over(found: Any) -> Function:
        def fitted(*args: Any, **kwargs: Any) -> Any:
            if (kwargs and not keywords) or not least <= len(args) <= most:
                return found(*args, **kwargs)  # its own error
            return to(*args, **kwargs)

        return with_forms(fitted, lambda n: to if n is not None and least <= n <= most else fitted)

    return over


def _shape(function: Any) -> tuple[int, float, bool]:
    """The fewest and the most positional arguments that a function takes, and whether it takes
    any keywords."""
    given = 0
    if type(function) is functools.partial:
        function, given = function.func, len(function.args)
    if type(function) is MethodType:
        function, given = function.__func__, given + 1
    code = function.__code__
    most = code.co_argcount - given
    least = max(most - len(function.__defaults__ or ()), 0)
    any_number = bool(code.co_flags & inspect.CO_VARARGS)
    return least, math.inf if any_number else most, bool(code.co_flags & inspect.CO_VARKEYWORDS)


def _converting(places: tuple[int, ...] | None, convert: Function) -> Callable[[Any], Any]:
    def over(found: Any) -> Function:
        def converting(*args: Any, **kwargs: Any) -> Any:
            given = [
                convert(value) if places is None or place in places else value
                for place, value in enumerate(args)
            ]
            return found(*given, **kwargs)

        return converting

    return over


def _converting_rest(convert: Function) -> Callable[[Any], Any]:
    def over(found: Any) -> Function:
        return lambda *args, **kwargs: found(*args[:1], *map(convert, args[1:]), **kwargs)

    return over


def _checking(implicit: Implicit, native: Function, name: str) -> Callable[[Any], Any]:
    def check(x: Any, kinds: Any) -> bool:
        return _checked(implicit, name, native, x, kinds)

    return _always(check)


def _checked(implicit: Implicit, name: str, native: Function, x: Any, kinds: Any) -> bool:
    if native is isinstance and type(x) is kinds:
        return True
    if type(kinds) is tuple:
        return any(_checked(implicit, name, native, x, kind) for kind in kinds)
    found = MISSING if id(type(kinds)) in PLAIN else lookup(type(kinds), name)
    if not in_python(found):
        return native(x, kinds)
    return implicit.numbers.truth(invoke(implicit.callees, found, kinds, x))


def _protocols(implicit: Implicit) -> dict[Any, Function]:
    attributes, iteration = implicit.attributes, implicit.iteration

    def read(x: Any, name: Any, default: Any = MISSING) -> Any:
        if default is MISSING:
            return attributes.read(x, name)
        try:
            return attributes.read(x, name)
        except AttributeError:
            return default

    def has(x: Any, name: Any) -> bool:
        if type(name) is not str:
            return hasattr(x, name)
        try:
            attributes.read(x, name)
        except AttributeError:
            return False
        return True

    return {
        **implicit.numbers.table(),
        **implicit.text.table(),
        **implicit.formatting.table(),
        **implicit.ordering.table(),
        type.__new__: implicit.classes.new,
        **_object_slots(implicit),
        getattr: read,
        hasattr: has,
        setattr: attributes.write,
        delattr: attributes.remove,
        iter: iteration.iterator,
        next: iteration.next,
        reversed: iteration.backwards,
        abs: unary(implicit, "abs", abs),
        operator.abs: unary(implicit, "abs", operator.abs),
        divmod: implicit.binaries["divmod"].operate,
        pow: power(implicit.binaries["pow"]),
    }


def _operators(implicit: Implicit) -> dict[Any, Function]:
    items, found = implicit.items, dict[Any, Function]()

    def negated(x: Any) -> bool:
        return not implicit.numbers.truth(x)

    for binary in implicit.binaries.values():
        if binary.native_in_place is not None:
            found[binary.native] = binary.operate
            found[binary.native_in_place] = binary.in_place
    for name in ("neg", "pos", "invert"):
        found[getattr(operator, name)] = unary(implicit, name, getattr(operator, name))
    for name in COMPARISONS:
        found[getattr(operator, name)] = compare(implicit, name)
    return found | {
        operator.not_: negated,
        operator.truth: implicit.numbers.truth,
        operator.getitem: items.get,
        operator.setitem: items.set,
        operator.delitem: items.delete,
        operator.contains: items.contains,
    }


def _object_slots(implicit: Implicit) -> dict[Any, Function]:
    """Slots of ``object`` and ``type`` that methods call for what they do not do themselves."""
    attributes = implicit.attributes
    reads, meta_reads = object.__dict__["__getattribute__"], type.__dict__["__getattribute__"]
    writes, meta_writes = object.__dict__["__setattr__"], type.__dict__["__setattr__"]
    deletes, meta_deletes = object.__dict__["__delattr__"], type.__dict__["__delattr__"]

    def reading(slot: Any) -> Function:
        def read(x: Any, name: Any) -> Any:
            return attributes.by(slot, x, name)

        return read

    def writing(slot: Any) -> Function:
        def write(x: Any, name: Any, value: Any) -> None:
            attributes.written(x, name, value, slot, slot)

        return write

    def deleting(slot: Any) -> Function:
        def delete(x: Any, name: Any) -> None:
            attributes.removed(x, name, slot, slot)

        return delete

    def of_property(held: Any, x: Any, owner: Any = None) -> Any:
        if x is None:
            return held
        return attributes.of_property(held, x, lambda: held.__get__(x, owner))

    return {
        **{slot: reading(slot) for slot in (reads, meta_reads)},
        **{slot: writing(slot) for slot in (writes, meta_writes)},
        **{slot: deleting(slot) for slot in (deletes, meta_deletes)},
        property.__dict__["__get__"]: of_property,
        object.__dict__["__ne__"]: functools.partial(unequal, implicit),
    }

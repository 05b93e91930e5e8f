"""Special methods of the program, and callbacks, that native functions call."""

from __future__ import annotations

import enum
import functools
import itertools
import operator
import re
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.analysis.abstract_values import TOP, ItemValues, Iteration, KnownValue
from overlay.analysis.kind_functions import NONE, Kinds, one
from overlay.analysis.lattice import Entered
from overlay.analysis.unpacked_arguments import REST
from overlay.code import marks
from overlay.code.callbacks import CALLBACKS
from overlay.code.contents import DUNDERS, REFLECTED
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.analysis.checked_types import CheckedTypes

__all__ = ["entered_by"]

_SPECIAL: dict[Any, tuple[str, ...]] = {
    **DUNDERS,
    **{next: ("__next__",), str: ("__str__", "__repr__"), repr: ("__repr__",)},
    **{hash: ("__hash__",), operator.index: ("__index__",), reversed: ("__reversed__",)},
}
# functions that iterate over their last argument
_ITERATING = frozenset(
    id(each)
    for each in (
        *(marks.advance, list, tuple, set, frozenset, sorted, sum, any, all, str.join, enumerate),
    )
)
# special methods whose result is not that of the function
_OTHER_RESULT = (bool, operator.contains)


def entered_by(
    domain: CheckedTypes, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Entered | None:
    """The functions of the program that a native function calls; None if there are none."""
    try:
        names = _SPECIAL.get(function, ())
        reflected = REFLECTED.get(function)
    except TypeError:
        return None
    calls: list[tuple[Any, tuple[Any, ...]]] = []
    if id(function) in _ITERATING and args:
        return _iterated(domain, function, args, kwargs)
    if names and args:
        found = _special(args[0], names)
        calls += [(found, tuple(args))] if found is not None else []
    if reflected is not None and len(args) == 2 and not calls:
        found = _special(args[1], (reflected,))
        calls += [(found, (args[1], args[0]))] if found is not None else []
    if calls:
        is_other = any(function is each for each in _OTHER_RESULT)
        may_decline = len(args) == 2 and reflected is not None

        def result(found: Any) -> Any:
            declines = may_decline and found in (TOP, KnownValue(NotImplemented))
            if declines:  # the other operand's method may run
                domain.handed(args)
            return TOP if is_other or declines else found

        return Entered(calls, result)
    return _called_back(domain, function, args, kwargs)


def _iterated(
    domain: CheckedTypes, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Entered | None:
    """The methods of an iterator of the program that a native function iterates over."""
    last = args[-1]
    step = _special(last, ("__next__",))
    begin = None if function is marks.advance else _special(last, ("__iter__",))
    found = [each for each in (begin, step) if each is not None]
    if not found or (step is None and begin is None):
        return _called_back(domain, function, args, kwargs)

    def result(item: Any) -> Any:
        domain.handed(args)
        if function is marks.advance:
            return Iteration(item)
        return domain.made_here(function, TOP) if function in (list, tuple, set) else TOP

    return Entered([(each, (last,)) for each in found], result)


def _special(value: Any, names: tuple[str, ...]) -> FunctionType | None:
    """The special method of a value's class that is first of these, if it is of the program."""
    if isinstance(value, KnownValue):
        if isinstance(value.value, enum.EnumType):
            return None  # its items are its members
        cls = type(value.value)
    elif isinstance(value, Kinds) and len(value.types) == 1:
        (cls,) = value.types
    else:
        return None
    for name in names:
        found = type_attribute(cls, name)
        if found is not None:
            return found if type(found) is FunctionType else None
    return None


def _called_back(
    domain: CheckedTypes, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Entered | None:
    """The callbacks that a native function is given, if all are known."""
    known = CALLBACKS.get(id(function))
    if known is None or known[0] is not function:
        return None
    given = [args[place] for place in known[1] if place < len(args)]
    given += [kwargs[name] for name in known[2] if name in kwargs]
    callees = [domain.known(each) for each in given if each != NONE]
    handed_on = _handed_on(domain, function, args)
    calls = [(each[0], handed_on) for each in callees if each is not None and handed_on is not None]
    if not calls or len(calls) < len(callees):
        return None
    return Entered(calls, functools.partial(domain.result_beside, function, args))


def _handed_on(domain: CheckedTypes, function: Any, args: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments that a callback of a function is called with; None if their number is not
    known."""
    if REST in args:
        return None
    if function is operator.call:
        return tuple(args[1:])
    if function is itertools.starmap:
        item = domain.item_of(args[1]) if len(args) > 1 else TOP
        return item.items if isinstance(item, ItemValues) else None
    if function is map:
        return tuple(map(domain.item_of, args[1:]))
    if function in (functools.reduce, itertools.accumulate, functools.cmp_to_key):
        return TOP, TOP
    if function in (filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile):
        return (domain.item_of(args[1]),) if len(args) > 1 else (TOP,)
    if function in (sorted, min, max, list.sort) and len(args) == 1:
        return (domain.item_of(args[0]),)
    if function in (re.Pattern.sub, re.Pattern.subn, re.sub):
        return (one(re.Match),)
    return (TOP,)

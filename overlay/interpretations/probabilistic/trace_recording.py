"""Recording of runs: calls whose arguments depend on choices become steps of a tape."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program
from overlay.interpretations.probabilistic.dependent import (
    NUMPY_FUNCTIONS,
    Dependent,
    apply,
    class_of,
    flattened,
    has_dependent,
)
from overlay.interpretations.probabilistic.errors import (
    NotTraceable,
    line_of_program,
    place,
)
from overlay.interpretations.probabilistic.language import Site, Trace, observe, sample
from overlay.interpretations.probabilistic.random_values import density_of
from overlay.interpretations.probabilistic.tape import (
    LEAF,
    TAPE,
    Packed,
    StepKind,
    Tape,
    TapeSite,
    identical,
)

__all__ = ["recorded"]

_table: Final = MethodTable("recording")
RECORDING: Final = Context(_table)
"""The context in which a run is recorded."""


def recorded(trace: Trace, model: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Tape, Any]:
    """The tape of a past run, and its result, in which values are ``Dependent``.

    trace: the run. Raises NotTraceable if the program behaves differently with recorded values: the
    runs are compared site by site.
    """
    tape = Tape(trace.values)
    try:
        result = _result(tape, trace, model, args)
    except OverlayError:
        if not tape.has_changed_row():
            raise
    else:
        if not tape.has_changed_row():
            return tape, result
    tape = Tape(trace.values, copies_rows=False)
    return tape, _result(tape, trace, model, args)


def _result(tape: Tape, trace: Trace, model: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of the program, recorded on a tape."""
    token = TAPE.set(tape)
    try:
        result = in_program(RECORDING, model, *args)
    except OverlayError:
        raise
    except Exception as error:
        raise NotTraceable(
            f"the program does not run with values that are recorded: {error}",
            where=_line_of(error),
            help="sample with incremental=False, which runs the whole program at each step",
        ) from error
    finally:
        TAPE.reset(token)
        tape.is_open = False
    _compare(tape, trace)
    return result


def _line_of(error: BaseException) -> str | None:
    found, where = error.__traceback__, None
    while found is not None:
        where = line_of_program(found.tb_frame.f_code.co_filename, found.tb_lineno) or where
        found = found.tb_next
    return where


def _compare(tape: Tape, trace: Trace) -> None:
    """Raise NotTraceable if the run on the tape differs from the past run."""
    name = next((n for n, m in zip_longest(trace.sites, tape.sites) if n != m), None)
    if name is None and len(trace.sites) == len(tape.sites):
        name = next((n for n, site in trace.sites.items() if not _agrees(tape, n, site)), None)
        if name is None:
            return
    raise NotTraceable(
        f"the program does something else at the site {name!r} when values are recorded",
        help="sample with incremental=False; what a program does may depend on its arguments and "
        "choices alone, and not on the class of an object that holds a number; a context goes "
        "inside: Context(table).wrap(model)",
    )


def _agrees(tape: Tape, name: str, site: Site) -> bool:
    other = tape.sites[name]
    same = identical(tape.slots[other.score], site.log_density)
    return same and other.observed == site.observed


# ---- sites ------------------------------------------------------------------------------------


@_table.overlay(sample)
def choice(name: str, distribution: Any) -> Any:
    return nonoverlay(_chosen)(name, distribution)


@_table.overlay(observe)
def seen(name: str, distribution: Any, value: Any) -> Any:
    return nonoverlay(_seen)(name, distribution, value)


def _chosen(name: str, distribution: Any) -> Any:
    tape = TAPE.get()
    if name not in tape.given:
        raise NotTraceable(
            f"the program comes to the choice {name!r} only when values are recorded",
            where=place(),
            help="sample with incremental=False",
        )
    value = tape.given[name]
    slot = tape.slot(value)
    _note(tape, name, distribution, slot, value, False)
    return Dependent(tape, slot, value)


def _seen(name: str, distribution: Any, value: Any) -> Any:
    tape = TAPE.get()
    if type(value) is Dependent:
        _note(tape, name, distribution, value.slot, value.value, True)
    else:
        _note(tape, name, distribution, tape.slot(value), value, True)
    return value


def _note(tape: Tape, name: str, distribution: Any, slot: int, value: Any, observed: bool) -> None:
    """Add a site, with the step that computes its log density."""
    leaves: list[Any] = []
    parts = _parts(distribution, leaves)
    slots = tuple(each.slot if type(each) is Dependent else tape.slot(each) for each in leaves)
    now = [each.value if type(each) is Dependent else each for each in leaves]
    density = density_of(type(distribution))
    if any(part != LEAF for part in parts):
        density = Packed(density, (tuple, (LEAF, *parts)))
    score = tape.step(density, (slot, *slots), density(value, *now), StepKind.SCORE)
    cls = type(distribution)
    tape.note(name, TapeSite(cls, (cls, parts), slots, slot, score, observed))


def _parts(distribution: Any, leaves: list[Any]) -> tuple[Any, ...]:
    """The structure of each parameter, whose leaves are added to ``leaves``."""
    parameters = distribution if isinstance(distribution, tuple) else (None,)
    parts = tuple(flattened(each, leaves) for each in parameters)
    if None in parts or not isinstance(distribution, tuple):
        raise NotTraceable(
            f"{distribution!r} is no tuple of parameters that are numbers",
            where=place(),
            help="make a distribution a named tuple of its parameters, or sample with "
            "incremental=False",
        )
    return parts


# ---- functions of values ----------------------------------------------------------------------


@nonoverlay
def _computed(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The result of a function that computes from its arguments, recorded as a step, in a tuple;
    an empty one where the call is no step."""
    if has_dependent(args) or has_dependent(list(kwargs.values())):
        found = apply(function, *args, **kwargs)
        return () if found is NotImplemented else (found,)
    return ()


def _given(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with an iterator replaced by a list: it runs code of the program, whose calls
    are steps, too."""
    return (list(args[0]), *args[1:]) if args and _is_iterator(args[0]) else args


@nonoverlay
def _is_iterator(value: Any) -> bool:
    return isinstance(value, Iterator)


def _computes(function: Callable[..., Any]) -> None:
    """Record calls of such a function as steps."""

    def method(*args: Any, **kwargs: Any) -> Any:
        args = _given(args)
        found = _computed(function, args, kwargs)
        return found[0] if found else call_next(*args, **kwargs)

    _table.overlay(function)(method)


_MATH = [each for name, each in vars(math).items() if callable(each) and name[0] != "_"]
_NUMPY = [getattr(np, name) for name in sorted(NUMPY_FUNCTIONS) if hasattr(np, name)]
for _each in (*_MATH, builtins.sum, *(f for f in _NUMPY if not isinstance(f, np.ufunc))):
    _computes(_each)


@_table.overlay(builtins.min)
def smallest(*args: Any, **kwargs: Any) -> Any:
    args = _given(args)
    found = () if kwargs else _computed(min, args, {})
    return found[0] if found else call_next(*args, **kwargs)


@_table.overlay(builtins.max)
def largest(*args: Any, **kwargs: Any) -> Any:
    args = _given(args)
    found = () if kwargs else _computed(max, args, {})
    return found[0] if found else call_next(*args, **kwargs)


@_table.overlay(builtins.float)
def as_float(x: Dependent) -> Any:
    return nonoverlay(apply)(float, x)


@_table.overlay(builtins.int)
def as_int(x: Dependent) -> Any:
    return nonoverlay(apply)(int, x)


@_table.overlay(builtins.bool)
def as_bool(x: Dependent) -> Any:
    return nonoverlay(apply)(bool, x)


@_table.overlay(builtins.isinstance)
def is_instance(x: Dependent, classes: Any) -> bool:
    return nonoverlay(issubclass)(_class_of(x), classes)


@_table.overlay(builtins.type)
def kind_of(x: Dependent) -> Any:
    return _class_of(x)


_class_of = nonoverlay(class_of)


@_table.overlay(operator.getitem)
def item(container: Any, index: Dependent) -> Any:
    return nonoverlay(_item)(container, index)


def _item(container: Any, index: Dependent) -> Any:
    found = apply(operator.getitem, container, index)
    return container[index] if found is NotImplemented else found


@_table.overlay(operator.is_)
def is_same(x: Dependent, other: Any) -> bool:
    return nonoverlay(_is)(x, other)


@_table.overlay(operator.is_not)
def is_other(x: Dependent, other: Any) -> bool:
    return not nonoverlay(_is)(x, other)


def _is(x: Dependent, other: Any) -> bool:
    return x is other or x.fixed("a comparison by identity") is other

"""Adjoints of functions, generated on first use and cached."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from overlay import MethodTable, OverlayError
from overlay.code.held_functions import contents_of
from overlay.code.record import FunctionReads, attribute_held, is_same, same_items
from overlay.interpretations.autodiff.duals import ActiveArray, ActiveNumber
from overlay.interpretations.autodiff.reverse.compiled_pullback import adjoint_source
from overlay.interpretations.autodiff.reverse.defining import defined
from overlay.interpretations.autodiff.reverse.lifted_bodies import ReverseLifter
from overlay.interpretations.autodiff.reverse.needs import every, mixes
from overlay.interpretations.autodiff.reverse.operands import kind_of_array
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    FLOAT,
    INT,
    KnownBefore,
    NumberKind,
    ReverseCall,
    ReverseValue,
    leaves,
)
from overlay.interpretations.autodiff.reverse.source_text import RETURNS, Form
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.interpretations.autodiff.reverse.users_rules import UsersRules

__all__ = ["Adjoint", "adjoint_for", "kind_of_argument"]

KEPT = 256
"""The maximal number of cached adjoints."""


@dataclass
class Adjoint:
    """The adjoint of a function for arguments of some kinds.

    function: takes the arguments that are numbers and arrays, then the adjoint of each float of the
    result; returns a tuple with the adjoint of each active argument. source: its source. mixes:
    whether compiled code cannot run the program with dual numbers. makes: a description of the
    first array that it creates, and its line; None if it creates local ones only. result: the
    program's result, with the kinds of its numbers and arrays. is_guarded: whether the program
    handles exceptions that the adjoint may raise. enters: whether it enters contexts. held: the
    program and its constants, referenced so that their ids are not reused. readings, attributes,
    containers: its reads. targets: what it calls.
    """

    function: Callable[..., Any]
    source: str
    result: Any
    given: tuple[int, ...]
    mixes: bool
    makes: tuple[str, str] | None
    is_guarded: bool
    enters: bool
    held: tuple[Any, ...] = field(repr=False)
    readings: list[FunctionReads] = field(repr=False)
    attributes: list[tuple[Any, str, Any]] = field(repr=False)
    containers: list[tuple[Any, dict[Any, Any]]] = field(repr=False)
    targets: list[Any] = field(repr=False)

    def __str__(self) -> str:
        return self.source

    def is_current(self) -> bool:
        """Whether everything the program read when the adjoint was generated is unchanged."""
        return (
            not any(reading.changed() for reading in self.readings)
            and all(is_same(attribute_held(o, name), value) for o, name, value in self.attributes)
            and all(same_items(contents_of(each), known) for each, known in self.containers)
        )


_lock = threading.RLock()
_made: OrderedDict[Any, Adjoint | OverlayError] = OrderedDict()


def kind_of_argument(value: Any) -> Any:
    """The kind of an argument; ``KnownBefore`` for values that are no numbers or arrays."""
    if isinstance(value, ActiveNumber):
        return FLOAT
    if isinstance(value, ActiveArray):
        return NumberKind("f", value.ndim)
    if type(value) is np.ndarray:
        return kind_of_array(value)
    if isinstance(value, (bool, np.bool)):
        return BOOL
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, (int, np.signedinteger)):
        return INT
    return KnownBefore(value)


def adjoint_for(
    f: Callable[..., Any],
    kinds: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
    form: Form = RETURNS,
    tables: Sequence[MethodTable] = (),
) -> Adjoint:
    """The adjoint of a function by its arguments in some places, with these tables in force. Raises
    Unreadable if there is none."""
    tables = tuple(table for table in tables if not table.interprets)
    fixed = tuple(("known", id(k.value)) if isinstance(k, KnownBefore) else k for k in kinds)
    versions = tuple((id(table), table.version) for table in rules)
    key = id(f), fixed, tuple(places), versions, form, tables
    with _lock:
        found = _made.get(key)
        if isinstance(found, Adjoint) and found.held[0] is f and found.is_current():
            _made.move_to_end(key)
            return found
        adjoint = _make(f, kinds, places, rules, form, tables)
        _made[key] = adjoint
        if len(_made) > KEPT:
            _made.popitem(last=False)
        return adjoint


def _make(
    f: Callable[..., Any],
    kinds: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
    form: Form,
    tables: tuple[MethodTable, ...],
) -> Adjoint:
    lifter = ReverseLifter(UsersRules(rules))
    lifter.tables, lifter.is_compiled = tables, form.is_compiled
    lifter.is_for_kernel = form.is_for_kernel
    try:
        lifted = lifter.lift(f, kinds)
        given = [i for i, kind in enumerate(kinds) if not isinstance(kind, KnownBefore)]
        active = [lifted.arguments[given.index(i)] for i in places]
        if not all(value.kind.dtype == "f" for value in active):
            raise Unreadable("it is differentiated by a value that is no float")
        if any(value.kind.dtype == "c" for value in floats_of(lifted.result)):
            raise Unreadable(
                "it returns a complex number",
                help="return a real one: its absolute value, or a part",
            )
        name = _name_of(f)
        source, names, makes = adjoint_source(name, lifted, active, form)
    except Unreadable as error:
        error.where = error.where or lifter.where or None
        raise
    except OverlayError as error:
        raise Unreadable(error.asked, where=lifter.where or None) from None
    except RecursionError:
        raise Unreadable("it is nested too deep") from None
    except Exception as error:  # raised by a read of the program, such as an attribute
        raise Unreadable(f"{type(error).__name__}: {error}", where=lifter.where or None) from error
    function = defined(name, source, {**lifter.space, **names, **lifter.captured})
    held = f, *(k.value for k in kinds if isinstance(k, KnownBefore))
    mixed = lifter.reads_attributes or mixes(
        lifted.region, lifter.unrolled, numbers=form.is_for_kernel
    )
    return Adjoint(
        function,
        source,
        lifted.result,
        tuple(given),
        mixed,
        makes,
        any(isinstance(op, ReverseCall) and op.is_guarded for op in every(lifted.region)),
        lifter.enters,
        held,
        lifter.readings,
        lifter.attributes,
        lifter.containers,
        list(lifter.targets.values()),
    )


def _name_of(f: Any) -> str:
    short = getattr(f, "__name__", "function")
    return f"adjoint_of_{short}" if short.isidentifier() else "adjoint"


def floats_of(result: Any) -> list[ReverseValue]:
    """The numbers and arrays in a program's result that have an adjoint argument."""
    return list(leaves(result))

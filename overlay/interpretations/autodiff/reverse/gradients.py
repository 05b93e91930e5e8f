"""Reverse-mode derivatives of calls: selection of the mode, and calls of adjoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import numpy as np

from overlay import MethodTable, known_function, nonoverlay, plugins_in_force
from overlay.contexts.rules_alone import rules_alone
from overlay.core.location import location_of, name_of
from overlay.interpretations.autodiff.duals import ActiveArray
from overlay.interpretations.autodiff.errors import (
    NotDifferentiable,
    refuse_array_in_kernel,
    refuse_making,
    refuse_mode,
    refuse_pairs,
    refuse_reverse,
)
from overlay.interpretations.autodiff.levels import LevelTable
from overlay.interpretations.autodiff.partial_derivatives import have_adjoints
from overlay.interpretations.autodiff.reverse.adjoints import (
    Adjoint,
    adjoint_for,
    kind_of_argument,
)
from overlay.interpretations.autodiff.reverse.defining import defined
from overlay.interpretations.autodiff.reverse.reverse_program import (
    FLOAT,
    KnownBefore,
    NumberKind,
    ReverseValue,
)
from overlay.interpretations.autodiff.reverse.source_text import Form
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.kernels import in_kernel
from overlay.plugins.plugin import follows_source, may_edit

__all__ = [
    "MANY",
    "Mode",
    "adjoint_adding",
    "adjoint_instead",
    "adjoint_of_types",
    "back",
    "calls_never",
    "editing",
    "functions_read",
    "inside_levels",
    "pair_of_types",
    "reverse_of",
    "runs_alone_follow",
    "seeds_of",
    "selects_reverse",
    "slopes_by_reverse",
]

Mode = Literal["auto", "forward", "reverse"]
MANY = 8
"""Derivatives by more numbers than this use reverse mode by default."""


def reverse_of(
    f: Callable[..., Any],
    args: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
    tables: Sequence[MethodTable],
    mode: str,
) -> Adjoint | None:
    """The adjoint of f if the mode selects reverse; None for forward mode. Raises NotReversible if
    there is no adjoint."""
    every = _rules_in_force(rules, tables)
    if not selects_reverse(args, places, rules, tables, mode):
        return None
    try:
        kinds = [kind_of_argument(x) for x in args]
        return adjoint_for(f, kinds, places, every, tables=tables)
    except Unreadable as error:
        refuse_reverse(name_of(f), error.asked, error.where, error.help)


def selects_reverse(
    args: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
    tables: Sequence[MethodTable],
    mode: str,
) -> bool:
    """Whether a mode selects reverse for a call."""
    if mode not in get_args(Mode):
        refuse_mode(mode)
    arrays = (np.ndarray, ActiveArray)
    count = sum(args[i].size if isinstance(args[i], arrays) else 1 for i in places)
    is_auto = mode == "auto" and (count > MANY or have_adjoints(_rules_in_force(rules, tables)))
    return mode == "reverse" or is_auto


def _rules_in_force(
    rules: tuple[MethodTable, ...], tables: Sequence[MethodTable]
) -> tuple[MethodTable, ...]:
    level = [r for table in tables if isinstance(table, LevelTable) for r in table.rules]
    return (*rules, *(table for table in level if table not in rules))


def runs_alone_follow() -> bool:
    """Whether a plugin in force may edit the interpreted program or wrap its calls: an adjoint,
    which is read from the source text, would ignore it."""
    return editing() is not None or not all(map(follows_source, plugins_in_force()))


def editing() -> str | None:
    """The reason why there is no adjoint, if a plugin in force may edit the program, which the
    adjoint would ignore; else None."""
    found = [p for p in plugins_in_force() if may_edit(p) and not p.shares_native_cache]
    return f"{found[0]!r} takes part in compiling it, and may edit it" if found else None


def back(
    adjoint: Adjoint, args: Sequence[Any], wanted: Sequence[Any], tables: Sequence[MethodTable]
) -> tuple[Any, ...]:
    """Call an adjoint. wanted: the adjoint of each number or array of the result."""
    try:
        given = [args[i] for i in adjoint.given]
        return inside_levels(tables, adjoint.function, *given, *wanted)
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        if not adjoint.is_guarded:
            raise
        why = f"it handles an exception that is raised here: {type(error).__name__}: {error}"
        refuse_reverse(adjoint.function.__name__.removeprefix("adjoint_of_"), why, None)


def inside_levels(tables: Sequence[MethodTable], backwards: Callable[..., Any], *args: Any) -> Any:
    """Call a backward pass in the levels in force, which differentiate it, in the tables of other
    interpretations, which compute with its numbers, and in no other table: methods that the program
    calls are in it already. tables: those in force."""
    if not any(table.interprets for table in tables):
        return nonoverlay(backwards)(*args)
    if all(table.faithful for table in tables):
        return backwards(*args)
    inside: Any = nonoverlay(rules_alone())
    return inside(backwards, *args)


def slopes_by_reverse(
    adjoint: Adjoint, args: Sequence[Any], tables: Sequence[MethodTable], shapes: Sequence[Any]
) -> list[list[Any]]:
    """For each number of the result, the derivatives by the active arguments. shapes: the shape of
    each number or array of the result."""
    rows: list[list[Any]] = []
    for i, shape in enumerate(shapes):
        for k in range(int(np.prod(shape)) if shape else 1):
            wanted = [_unit(other, k if i == j else None) for j, other in enumerate(shapes)]
            rows.append(list(back(adjoint, args, wanted, tables)))
    return rows


def _unit(shape: Any, place: int | None) -> Any:
    if not shape:
        return 0.0 if place is None else 1.0
    found = np.zeros(int(np.prod(shape)))
    if place is not None:
        found[place] = 1.0
    return np.reshape(found, shape)


# ---- in compiled code ---------------------------------------------------------------------


def adjoint_of_types(
    types: Sequence[Any], rules: tuple[MethodTable, ...], tables: Sequence[MethodTable]
) -> Adjoint | None:
    """The adjoint of a function that compiled code differentiates, from the types of the function
    and its arguments; None if the function is unknown. Raises NotDifferentiable."""
    f = known_function(types[0])
    if f is None:
        return None
    if in_kernel():
        refuse_array_in_kernel()
    kinds = [_kind_of_type(t) for t in types[1:]]
    return _adjoint(f, kinds, range(len(kinds)), rules, tables, Form(adds=True, is_compiled=True))


def adjoint_adding(
    types: Sequence[Any],
    rules: tuple[MethodTable, ...],
    tables: Sequence[MethodTable],
    *,
    shares: bool,
) -> Adjoint | None:
    """The adjoint for ``add_gradient`` in compiled code, from the types of the function and its
    arguments; None if the function is unknown. shares: whether several threads of a kernel add to
    one array. Raises NotDifferentiable."""
    f = known_function(types[0])
    if f is None:
        return None
    pairs = [pair_of_types(t) for t in types[1:]]
    places = [i for i, pair in enumerate(pairs) if pair is not None]
    given = [t if pair is None else pair[0] for t, pair in zip(types[1:], pairs, strict=True)]
    kinds = [_kind_of_any(t) for t in given]
    _check_pairs(f, pairs, kinds)
    kernel = in_kernel()
    form = Form(adds=True, shares=shares and kernel, is_for_kernel=kernel, is_compiled=True)
    adjoint = _adjoint(f, kinds, places, rules, tables, form)
    if kernel and adjoint.makes is not None:
        refuse_making(name_of(f), *adjoint.makes)
    return adjoint


def pair_of_types(hint: Any) -> tuple[Any, Any] | None:
    """The types of an argument and of the array for its adjoint, if they are given as a pair."""
    parts = get_args(hint) if get_origin(hint) is tuple else ()
    return (parts[0], parts[1]) if len(parts) == 2 else None


def _check_pairs(f: Any, pairs: Sequence[tuple[Any, Any] | None], kinds: Sequence[Any]) -> None:
    """Refuse pairs without an array of floats that fits the argument, and calls without any
    pair."""
    if not any(pairs):
        refuse_pairs()
    for pair, kind in zip(pairs, kinds, strict=True):
        into = None if pair is None else _kind_of_any(pair[1])
        if pair is not None and (into is None or into != NumberKind("f", max(kind.ndim, 1))):
            refuse_pairs()


def _adjoint(
    f: Any,
    kinds: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
    tables: Sequence[MethodTable],
    form: Form,
) -> Adjoint:
    if None in kinds or any(kinds[i].dtype != "f" for i in places):
        refuse_reverse(name_of(f), "it is differentiated by a value that is no float", None)
    edited = editing()
    if edited is not None:
        refuse_reverse(name_of(f), edited, None)
    try:
        adjoint = adjoint_for(f, kinds, places, rules, form, tables)
    except Unreadable as error:
        refuse_reverse(name_of(f), error.asked, error.where, error.help)
    if isinstance(adjoint.result, tuple) or not _is_number(adjoint.result):
        raise NotDifferentiable(
            "autodiff(f, x) by an array needs a function that returns one number",
            where=location_of(f),
            help="sum its result, or use jacobian(f)",
        )
    return adjoint


def _is_number(result: Any) -> bool:
    """Whether the result of a program is one number, which may be a constant."""
    return isinstance(result, KnownBefore) or not result.kind.ndim


def seeds_of(adjoint: Adjoint) -> list[str]:
    """The adjoint of the one number in the result, as arguments of the adjoint in source: none of
    a constant."""
    return ["1.0"] * isinstance(adjoint.result, ReverseValue)


def adjoint_instead(
    types: Sequence[Any], rules: tuple[MethodTable, ...], tables: Sequence[MethodTable]
) -> Adjoint | None:
    """The adjoint of a function of numbers, if compiled code can run the adjoint but not the
    function with dual numbers; else None."""
    f = known_function(types[0])
    if f is None or any(t not in (float, int) for t in types[1:]) or editing():
        return None
    count, form = len(types) - 1, Form(is_for_kernel=in_kernel(), is_compiled=True)
    try:
        adjoint = adjoint_for(f, [FLOAT] * count, range(count), rules, form, tables)
    except Unreadable:
        return None
    gives_number = isinstance(adjoint.result, ReverseValue) and not adjoint.result.kind.ndim
    return adjoint if adjoint.mixes and gives_number else None


def calls_never(adjoint: Adjoint, given: str) -> list[str]:
    """The lines, in compiled code that calls an adjoint, that make it depend on the contexts which
    the function f enters: a call that is never made."""
    return ["    if never(0.0):", f"        f({given})"] if adjoint.enters else []


def functions_read(adjoint: Adjoint) -> list[Any]:
    """The functions from which an adjoint was made, for compiled code that depends on them.
    Refuses reads that compiled code does not watch, and handlers that it does not reach.
    """
    for owner, name, _ in adjoint.attributes:
        if not isinstance(owner, (ModuleType, type, MethodTable)):
            refuse_reverse(
                adjoint.function.__name__.removeprefix("adjoint_of_"),
                f"it reads the attribute {name!r} of an object from outside, which may change",
                None,
                "pass the number as an argument, or read it from a module or class",
            )
    if adjoint.is_guarded:
        refuse_reverse(
            adjoint.function.__name__.removeprefix("adjoint_of_"),
            "it handles exceptions of functions that raise none in compiled code",
            None,
            "test for the values before, or take the derivative in interpreted code",
        )
    found: list[Any] = [reading.function for reading in adjoint.readings]
    classes = [(owner, name) for owner, name, _ in adjoint.attributes if isinstance(owner, type)]
    return [*found, _reader_of(classes)] if classes else found


def _reader_of(attributes: Sequence[tuple[type, str]]) -> Any:
    """A function that reads attributes of classes; all reads of compiled code are those of
    functions."""
    owners = list(dict.fromkeys(owner for owner, _ in attributes))
    names = dict.fromkeys(f"class_{owners.index(owner)}.{name}" for owner, name in attributes)
    space = {f"class_{i}": owner for i, owner in enumerate(owners)}
    return defined("read", f"def read(): return {', '.join(names)}\n", space)


def _kind_of_type(hint: Any) -> NumberKind | None:
    if hint in (float, int):
        return FLOAT
    dtype, ndim = getattr(hint, "dtype", None), getattr(hint, "ndim", None)
    return NumberKind("f", ndim) if dtype is np.float64 and isinstance(ndim, int) else None


def _kind_of_any(hint: Any) -> NumberKind | None:
    """The kind of an argument of any precision."""
    ndim = getattr(hint, "ndim", 0)
    dtype = getattr(hint, "dtype", hint)
    kinds = ((bool, np.bool_), "b"), ((int, np.integer), "i"), ((float, np.floating), "f")
    if isinstance(ndim, int) and isinstance(dtype, type):
        return next((NumberKind(kind, ndim) for of, kind in kinds if issubclass(dtype, of)), None)
    return None

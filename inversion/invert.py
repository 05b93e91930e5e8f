"""``invert`` and ``choose``: from a function to its inverse."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from inversion.arrays.fusion import fuse_elementwise, fuse_moved
from inversion.arrays.linear_loops import with_systems
from inversion.branches import absorb
from inversion.chaining import chained
from inversion.code import Cache
from inversion.congruences import reduced
from inversion.definition import Axes, Definition
from inversion.digits import by_digits
from inversion.emitting import emit
from inversion.errors import NotInvertible, WrongArguments
from inversion.finite import by_trial
from inversion.integer_systems import with_integer_systems
from inversion.inverse import Inverse
from inversion.lifting import Lifted, lift
from inversion.passes import SIMPLIFY, prune
from inversion.plan import Plan, plan, renamed
from inversion.polar import in_polar_coordinates
from inversion.program import Program
from inversion.raising import may_hide_errors
from inversion.sending import Request
from inversion.tightening import tightened
from inversion.trees import Node, Tree, declared, leaves, mapped
from overlay import Context
from overlay.location import caller, location_of
from overlay.target import describe
from primitives import Bool, Domain
from primitives.arrays.domain import (
    ELEMENTS,
    Arrays,
    Shape,
    array_of,
    is_array,
    type_of_array,
)
from primitives.domains import domain_of
from primitives.relation import RETURN
from primitives.sequences.lists import ELEMENTS as LIST_ELEMENTS
from primitives.sequences.lists import is_list, list_of

__all__ = ["choose", "invert"]

PIPELINE: tuple[Callable[[Program], Program], ...] = (
    *SIMPLIFY,
    by_digits,
    reduced,
    chained,
    prune,
    fuse_moved,
)
"""What every program goes through after lifting, whatever is known."""

KINDS = (float, int, bool, complex, np.int64, np.uint64, str)
EQUAL: Mapping[Any, type] = {np.float64: float, np.bool_: bool}


def invert(
    f: Callable[..., Any],
    *types: Any,
    context: Context | None = None,
    domain: Mapping[str, Domain] | None = None,
    root_finding: bool = True,
    max_trips: int = 1000,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    cache: Cache = False,
) -> Inverse:
    """The parametric inverse of a function: from its result to all its arguments.

    types: of the arguments, or examples of them, by default from their annotations; a parameter
    left without one keeps its default. ``Annotated[float, Interval(0, 1)]``, or domain: ``{"name":
    ...}``, declares that answers lie there. context: calls in f are resolved against its tables
    first, and so are the relations; answers are checked under it. root_finding: whether to look
    for roots where algebra does not close a loop of shared variables: a parameter then says where
    the search begins; root_finding=False refuses such a program. max_trips: how often a ``while``
    loop may run; more turns are refused when the inverse is called. rtol, atol: how far from the
    known result, relative to it, f of the answer may be. cache: whether compiled code is kept on
    disk, where other processes find it; or the folder.
    Raises NotInvertible, with the line, where a statement cannot be solved.

    >>> import math
    >>> from inversion import invert
    >>> inverse = invert(lambda x: 2 * math.exp(x) + 3, float)
    >>> inverse(5.0)
    (0.0,)
    """
    return choose(
        f,
        *types,
        known=(RETURN,),
        context=context,
        domain=domain,
        root_finding=root_finding,
        max_trips=max_trips,
        rtol=rtol,
        atol=atol,
        cache=cache,
    )


def choose(
    f: Callable[..., Any],
    *types: Any,
    known: Sequence[str],
    context: Context | None = None,
    domain: Mapping[str, Domain] | None = None,
    root_finding: bool = True,
    max_trips: int = 1000,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    cache: Cache = False,
) -> Inverse:
    """As ``invert``, with any axes known: names of arguments, and ``"return"``.

    Its calls take the known values in the order of ``known``, and answer the other arguments in
    parameter order, an unknown ``"return"`` last.

    >>> from inversion import choose
    >>> divisor = choose(lambda x, y: x / y, float, float, known=("return", "x"))
    >>> divisor(4.0, 2.0, divisor.parameters.default())
    (0.5,)
    """
    if not callable(f):
        raise WrongArguments(
            f"{f!r} is no function", where=caller(), help="give the function that is to be inverted"
        )
    inputs, domains = _inputs(f, types)
    names = [name for name, _ in inputs]
    kinds = {at: kind for name, tree in inputs for at, kind in _numbers(name, tree)}
    for at, wanted in (domain or {}).items():
        if at not in kinds:
            raise _unknown_axis(f, at, list(kinds), "domain")
        domains[at] = wanted
    for at, kind in kinds.items():
        if is_array(kind) and at in domains and not isinstance(domains[at], Arrays):
            domains[at] = Arrays(domains[at], kind.shape)
        if at in domains:
            _check_domain(f, at, kind, domains[at])
        elif kind is bool:
            domains[at] = Bool
    if isinstance(known, str):
        raise WrongArguments(
            f"known is a tuple of axes, not the string {known!r}",
            where=caller(),
            help=f"write known=({known!r},)",
        )
    for axis in known:
        if axis not in (*names, RETURN):
            raise _unknown_axis(f, axis, [*names, RETURN], "known")
    if len(set(known)) < len(known):
        raise WrongArguments(
            f"known names an axis twice: {known!r}", where=caller(), help="name each axis once"
        )
    try:
        lifted = lift(f, inputs, context, root_finding=root_finding, max_trips=max_trips)
        program, made, stated = _planned(lifted, known, domains, root_finding=root_finding)
    except NotInvertible:
        tried = by_trial(f, inputs, known, domains, context)
        if tried is None:
            raise
        lifted = tried
        program, made, stated = _planned(lifted, known, domains, root_finding=root_finding)
    axes = Axes(lifted.axes, tuple(known))
    source = emit(made, axes.trees, axes.known, rtol, atol, stated)
    hides = may_hide_errors(program, lifted.program)
    definition = Definition(f, made, axes, source, context, stated, (rtol, atol), program, hides)
    options = {
        "known": tuple(known),
        "context": context,
        "domain": domain,
        "root_finding": root_finding,
    }
    options |= {"max_trips": max_trips, "rtol": rtol, "atol": atol, "cache": cache}
    return Inverse(definition, Request(choose, f, types, options), cache)


def _planned(
    lifted: Lifted,
    known: Sequence[str],
    domains: Mapping[str, Domain],
    *,
    root_finding: bool,
) -> tuple[Program, Plan, Mapping[str, Domain]]:
    """The program as it is planned, its plan, and the domains declared for its inputs."""
    # each pass takes a program and gives a program; planning and emitting follow
    program = functools.reduce(lambda p, rewrite: rewrite(p), PIPELINE, lifted.program)
    parts = [leaf for axis in known for leaf in leaves(lifted.axes[axis])]
    stated = {
        leaf: domains[at]
        for name, tree in lifted.axes.items()
        for at, leaf in _numbers(name, tree)
        if at in domains
    }
    program = absorb(fuse_elementwise(with_systems(program, parts)))
    program = prune(in_polar_coordinates(program, parts))
    try:
        made = plan(program, parts, stated, root_finding=root_finding)
    except NotInvertible:
        gathered = prune(with_integer_systems(program))
        if gathered == program:
            raise
        program, made = gathered, plan(gathered, parts, stated, root_finding=root_finding)
        if {v for v in gathered.inputs if v.name not in parts} <= set(made.free):
            raise  # all would be chosen, and what is known only checked
    axes = {*lifted.axes, *program.axes}
    return program, renamed(tightened(made, stated), axes), stated


def _inputs(
    f: Callable[..., Any], types: Sequence[Any]
) -> tuple[list[tuple[str, Any]], dict[str, Domain]]:
    """The names and types of the inputs, and the domains that annotations declare."""
    names, required, hints = _signature(f, len(types))
    if not types:
        given = {name: hints[name] for name in names if name in hints}
        missing = [name for name in required if name not in hints]
        if missing:
            raise WrongArguments(
                f"{describe(f)} does not say the type of {', '.join(missing)}",
                where=location_of(f),
                help="annotate it, or give the types to invert",
            )
        chosen = {name: given[name] for name in required}
    elif not len(required) <= len(types) <= len(names):
        raise WrongArguments(
            f"{describe(f)} has {len(names)} parameters ({', '.join(names)}); "
            f"{len(types)} types were given",
            where=caller(),
            help="give a type for each parameter that has no default",
        )
    else:
        chosen = dict(zip(names, types, strict=False))
    domains: dict[str, Domain] = {}
    inputs = [(name, _kinds(f, name, declared(hint), domains)) for name, hint in chosen.items()]
    return inputs, domains


def _kinds(f: Callable[..., Any], name: str, hint: Any, domains: dict[str, Domain]) -> Tree:
    """The type, or the tree of types, that an annotation says; its domains are noted."""
    if isinstance(hint, Node):
        labels = zip(hint.labels, hint.items, strict=True)
        return Node(hint.cls, tuple(_kinds(f, name + at, item, domains) for at, item in labels))
    kind = hint
    shape: Shape | None = None
    if typing.get_origin(hint) is typing.Annotated:
        kind, *notes = typing.get_args(hint)
        for note in notes:
            if isinstance(note, Domain):
                domains[name] = note
            if isinstance(note, Shape):
                shape = note
    if isinstance(kind, np.ndarray):
        return type_of_array(kind)
    if typing.get_origin(kind) is np.ndarray or kind is np.ndarray:
        return _array_type(f, name, kind, shape)
    if is_array(kind) or is_list(kind):
        return kind
    if typing.get_origin(kind) is list and typing.get_args(kind)[0] in LIST_ELEMENTS:
        return list_of(typing.get_args(kind)[0])
    if domain_of(type(kind)) is not None and not isinstance(kind, str):
        kind = type(kind)  # an example; a string is rather the name of a type
    if not isinstance(kind, type):
        raise WrongArguments(
            f"{name} of {describe(f)} has no plain type: {hint!r}",
            where=location_of(f),
            help="float, int, bool, complex, str, numpy.int64 and numpy.uint64 are inverted; "
            "tuples of them, tuple[float, float]; and list[float], list[int], list[str]",
        )
    kind = EQUAL.get(kind, kind)
    if domain_of(kind) is not None and kind not in KINDS:
        raise WrongArguments(
            f"{name} of {describe(f)} is of type {kind.__name__}, a subclass of a number's",
            where=location_of(f),
            help="numbers are inverted: float, int, bool, complex, numpy.int64, numpy.uint64",
        )
    return kind


def _array_type(f: Callable[..., Any], name: str, hint: Any, shape: Shape | None) -> type:
    """The type of arrays that an annotation of numpy's means, with a shape."""
    scalar = (*typing.get_args((*typing.get_args(hint), None, None)[1]), None)[0]
    if shape is None or scalar not in ELEMENTS:
        raise WrongArguments(
            f"{name} of {describe(f)} has no known {'shape' if scalar in ELEMENTS else 'dtype'}: "
            f"{hint!r}",
            where=location_of(f),
            help="give an example to invert, such as numpy.zeros((3, 4)), or annotate it: "
            "Annotated[NDArray[numpy.float64], Shape(3, 4)]",
        )
    return array_of(ELEMENTS[scalar], shape.lengths)


def _numbers(name: str, tree: Tree) -> list[tuple[str, Any]]:
    """The leaves of a tree, each with how it is written: ``x``, ``p[0]``, ``p.x``."""
    found: list[tuple[str, Any]] = []
    mapped(tree, lambda path, leaf: found.append((name + path, leaf)))
    return found


def _check_domain(f: Callable[..., Any], name: str, kind: type, declared: object) -> None:
    if not isinstance(declared, Domain):
        raise WrongArguments(
            f"the domain of {name} in {describe(f)} is no domain: {declared!r}",
            where=caller(),
            help="give a primitives.Domain, such as Interval(0, 1)",
        )
    if declared.kind is not kind:
        raise WrongArguments(
            f"{declared!r} holds values of type {declared.kind.__name__}, "
            f"and {name} of {describe(f)} is of type {kind.__name__}",
            where=caller(),
            help="Interval is for floats, Integers(low, high, kind=...) for integers and words",
        )


def _signature(f: Callable[..., Any], count: int) -> tuple[list[str], list[str], dict[str, Any]]:
    """The names of a function's parameters, those without default, and their annotations."""
    function = getattr(f, "py_func", f)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        names = [f"x{i + 1}" for i in range(count)]
        return names, names, {}
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    keyword = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if keyword:
        raise WrongArguments(
            f"{describe(f)} takes {', '.join(keyword)} by keyword only",
            where=location_of(f),
            help="inputs are given by position; give these a default, or wrap the function",
        )
    parameters = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    names = [p.name for p in parameters]
    return names, [p.name for p in parameters if p.default is p.empty], hints


def _unknown_axis(
    f: Callable[..., Any], name: object, axes: Sequence[str], what: str
) -> WrongArguments:
    return WrongArguments(
        f"{describe(f)} has no axis {name!r} for {what}",
        where=caller(),
        notes=[("axes", ", ".join(axes))],
        help="the axes are the names of the arguments, and 'return'",
    )

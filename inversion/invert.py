"""``invert`` and ``choose``: from a function to its inverse."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from inversion.emitting.entry_code import emit
from inversion.emitting.raising import may_hide_errors
from inversion.errors import NotInvertible, WrongArguments
from inversion.inverse import Inverse
from inversion.lifting.lifter import Lifted, lift
from inversion.passes.array_fusion import fuse_elementwise, fuse_moved
from inversion.passes.chaining import chained
from inversion.passes.digits import by_digits
from inversion.passes.gathered_sums import with_integer_systems
from inversion.passes.linear_loops import with_systems
from inversion.passes.polar_coordinates import in_polar_coordinates
from inversion.passes.reduced_products import reduced
from inversion.passes.simplifying import SIMPLIFY, prune
from inversion.planning.plan import Plan, plan, renamed
from inversion.planning.tightening import tightened
from inversion.program.branches import absorb
from inversion.program.definition import Definition
from inversion.program.statements import Program
from inversion.program.trees import Axes, Node, Tree, Trees, axis_of, declared, leaves, mapped
from inversion.running.generated_functions import Cache
from inversion.running.sending import Request
from inversion.solving.finite import by_trial
from overlay import Context
from overlay.core.location import caller, location_of
from overlay.core.signature import without_alias
from overlay.core.target import describe
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
    loop may run; more turns are refused when the inverse is called. rtol: how far from each
    number of the known result, relative to it, f of the answer may be; atol: how far from a 0.
    cache: whether compiled code is kept on disk, where other processes find it; or the folder.
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
    parameter order, an unknown ``"return"`` last. Parts of tuples and records may be known:
    ``"return[0]"``, ``"o.strike"``; what is known in part is answered as a whole.

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
        if axis_of(axis)[0] not in (*names, RETURN):
            raise _unknown_axis(f, axis, [*names, RETURN], "known")
    keywords = _by_keyword(f, names)
    try:
        lifted = lift(f, inputs, context, root_finding=root_finding, max_trips=max_trips,
                      keywords=keywords)  # fmt: skip
        axes = _axes(f, lifted, known)
        program, made, stated = _planned(lifted, axes, domains, root_finding=root_finding)
    except NotInvertible:
        tried = by_trial(_positional(f, names, keywords), inputs, known, domains, context)
        if tried is None:
            raise
        lifted, axes = tried, _axes(f, tried, known)
        program, made, stated = _planned(lifted, axes, domains, root_finding=root_finding)
    source = emit(made, axes, rtol, atol, stated)
    hides = may_hide_errors(program, lifted.program)
    function = _positional(f, names, keywords)
    definition = Definition(
        function, made, axes, source, context, stated, (rtol, atol), program, hides
    )
    options = {
        "known": tuple(known),
        "context": context,
        "domain": domain,
        "root_finding": root_finding,
    }
    options |= {"max_trips": max_trips, "rtol": rtol, "atol": atol, "cache": cache}
    return Inverse(definition, Request(choose, f, types, options), cache)


def _axes(f: Callable[..., Any], lifted: Lifted, known: Sequence[str]) -> Axes:
    """The axes of a function, of which these, or these parts, are known."""
    axes, seen = Axes(Trees(lifted.axes), tuple(known)), set[str]()
    for name in known:
        try:
            tree = axes.trees[name]
        except KeyError:
            parts = [at for axis, tree in lifted.axes.items() for at in _parts(axis, tree)]
            raise _unknown_axis(f, name, parts, "known") from None
        if not seen.isdisjoint(leaves(tree)):
            raise WrongArguments(
                f"known names an axis twice: {tuple(known)!r}",
                where=caller(),
                help="name each axis, and each part of one, once",
            )
        seen.update(leaves(tree))
    return axes


def _parts(name: str, tree: Tree) -> list[str]:
    """An axis and its parts, as they are named."""
    if not isinstance(tree, Node):
        return [name]
    pairs = zip(tree.labels, tree.items, strict=True)
    return [name, *(part for label, item in pairs for part in _parts(name + label, item))]


def _by_keyword(f: Callable[..., Any], names: Sequence[str]) -> tuple[str, ...]:
    """Those of these parameters that are given by keyword only."""
    try:
        parameters = inspect.signature(getattr(f, "py_func", f)).parameters
    except (TypeError, ValueError):
        return ()
    kinds = {p.name: p.kind for p in parameters.values()}
    return tuple(name for name in names if kinds.get(name) is inspect.Parameter.KEYWORD_ONLY)


def _positional(
    f: Callable[..., Any], names: Sequence[str], keywords: Sequence[str]
) -> Callable[..., Any]:
    """A function that takes these parameters by position, and passes those on by keyword."""
    if not keywords:
        return f
    passed = [f"{name}={name}" if name in keywords else name for name in names]
    namespace: dict[str, Any] = {"__function": f, "__name__": f.__module__}
    text = f"def given({', '.join(names)}):\n    return __function({', '.join(passed)})"
    exec(compile(text, f"<{describe(f)} by position>", "exec"), namespace)
    made = namespace["given"]
    made.__name__, made.__qualname__ = f.__name__, f.__qualname__
    return made


def _planned(
    lifted: Lifted,
    known: Axes,
    domains: Mapping[str, Domain],
    *,
    root_finding: bool,
) -> tuple[Program, Plan, Mapping[str, Domain]]:
    """The program as it is planned, its plan, and the domains declared for its inputs."""
    # each pass takes a program and gives a program; planning and emitting follow
    program = functools.reduce(lambda p, rewrite: rewrite(p), PIPELINE, lifted.program)
    parts = [leaf for axis in known.known for leaf in leaves(known.trees[axis])]
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
    names = {*lifted.axes, *program.axes}
    return program, renamed(tightened(made, stated), names), stated


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
        left = len(types) - len(required)  # of those that have a default
        taken = [name for name in names if name in required or (left := left - 1) >= 0]
        chosen = dict(zip(taken, types, strict=True))
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
    if typing.get_origin(kind) is typing.Annotated:
        kind, *notes = typing.get_args(kind)
        kind = without_alias(kind)
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
    if dataclasses.is_dataclass(kind):
        raise WrongArguments(
            f"{name} of {describe(f)} is a {kind.__name__}, a dataclass that does more than hold "
            "its fields, all given by position and of declared types",
            where=location_of(f),
            help="leave out __post_init__, __getattr__, an __init__ of its own, and fields that "
            "are given by keyword only or not at all",
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
    names = [p.name for p in parameters]
    return names, [p.name for p in parameters if p.default is p.empty], hints


def _unknown_axis(
    f: Callable[..., Any], name: object, axes: Sequence[str], what: str
) -> WrongArguments:
    return WrongArguments(
        f"{describe(f)} has no axis {name!r} for {what}",
        where=caller(),
        notes=[("axes", ", ".join(axes))],
        help="the axes are the names of the arguments, and 'return'; parts of them are written as "
        "'p.x' and 'return[0]'",
    )

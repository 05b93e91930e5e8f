"""The inputs of a function: their names, types and domains, as they are declared or passed to
invert.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from inversion.errors import WrongArguments
from inversion.lifting.resolve import body_of, called_by, check_named
from inversion.program.trees import Node, Tree, axis_of, declared, mapped
from overlay.core.errors import closest, near_names
from overlay.core.location import caller, location_of
from overlay.core.short_repr import a_or_an, counted
from overlay.core.signature import without_alias
from overlay.core.target import describe
from primitives import Bool, Domain, Integers
from primitives.arrays.domain import (
    ELEMENTS,
    Arrays,
    Shape,
    array_of,
    element_of,
    is_array,
    type_of_array,
)
from primitives.domains import domain_of
from primitives.sequences.lists import ELEMENTS as LIST_ELEMENTS
from primitives.sequences.lists import is_list, list_of

__all__ = ["inputs_of", "inputs_within", "numbers_of", "unknown_axis"]

KINDS = (float, int, bool, complex, np.int64, np.uint64, str, bytes)
EQUAL: Mapping[Any, type] = {np.float64: float, np.bool_: bool}
_EXAMPLES: Mapping[Any, str] = {
    int: "Integers(0, 255), or range(256)",
    np.int64: "Integers(0, 255, kind=numpy.int64), or range(256)",
    np.uint64: "Integers(0, 255, kind=numpy.uint64), or range(256)",
    bool: "Bool",
    complex: "ComplexNumbers()",
    str: "Strings('01', 8, 8)",
    bytes: "ByteStrings(4, 4)",
}
"""The source of an example domain, by type; for other types it is an interval."""


def inputs_of(
    f: Callable[..., Any], types: Sequence[Any], asked: Collection[Any] = ()
) -> tuple[list[tuple[str, Any]], dict[str, Domain]]:
    """The names and types of the inputs, and the domains that annotations declare.

    asked: names of axes or parts of them. A parameter with a default is an input if it is among
    these, or if it is given a type.
    """
    names, required, hints = _signature(f, len(types))
    if not types:
        wanted = {axis_of(each)[0] for each in asked if isinstance(each, str)}
        required = [name for name in names if name in required or name in wanted]
        given = {name: hints[name] for name in names if name in hints}
        missing = [name for name in required if name not in hints]
        if missing:
            check_named(f)
            raise WrongArguments(
                f"{describe(f)} does not say the type of {', '.join(missing)}",
                where=location_of(f),
                help="annotate each parameter, or give their types: invert(f, float, ...)",
            )
        chosen = {name: given[name] for name in required}
    elif not len(required) <= len(types) <= len(names):
        check_named(f)
        raise WrongArguments(
            f"{describe(f)} has {counted(len(names), 'parameter')} ({', '.join(names)}); "
            f"{len(types)} {'type was' if len(types) == 1 else 'types were'} given",
            where=caller(),
            help="give one for each parameter that has no default",
        )
    else:
        left = len(types) - len(required)  # the types for parameters that have a default
        taken = [name for name in names if name in required or (left := left - 1) >= 0]
        chosen = dict(zip(taken, types, strict=True))
    domains: dict[str, Domain] = {}
    inputs = [(name, _kinds(f, name, declared(hint), domains)) for name, hint in chosen.items()]
    return inputs, domains


def inputs_within(
    f: Callable[..., Any],
    types: Sequence[Any],
    declared: Mapping[str, Domain | range],
    known: Sequence[str] = (),
) -> tuple[list[tuple[str, Any]], dict[str, Domain]]:
    """The names and types of the inputs, and their domains, from annotations and from ``declared``.

    declared: domains by input, or by part of one. known: the known axes, or parts of them.
    """
    is_mapping = isinstance(declared, Mapping)  # pyright: ignore[reportUnnecessaryIsInstance]
    inputs, domains = inputs_of(f, types, [*known, *(declared if is_mapping else ())])
    kinds = {at: kind for name, tree in inputs for at, kind in numbers_of(name, tree)}
    if not is_mapping:
        at, kind = next(iter(kinds.items()), ("x", float))
        raise WrongArguments(
            f"the domains of {describe(f)} are given by argument, not as {declared!r}",
            where=caller(),
            help=f"write domain={{{at!r}: {_example(kind, declared)}}}",
        )
    for at, wanted in declared.items():
        if at not in kinds:
            raise unknown_axis(f, at, list(kinds), "domain")
        domains[at] = _domain(f, at, kinds[at], wanted)
    for at, kind in kinds.items():
        if is_array(kind) and at in domains and not isinstance(domains[at], Arrays):
            domains[at] = Arrays(domains[at], kind.shape)
        if at in domains:
            _check_domain(f, at, kind, domains[at])
        elif kind is bool:
            domains[at] = Bool
    return inputs, domains


def _kinds(f: Callable[..., Any], name: str, hint: Any, domains: dict[str, Domain]) -> Tree:
    """The type, or tree of types, of an annotation; its domains are added to ``domains``."""
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
        kind = type(kind)  # an example value; a string would be the name of a type
    if not isinstance(kind, type):
        raise WrongArguments(
            f"{name} of {describe(f)} has a type that is not supported: {hint!r}",
            where=location_of(f),
            help="give float, int, bool, complex, str, bytes, numpy.int64 or numpy.uint64; a tuple "
            "of them, as tuple[float, float]; list[float], list[int] or list[str]; or an example "
            "array, as numpy.zeros(3)",
        )
    if dataclasses.is_dataclass(kind):
        raise WrongArguments(
            f"{name} of {describe(f)} is {a_or_an(kind.__name__)}, a dataclass that does more "
            "than hold fields of declared types, all passed by position",
            where=location_of(f),
            help="leave out __post_init__, __getattr__ and __init__, and fields that are "
            "keyword-only or not passed to __init__",
        )
    kind = EQUAL.get(kind, kind)
    if domain_of(kind) is not None and kind not in KINDS:
        raise WrongArguments(
            f"{name} of {describe(f)} is of type {kind.__name__}, a subclass of a supported type",
            where=location_of(f),
            help="give the type itself: float, int, bool, complex, numpy.int64 or numpy.uint64",
        )
    return kind


def _array_type(f: Callable[..., Any], name: str, hint: Any, shape: Shape | None) -> type:
    """The array type of a numpy annotation with a shape."""
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


def numbers_of(name: str, tree: Tree) -> list[tuple[str, Any]]:
    """The leaves of a tree, each with its path: ``x``, ``p[0]``, ``p.x``."""
    found: list[tuple[str, Any]] = []
    mapped(tree, lambda path, leaf: found.append((name + path, leaf)))
    return found


def _domain(f: Callable[..., Any], name: str, kind: Any, declared: Any) -> Domain:
    """The domain that is declared for an input; a range stands for the domain of its integers."""
    element = element_of(kind) if is_array(kind) else kind
    if isinstance(declared, range) and declared and abs(declared.step) == 1:
        low, high = min(declared[0], declared[-1]), max(declared[0], declared[-1])
        return Integers(low, high, kind=element if element in (np.int64, np.uint64) else int)
    if isinstance(declared, Domain):
        return declared
    raise WrongArguments(
        f"the domain of {name} in {describe(f)} is not a domain: {declared!r}",
        where=caller(),
        help=f"give a domain of primitives, such as {_example(kind, declared)}",
    )


def _example(kind: Any, given: Any) -> str:
    """The source of a domain of a type, between the bounds if a pair of numbers is given."""
    element = element_of(kind) if is_array(kind) else kind
    if isinstance(given, (tuple, list)) and len(given) == 2:
        low, high = given
        if element is float and all(isinstance(end, (int, float)) for end in given):
            return f"primitives.Reals({low!r}, {high!r})"
        if element is int and all(isinstance(end, int) for end in given):
            return f"primitives.Integers({low}, {high}), or range({low}, {high + 1})"
    return repr(given) if isinstance(given, Domain) else _EXAMPLES.get(element, "Reals(0, 1)")


def _check_domain(f: Callable[..., Any], name: str, kind: type, declared: Domain) -> None:
    if declared.kind is not kind:
        raise WrongArguments(
            f"{declared!r} holds values of type {declared.kind.__name__}, "
            f"and {name} of {describe(f)} is of type {kind.__name__}",
            where=caller(),
            help="Reals is for floats, Integers(low, high, kind=...) for integers and words",
        )


def _signature(f: Callable[..., Any], count: int) -> tuple[list[str], list[str], dict[str, Any]]:
    """The names of the parameters of a function, the names of those without a default, and the
    annotations.
    """
    try:
        parameters = inspect.signature(getattr(f, "py_func", f)).parameters.values()
    except (TypeError, ValueError):
        names = [f"x{i + 1}" for i in range(count)]
        return names, names, {}
    names = [p.name for p in parameters]
    return names, [p.name for p in parameters if p.default is p.empty], _hints(f)


def _hints(f: Any) -> dict[str, Any]:
    """The annotations of the Python code that a callable runs."""
    while (inner := called_by(f)) is not None:
        f = inner.func
    function = getattr(f, "py_func", f)
    if not hasattr(function, "__qualname__"):  # an object whose class has __call__
        function = body_of(f) or f
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        return {}


def unknown_axis(
    f: Callable[..., Any], name: object, axes: Sequence[str], what: str
) -> WrongArguments:
    """The error for the name of an axis that a function does not have. what: the option."""
    near = near_names(str(name), axes)
    names, required, _ = _signature(f, len(axes))
    help = "the axes are the names of the arguments, and 'return'; parts of them are written as "
    help += "'p.x' and 'return[0]'"
    if name in names and name not in required:
        help = f"{name} has a default: it is an axis if its type is given, too"
    return WrongArguments(
        f"{describe(f)} has no axis {name!r} for {what}",
        where=caller(),
        notes=[*closest(near), ("axes", ", ".join(axes))],
        help=help,
    )

"""Calls, attributes and items of arrays, as statements of a program."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.array_calls import CHOSEN, TO_BE_KNOWN, ArrayCall, operands_in
from inversion.lifting.array_definitions import definition_of
from inversion.lifting.array_maps import linear_call
from inversion.lifting.array_reductions import REDUCTIONS, reduced
from inversion.lifting.elements import each, is_elementwise
from inversion.lifting.lifted_values import (
    CallSite,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    refused,
    value_of,
)
from inversion.lifting.resolve import body_of, forward_only
from inversion.program.statements import Constant, Operand, Variable
from overlay import OverlayError
from overlay.core.target import describe, signature_of
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.rules.tables.layouts import astype
from primitives.arrays.array_table import ARRAY_RELATIONS
from primitives.arrays.domain import element_of, is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "BoundArrayMethod",
    "array_as",
    "array_attribute",
    "array_call",
    "array_rows",
    "complex_attribute",
    "holds_array",
]

METHODS: Mapping[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "mean", "prod", "max", "min", "cumsum", "cumprod", "dot", "reshape", "ravel",
        "transpose", "swapaxes", "squeeze", "take", "repeat", "copy", "clip", "diagonal", "std",
        "var", "trace", "round", "argmax", "argmin", "argsort", "any", "all", "conjugate",
        "compress", "nonzero", "searchsorted",
    )
} | {
    "flatten": np.copy, "conj": np.conjugate, "astype": astype, "tolist": list, "item": np.take,
}  # fmt: skip
WRITTEN: Final = "write what it computes with slices and operators, or give it a relation"
PARTS: Mapping[str, Any] = {"T": np.transpose, "real": np.real, "imag": np.imag, "flat": np.ravel}
"""Attributes that are functions of an array."""

SHAPED = ("reshape", "transpose")  # they take a shape, or its lengths as separate arguments


@dataclass(frozen=True)
class BoundArrayMethod:
    """A method of an array, bound to the array."""

    name: str
    base: Value

    def __call__(self) -> None:
        """Never called: makes the object callable, as methods are."""


def holds_array(value: Value) -> bool:
    """Return whether a value is an array, or a tuple or list that contains one."""
    return any(is_array(operand.kind) for operand in operands_in(value))


def array_as(lifter: Lifter, site: CallSite, value: Operand, kind: Any) -> Operand | None:
    """An array with elements of another type; None if no array is required."""
    if not is_array(kind):
        return None
    given = [value, KnownObject(element_of(kind))]
    (result,) = operands_in(lifter.call(replace(site, overlaid=False), (astype,), given, {}))
    return result


def array_attribute(lifter: Lifter, site: CallSite, base: Value, name: str) -> Value:
    """An attribute of an array: one of its shape, ``T``, or a method."""
    shape = shape_of(base.kind)
    known = {"shape": shape, "ndim": len(shape), "size": int(np.prod(shape))}
    if name in known:
        return value_of(known[name])
    if name == "dtype":
        return KnownObject(np.dtype(element_of(base.kind)))
    if name in PARTS:
        return lifter.call(site, (PARTS[name],), [base], {})
    if name in METHODS:
        return KnownObject(BoundArrayMethod(name, base))
    raise NotInvertible(
        f"cannot invert the attribute {name!r} of an array",
        where=site.where,
        notes=[("attributes that have a meaning", ", ".join((*known, "dtype", *PARTS, *METHODS)))],
        help="use a function of numpy that has a relation",
    )


def complex_attribute(lifter: Lifter, site: CallSite, base: Value, name: str) -> Value | None:
    """A part or the conjugate of a complex number; None for other attributes."""
    if name in PARTS:
        return lifter.call(site, (PARTS[name],), [base], {})
    return KnownObject(BoundArrayMethod(name, base)) if name == "conjugate" else None


def array_call(
    lifter: Lifter, site: CallSite, targets: Sequence[Any], args: Values, kwargs: Named
) -> Value | None:
    """The value of a call with arrays among its arguments; None for a function whose body is
    inlined instead.

    Raises NotInvertible if the function has no relation for these arguments.
    """
    target = targets[0]
    if isinstance(target, BoundArrayMethod):
        return _method(lifter, site, target, args, kwargs)
    target = targets[-1]  # an operation in place is a write of its result
    if _has_out(target, args, kwargs):
        help = "assign the result instead: y = f(x), or y[:] = f(x)"
        raise refused(f"out= in a call of {describe(target)}", site.where, help)
    if any(isinstance(value, Tupled) for value in args) and _takes_lists(target):
        args = [_as_array(lifter, site, value) for value in args]
        kwargs = {name: _as_array(lifter, site, value) for name, value in kwargs.items()}
    if not any(map(holds_array, (*args, *kwargs.values()))):
        return _built(lifter, site, target, args, kwargs)
    if target is len:
        return Constant(shape_of(args[0].kind)[0])
    if target in OF_ROWS and type(args[0]) is not Tupled:
        return _of_rows(lifter, site, target, args)
    called = ArrayCall(lifter, site, target, args, kwargs)
    try:
        found = _result(called)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, OverlayError):
            raise
        raise called.not_taken(error) from error
    if found is not None:
        return called.noted(found)
    by = definition_of(target)
    if by is not None:
        inner = site.active[-1] if site.active else None
        if inner and inner.code[0] is by.__code__ and set(inner.given) & set(called.variables):
            reason = "its result is computed from the values of its array"
            raise called.refused(reason, WRITTEN)
        try:
            return lifter.call(replace(site, overlaid=False), (by,), args, kwargs)
        except NotInvertible as error:  # a line of the definition is not a line of the program
            reason = dict(error.notes).get("reason", error.asked)
            raise called.refused(reason, WRITTEN) from error
    if body_of(target) is None:
        return called.noted(_forwards(called))
    return None


def _has_out(target: Any, args: Values, kwargs: Named) -> bool:
    """Return whether a call of a numpy function has an array for its result, by position or
    keyword.
    """
    given = kwargs.get("out")
    if given is None and isinstance(target, np.ufunc):
        given = args[target.nin] if len(args) > target.nin else None
    elif given is None and str(getattr(target, "__module__", "")).partition(".")[0] == "numpy":
        signature = signature_of(target)
        places = [] if signature is None else list(signature.parameters.values())
        names = [place.name for place in places if place.kind is place.POSITIONAL_OR_KEYWORD]
        place = names.index("out") if "out" in names else len(args)
        given = args[place] if len(args) > place else None
    return given is not None and not (isinstance(given, KnownObject) and given.value is None)


def _method(
    lifter: Lifter, site: CallSite, method: BoundArrayMethod, args: Values, kwargs: Named
) -> Value:
    """The result of a method of an array."""
    base, name = method.base, method.name
    if name in SHAPED and args and not isinstance(args[0], (Tupled, KnownObject)):
        args = [Tupled(tuple, tuple(args))]
    if name == "flatten":
        base = lifter.call(site, (np.ravel,), [base], {})
    if name == "item":
        base = lifter.call(site, (np.ravel,), [base], {}) if len(args) < 2 else base
        index = Tupled(tuple, tuple(args)) if len(args) > 1 else [*args, value_of(0)][0]
        return lifter.call(site, (operator.getitem,), [base, index], {})
    return lifter.call(site, (METHODS[name],), [base, *args], kwargs)


def _result(called: ArrayCall) -> Value | None:
    """The result of a call, from the properties of its function."""
    target = called.target
    if called.is_constant:
        return called.folded()
    if _makes_arrays(target) and target in OF_SHAPES:
        return _of_shape(called)
    moved = called.moved() if called.is_move else None
    if moved is not None:
        return moved
    if is_elementwise(target) and not (target is np.clip and _has_none(called)):
        return each(called)
    if target in REDUCTIONS:
        return reduced(called)
    found = called.related() if target in ARRAY_RELATIONS else None
    return linear_call(called) if found is None else found


def _has_none(called: ArrayCall) -> bool:
    return bool(called.kwargs) or any(
        isinstance(value, KnownObject) and value.value is None for value in called.args
    )


OF_SHAPES = frozenset(
    (np.zeros_like, np.ones_like, np.empty_like, np.shape, np.ndim, np.size, np.iscomplexobj,
     np.isrealobj)
)  # fmt: skip
"""Functions of the shapes and types of arrays."""


def _of_shape(called: ArrayCall) -> Value:
    args, kwargs = called.filled(
        lambda v: (
            np.zeros(shape_of(v.kind), np.dtype(element_of(v.kind)))
            if isinstance(v, Variable)
            else v.value
        )
    )
    return value_of(called.of_numpy(lambda: called.target(*args, **kwargs)))


def _takes_lists(target: Any) -> bool:
    """Return whether a function of numpy accepts lists of numbers for arrays."""
    if isinstance(target, np.ufunc) or (_makes_arrays(target) and is_elementwise(target)):
        return True
    rule = array_rule_of(target)
    return rule is not None and rule.lists


def _as_array(lifter: Lifter, site: CallSite, value: Value) -> Value:
    """A list of numbers, or a tuple with numbers that are not constant, as an array."""
    if not isinstance(value, Tupled) or not value.items:
        return value
    if value.kind is not list and not any(isinstance(v, Variable) for v in operands_in(value)):
        return value
    return lifter.call(site, (np.array,), [value], {})


OF_ROWS: Mapping[Any, Any] = {sum: np.sum, max: np.max, min: np.min, list: None, tuple: None}
"""Functions of Python that take the items of an array."""


def _of_rows(lifter: Lifter, site: CallSite, target: Any, args: Values) -> Value | None:
    """The result of a function of the items of an array."""
    rows = array_rows(lifter, site, args[0])
    if not isinstance(rows, Tupled):
        return None
    if target in (list, tuple):
        return Tupled(target, rows.items)
    if target is not sum and (len(args) > 1 or len(shape_of(args[0].kind)) > 1):
        return None
    if target is sum:
        found = lifter.call(site, (np.sum,), [args[0], value_of(0)], {})
        return lifter.call(site, (operator.add,), [found, *args[1:]], {}) if args[1:] else found
    return lifter.call(site, (OF_ROWS[target],), [args[0]], {})


MOST_ROWS = 64
"""The largest number of rows of an array over which a program iterates."""


def array_rows(lifter: Lifter, site: CallSite, value: Value) -> Value:
    """An array with few rows as the tuple of its rows; any other value itself."""
    rows = shape_of(value.kind)[:1]
    if not rows or rows[0] > MOST_ROWS:
        return value
    return Tupled(
        tuple,
        tuple(
            lifter.call(site, (operator.getitem,), [value, value_of(i)], {}) for i in range(rows[0])
        ),
    )


OF_ANY_LENGTH = frozenset((np.nonzero, np.flatnonzero, np.argwhere, np.roots))
"""Functions whose results may have another length for other values."""


SAMPLE_ELEMENTS = (1, -1 - 1j, 1j)
"""Elements of the sample arrays that determine the type of a result; for reals, their
real parts.
"""


def _of_sample(called: ArrayCall, element: complex) -> Value | None:
    """The result for arrays filled with a sample element; None if the function has none for it."""

    def filled(value: Variable | Constant) -> Any:
        if not isinstance(value, Variable):
            return value.value
        kind = np.dtype(element_of(value.kind))
        return np.full(
            shape_of(value.kind), element if kind.kind == "c" else kind.type(element.real)
        )

    sample, kwargs = called.filled(filled)
    try:
        return value_of(called.of_numpy(lambda: called.target(*sample, **kwargs)))
    except NotInvertible:
        if element == SAMPLE_ELEMENTS[0]:
            raise
        return None


def _forwards(called: ArrayCall) -> Value:
    """The result of a function of arrays that can only run forwards."""
    rule = array_rule_of(called.target)
    if rule is not None and rule.kind == "rearranging":
        raise called.refused(TO_BE_KNOWN, CHOSEN)
    if rule is None or rule.kind not in ("constant", "smooth") or called.target in OF_ANY_LENGTH:
        raise called.refused("it has none for arguments of these shapes, types and axes")
    found, *others = (_of_sample(called, value) for value in SAMPLE_ELEMENTS)
    if not isinstance(found, Constant):
        raise called.refused("it gives no array or number")
    if any(other is not None and other.kind != found.kind for other in others):
        raise called.refused("the type or the shape of its result depends on the elements")
    variables = list(dict.fromkeys(called.variables))
    kind = int if found.kind is np.int64 else found.kind

    def run(*values: Any) -> Any:
        given = dict(zip(variables, values, strict=True))
        args, named = called.filled(lambda v: given[v] if isinstance(v, Variable) else v.value)
        return called.target(*args, **named)

    return called.lifter.state(called.site, forward_only(run, variables, kind), variables)


def _built(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """An array made of numbers: ``np.array([a, b])``, ``np.ones(3)``; None for other calls."""
    called = ArrayCall(lifter, site, target, args, kwargs)
    if called.is_constant:
        found = called.array() if _makes_arrays(target) else None
        return None if found is None else called.noted(found)
    if not _makes_arrays(target):
        return None
    if target in OF_SHAPES:
        return _of_shape(called)
    moved = called.moved() if called.is_move else None
    if moved is not None:
        return called.noted(moved)
    if target is np.linspace:
        found = linear_call(called)
        return None if found is None else called.noted(found)
    if target is not np.clip:
        by = definition_of(target)
        return None if by is None else lifter.call(site, (by,), args, kwargs)
    return None


def _makes_arrays(target: Any) -> bool:
    """Return whether a function is a deterministic one of numpy."""
    module = getattr(target, "__module__", None) or ""
    own = module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")
    return own and not isinstance(target, (type, np.ufunc))

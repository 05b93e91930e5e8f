"""Methods of a level for functions of whole arrays, and for arrays that a program creates."""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay import call_next, nonoverlay
from overlay.contexts.rules_alone import as_c_calls
from overlay.core.in_force import runs_natively
from overlay.interpretations.autodiff.active_numbers import plain_zeros
from overlay.interpretations.autodiff.applying import (
    applied,
    in_this_context,
    without_lists,
)
from overlay.interpretations.autodiff.duals import Active, ActiveArray, primal
from overlay.interpretations.autodiff.errors import (
    refuse_call,
    refuse_local,
    refuse_store,
    refuse_write,
    refuse_write_of_program,
)
from overlay.interpretations.autodiff.levels import Level, declare, generate, refuse, written
from overlay.interpretations.autodiff.linear_tape import tape_zeros
from overlay.interpretations.autodiff.plain_values import is_container
from overlay.interpretations.autodiff.reverse.running import (
    median,
    polynomial,
    products_so_far,
)
from overlay.interpretations.autodiff.rules import RULES
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES, array_rule_of
from overlay.interpretations.autodiff.rules.tables.applications import vectorized
from overlay.kernels import in_kernel, local_array

__all__ = ["declare_arrays", "parts_of"]

# With their parameters after the first, and the expression for whether they copy.
CONVERSIONS: tuple[tuple[Any, str, str], ...] = (
    (np.array, "dtype=None, *, copy=True, order='K', subok=False, ndmin=0", "copy"),
    (np.asarray, "dtype=None, order=None, *, copy=None", "copy"),
    (np.asanyarray, "dtype=None, order=None, *, copy=None", "copy"),
    (np.ascontiguousarray, "dtype=None", "not a.value.flags.c_contiguous"),
    (np.asfortranarray, "dtype=None", "not a.value.flags.f_contiguous"),
)
# Functions that create arrays, which may become active.
MADE = (
    *(np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like),
    *(np.copy, np.ndarray.copy),
)

# Functions expressed by others; `a` is an active array.
OTHERS: tuple[tuple[Any, str], ...] = (
    (len, "return len(a.value)"),
    (sum, "return np.sum(a)"),
    (np.prod, "total = 1.0\nfor i in range(len(a)):\n    total = a[i] * total\nreturn total"),
    (np.max, "return np.ravel(a)[np.argmax(primal(a))]"),
    (np.min, "return np.ravel(a)[np.argmin(primal(a))]"),
    (max, "return np.max(a)"),
    (min, "return np.min(a)"),
    (np.sort, "return a[np.argsort(primal(a))]"),
    (np.cumprod, "return products_so_far(a)"),
    (np.median, "return median(a)"),
    (np.var, "deviation = a - np.mean(a)\nreturn np.mean(deviation * deviation)"),
    (np.std, "return np.sqrt(np.var(a))"),
    (np.linalg.norm, "return np.sqrt(np.sum(a * a))"),
)
INVERSES: tuple[tuple[Any, str], ...] = (
    (
        np.linalg.inv,
        "inverse = np.linalg.inv(a.value)\n"
        "return array(inverse, <<-(inverse @ (a.tangents[#] @ inverse))>>)",
    ),
    (
        np.linalg.det,
        "value = np.linalg.det(a.value)\nadjugate = value * np.linalg.inv(a.value)\n"
        "return number(value, <<np.sum(np.transpose(adjugate) * a.tangents[#])>>)",
    ),
)
SOLVE = (
    ("array", "array", "a.value, b.value", "b.tangents[#] - a.tangents[#] @ found"),
    ("array", "Any", "a.value, b", "-(a.tangents[#] @ found)"),
    ("Any", "array", "a, b.value", "b.tangents[#]"),
)
FLOATS = (None, float, np.float64, np.dtype(np.float64), "float64", "d")
INPLACE = ("iadd", "isub", "imul", "itruediv", "ipow", "imatmul", "ifloordiv", "imod")


def declare_arrays(level: Level) -> None:
    """Declare the methods for whole arrays."""
    if level.is_taped:
        _declare_taped(level)
    else:
        _declare_linear_algebra(level)
    level.later(np.where, _declare_where_of_lists)
    for function, parameters, copies in CONVERSIONS:
        level.later(function, _declare_conversion, function, parameters, copies)
    for function, body in OTHERS:
        level.later(function, _declare_other, function, body)
    level.later(np.polyval, _declare_polynomial)
    for function in MADE:
        level.later(function, _declare_made, function)
    level.later(np.full, _declare_full)
    level.later(np.full_like, _declare_full_like)
    level.later(np.arange, _declare_arange)
    level.later(np.nditer, _declare_iterated)
    if "as_strided" in np.ndindex.__init__.__code__.co_names:  # before numpy 2.4
        level.later(np.ndindex.__init__, _declare_places)
    level.later(local_array, _declare_local)
    level.later(np.vectorize.__call__, _declare_vectorized)
    for function, most in JOINING:
        level.later(function, _declare_joined, function, most)
    elementwise: list[Any] = []
    for rule in RULES:
        for function in rule.spellings:
            if rule.arrays and _of_numpy(function):
                elementwise.append(function)
                level.later(function, _declare_elementwise_of_lists, function, len(rule.domain))
    for rule in ARRAY_RULES:
        for function in rule.spellings:
            if not any(function is each for each in elementwise):
                level.later(function, _declare_of_lists, rule, function)
    level.later(np.kaiser, _declare_window)
    for target in (store, operator.setitem):
        level.later(target, _declare_write, target)
    for name in INPLACE:
        function, plain = getattr(operator, name), getattr(operator, name[1:])
        level.later(function, _declare_inplace, function, plain)


def _declare_linear_algebra(level: Level) -> None:
    for rule in ARRAY_RULES:
        if rule.compiled is None:
            continue
        fewest, most = rule.compiled
        for function in rule.spellings:
            if rule.kind == "multilinear":
                level.later(function, _declare_bilinear, function)
                continue
            for count in range(fewest, most + 1):
                level.later(function, _declare_linear, function, count)
    for function, body in INVERSES:
        level.later(function, _declare_inverse, function, body)
    level.later(np.linalg.solve, _declare_solve)
    level.later(np.where, _declare_where)


def _declare_taped(level: Level) -> None:
    """Declare the operators of arrays on a tape; numpy passes its functions to their rules."""
    level.later(operator.getitem, _declare_part)
    for function in OF_ARRAYS:
        if function is not operator.getitem:
            level.later(function, _declare_by_rule, function)


def _declare_part(level: Level) -> None:
    method = _method(level, "a, i", "return pack(call_next(a.value, i), (a.tangents[0][i],))")
    declare(level.table, operator.getitem, method, (level.array, Any))


def _declare_by_rule(level: Level, function: Any) -> None:
    body = "return applied(function, (a, b), {})"
    space = {"applied": applied, "function": function}
    for types in ((level.array, level.array), (level.array, Any), (Any, level.array)):
        method = _method(level, "a, b", body, **space)
        declare(level.table, function, method, types)


def _declare_other(level: Level, function: Any, body: str) -> None:
    space = {"median": median, "products_so_far": products_so_far}
    method = _method(level, "a", body, **space)
    declare(level.table, function, method, (level.array,), expressed=True)
    if function is sum:
        _interpreted(level, method, "a", "return np.sum(a, axis=0)")
    else:
        _interpreted_by_rule(level, method, function, "a")


def _interpreted(level: Level, method: Any, parameters: str, body: str, **names: Any) -> None:
    """Replace a method in interpreted code."""
    level.table.guarded[method] = _method(level, parameters, body, **names)


def _interpreted_by_rule(level: Level, method: Any, function: Any, parameters: str) -> None:
    """Replace a method in interpreted code by the rule of its function, which has all forms."""
    if array_rule_of(function) is not None:
        body = f"return applied(function, ({parameters},), {{}})"
        space = {"applied": applied, "function": function}
        _interpreted(level, method, parameters, body, **space)


def _declare_inverse(level: Level, function: Any, body: str) -> None:
    method = _method(level, "a", body)
    declare(level.table, function, method, (level.array,), expressed=True)
    _interpreted_by_rule(level, method, function, "a")


def _declare_polynomial(level: Level) -> None:
    own = (level.number, level.array)
    for types in [
        (level.array, Any),
        *((Any, kind) for kind in own),
        *((level.array, kind) for kind in own),
    ]:
        method = _method(level, "p, x", "return polynomial(p, x)", polynomial=polynomial)
        declare(level.table, np.polyval, method, types, expressed=True)
        _interpreted_by_rule(level, method, np.polyval, "p, x")


def _method(level: Level, parameters: str, body: str, **names: Any) -> Any:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    space = {"np": np, "primal": primal, "pack": level.pack, "call_next": call_next, **names}
    return written(f"def method({parameters}):\n{lines}", level, **space)


def _is_whole(dtype: Any) -> bool:
    """Whether an element type is of integers or booleans, so that arrays of it are constant."""
    return dtype is not None and np.dtype(dtype).kind in "iub"


def _of_type(function: Any, given: str, dtype: str) -> tuple[str, dict[str, Any]]:
    """The first lines of a method with an argument for the element type of the result, and their
    namespace. given: the arguments without tangents."""
    lines = (
        f"if is_whole({dtype}):\n    return call_next({given})\n"
        f"if {dtype} not in floats:\n    refuse(function)\n"
    )
    space = {"is_whole": nonoverlay(_is_whole), "floats": FLOATS, "refuse": refuse_call}
    return lines, {**space, "function": function}


def _declare_linear(level: Level, function: Any, count: int) -> None:
    rest = "".join(f", r{i}" for i in range(count))
    body, space = "", {}
    if function in (np.sum, np.mean) and count == 2:
        body, space = _of_type(function, f"a.value{rest}", "r1")
    body += f"return pack(call_next(a.value{rest}), <<call_next(a.tangents[#]{rest})>>)"
    method = _method(level, f"a{rest}", body, **space)
    declare(level.table, function, method, (level.array, *[Any] * count), expressed=True)
    if space:
        _interpreted_by_rule(level, method, function, f"a{rest}")


def _declare_conversion(level: Level, function: Any, parameters: str, copies: str) -> None:
    """Conversions of an active array to an array of floats, which keep its memory layout."""
    body, space = "", {}
    if "dtype" in parameters:
        body, space = _of_type(function, "a.value, dtype", "dtype")
    if "ndmin" in parameters:
        body += "if ndmin > a.value.ndim:\n    refuse(function)\n"
    body += f"return array(+a.value, <<+a.tangents[#]>>) if copied({copies}) else a"
    space = {**space, "function": function, "refuse": refuse_call, "copied": _copied}
    method = _method(level, f"a, {parameters}", body, **space)
    declare(level.table, function, method, (level.array,))
    names = [each.split("=")[0].strip() for each in parameters.split(",")]
    given = ", ".join(f"{name}={name}" for name in names if name not in ("*", "dtype"))
    lines = body[: body.index("return array")] if "dtype" in parameters else ""
    space |= {"converted": nonoverlay(functools.partial(_converted, level, function))}
    _interpreted(level, method, f"a, {parameters}", f"{lines}return converted(a, {given})", **space)


def _converted(level: Level, function: Any, a: Any, **options: Any) -> Any:
    """An active array converted by a function of numpy, which may make a copy, in another layout in
    memory, or give the array itself."""

    def call(x: Any) -> Any:
        # numpy does not pass conversions to the active arrays of enclosing levels
        return _converted(x.level, function, x, **options) if isinstance(x, Active) else inner(x)

    def inner(x: Any) -> Any:
        return function(x, **options)

    value = call(a.value)
    if value is a.value:
        return a
    if level.is_taped:
        (tangent,) = a.tangents
        return level.array(value, (tangent.with_places(inner(tangent.places)),))
    return level.array(value, tuple(map(call, a.tangents)))


def _copied(copy: Any) -> bool:
    """Whether an argument ``copy``, which may be a constant of numpy, requests a copy."""
    return copy.value == 1 if isinstance(copy, enum.Enum) else bool(copy)


def _declare_bilinear(level: Level, function: Any) -> None:
    body = "return pack(call_next({0}, {1}), <<{2}>>)"
    by_a, by_b = "call_next(a.tangents[#], {1})", "call_next({0}, b.tangents[#])"
    for first, second in ((True, True), (True, False), (False, True)):
        values = ("a.value" if first else "a", "b.value" if second else "b")
        terms = " + ".join(t for t, on in ((by_a, first), (by_b, second)) if on).format(*values)
        method = _method(level, "a, b", body.format(*values, terms))
        types = (level.array if first else Any, level.array if second else Any)
        declare(level.table, function, method, types, expressed=True)
        if function not in (operator.matmul, np.matmul):  # which take no numbers
            _interpreted_by_rule(level, method, function, "a, b")


def _declare_solve(level: Level) -> None:
    kinds = {"array": level.array, "Any": Any}
    for first, second, values, right in SOLVE:
        matrix = values.split(", ")[0]
        body = (
            f"found = np.linalg.solve({values})\n"
            f"return array(found, <<np.linalg.solve({matrix}, {right})>>)"
        )
        method = _method(level, "a, b", body)
        types = kinds[first], kinds[second]
        declare(level.table, np.linalg.solve, method, types, expressed=True)
        _interpreted_by_rule(level, method, np.linalg.solve, "a, b")


def _declare_where(level: Level) -> None:
    kinds = (level.number, level.array, Any)
    for types in itertools.product(kinds, repeat=2):
        on = [kind is not Any for kind in types]
        if not any(on):
            continue
        values = [f"{n}.value" if one else n for n, one in zip("ab", on, strict=True)]
        tangents = [f"{n}.tangents[#]" if one else "0.0" for n, one in zip("ab", on, strict=True)]
        body = (
            f"return pack(np.where(c, {', '.join(values)}), <<np.where(c, {', '.join(tangents)})>>)"
        )
        method = _method(level, "c, a, b", body)
        declare(level.table, np.where, method, (Any, *types), expressed=True)


def _declare_where_of_lists(level: Level) -> None:
    body = "return applied(np.where, (c, a, b), {}) if holds_listed(a, b) else call_next(c, a, b)"
    space = {"applied": applied, "holds_listed": nonoverlay(_holds_listed)}
    for types in itertools.product((list, level.number, level.array, Any), repeat=2):
        if list in types:
            method = _method(level, "c, a, b", body, **space)
            declare(level.table, np.where, method, (Any, *types))


def _declare_made(level: Level, function: Any) -> None:
    """Make new arrays of floats active, so that active numbers can be stored in them."""
    zeroed = functools.partial(tape_zeros, level.depth) if level.is_taped else filled_with_zeros
    body = "return array(call_next(x), <<zeroed(call_next(x))>>)"
    shaped = function in (np.zeros, np.ones, np.empty)
    for kind in (Any,) if shaped else (NDArray[np.float64], ActiveArray):
        declare(level.table, function, _method(level, "x", body, zeroed=zeroed), (kind,))
    if function in (np.copy, np.ndarray.copy):
        # not call_next, whose copy of the plain values would be active
        copied = _method(level, "a", "return array(+a.value, <<+a.tangents[#]>>)")
        space = {"converted": nonoverlay(functools.partial(_converted, level, function))}
        _interpreted(level, copied, "a", "return converted(a)", **space)
        declare(level.table, function, copied, (level.array,))
    if shaped:
        typed = "return array(call_next(x, dtype), <<zeroed(call_next(x, dtype))>>)"
        method = _method(level, "x, dtype", typed, zeroed=zeroed)
        declare(level.table, function, method, (Any, type[float]))
    if function in (np.zeros_like, np.ones_like, np.empty_like):
        made = f"np.{function.__name__}(a.value)"
        method = _method(level, "a", f"return {made}")
        declare(level.table, function, method, (level.array,), expressed=True)


def _declare_full(level: Level) -> None:
    """Arrays filled with a number, which may be active, or with floats."""
    body = "made = np.zeros(x)\nstore(made, slice(None), fill)\nreturn made"
    for kind in (float, level.number, level.array):
        method = _method(level, "x, fill", body, store=store)
        declare(level.table, np.full, method, (Any, kind), expressed=True)
        typed = _method(level, "x, fill, dtype", body, store=store)
        declare(level.table, np.full, typed, (Any, kind, type[float]), expressed=True)


def _declare_full_like(level: Level) -> None:
    own = (level.number, level.array)
    for kinds in itertools.product((NDArray[np.float64], level.array), (Any, *own)):
        if any(kind in own for kind in kinds):
            method = _method(level, "a, fill", "return np.full(np.shape(a), 1.0 * fill)")
            declare(level.table, np.full_like, method, kinds, expressed=True)


def _declare_arange(level: Level) -> None:
    """The numbers between bounds: the first and the step may be active, and the last is
    constant."""
    bodies = (
        "return np.arange(strip(a))",
        "return a + 1.0 * np.arange(len(np.arange(strip(a), strip(b))))",
        "return a + c * np.arange(len(np.arange(strip(a), strip(b), strip(c))))",
    )
    for count, body in enumerate(bodies, 1):
        for types in itertools.product((level.number, Any), repeat=count):
            if level.number in types:
                method = _method(level, ", ".join("abc"[:count]), body, strip=level.strip)
                declare(level.table, np.arange, method, types, expressed=True)


def _declare_iterated(level: Level) -> None:
    method = _method(level, "a", "return iter(a.flat)")
    declare(level.table, np.nditer, method, (level.array,))


def _declare_places(level: Level) -> None:
    """The places in an array: numpy's code takes a view of new zeros, which would be active."""
    target = np.ndindex.__init__
    for count in range(1, 6):
        names = ", ".join(f"n{i}" for i in range(count))
        body = f"return plainly(self, {names})"
        method = _method(level, f"self, {names}", body, plainly=nonoverlay(target))
        declare(level.table, target, method, (Any,) * (count + 1))


def _declare_local(level: Level) -> None:
    for names, types in (("x", (Any,)), ("x, dtype", (Any, type[float]))):
        made = _method(level, names, "return np.empty(x)")  # the array may become active
        source = f"def method({names}): return refuse() if in_kernel() else made"
        space = {"refuse": refuse_local, "in_kernel": in_kernel, "made": made}
        generate(level.table, local_array, written(source, None, **space), types)


def _declare_vectorized(level: Level) -> None:
    """``np.vectorize(f)``, which would call f from C: f is called for each element. Compiled code
    refuses it."""

    def run(made: Any, *args: Any) -> Any:
        facts = vars(made)
        if facts.get("signature") is not None:
            refuse_call(np.vectorize)
        f = nonoverlay(in_this_context)(made.pyfunc)
        return as_c_calls(level.context, vectorized, f, args, facts["otypes"], facts["excluded"])

    for count in (1, 2, 3):
        for types in itertools.product((level.number, level.array, Any), repeat=count):
            if any(kind is not Any for kind in types):
                names = ", ".join(f"a{i}" for i in range(count))
                method = _method(level, f"f, {names}", "refused()", refused=_refused_vectorize)
                declare(level.table, np.vectorize.__call__, method, (Any, *types))
                body = f"return run(f, {names})"
                level.table.guarded[method] = _method(level, f"f, {names}", body, run=run)
    why = functools.partial(refuse_call, np.vectorize)
    refuse(level.table, _refused_vectorize, why, ())


def _refused_vectorize() -> None:
    """Refuse np.vectorize, in compiled code when that is compiled."""
    refuse_call(np.vectorize)


# With the maximal number of further arguments.
JOINING = (
    (np.array, 1),
    (np.asarray, 1),
    (np.stack, 1),
    (np.concatenate, 1),
    (np.vstack, 0),
    (np.hstack, 0),
)


def _declare_joined(level: Level, function: Any, most: int) -> None:
    """Arrays created from a list or tuple with active parts."""
    for count in range(most + 1):
        rest = "".join(f", r{i}" for i in range(count))
        body, space = f"if not holds_active(x):\n    return call_next(x{rest})\n", parts_of(level)
        if function in (np.array, np.asarray) and count:
            lines, more = _of_type(function, f"values(x){rest}", "r0")
            body, space = body + lines, {**space, **more}
        if level.is_taped:
            body += f"return applied(function, (x{rest},), {{}})"
            space = {**space, "applied": applied, "function": function}
        else:
            body += f"return array(call_next(values(x){rest}), <<call_next(parts(x, #){rest})>>)"
        for kind in (list, tuple):
            method = _method(level, f"x{rest}", body, **space)
            declare(level.table, function, method, (kind, *[Any] * count))


OF_ARRAYS = (operator.getitem, operator.matmul)
# Those with rules, which take lists for lists.
OPERATORS = (*OF_ARRAYS, operator.abs, abs, operator.pow, pow)


def _declare_of_lists(level: Level, rule: ArrayRule, function: Any) -> None:
    """Methods for lists with active parts as first or second argument: numpy looks for active
    values among the arguments, and not in lists."""
    if any(function is each for each, _ in JOINING) or function in OPERATORS:
        return
    first, second = ([*rule.signature.parameters, "", ""][i] in rule.data for i in range(2))
    types: list[tuple[Any, ...]] = []
    if first or rule.by is not None:
        types += [(list,), (tuple,)]
    if (first and second) or (
        rule.by is not None and rule.takes_second
    ):  # beside methods for an active second argument
        types += itertools.product((list, tuple), (level.number, level.array))
    if second and function is not np.where:
        types.append((np.ndarray, list))
    for each in types:
        names = ", ".join("xy"[: len(each)])
        body = (
            f"if holds_listed({names}):\n    return applied(function, ({names}, *rest), named)\n"
            f"return call_next({names}, *rest, **named)"
        )
        space = {"holds_listed": nonoverlay(_holds_listed), "applied": applied}
        method = _method(level, f"{names}, *rest, **named", body, **space, function=function)
        # a number with tangents is a tuple, too
        declare(level.table, function, method, each, precedence=-1)


def _of_numpy(function: Any) -> bool:
    return isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "numpy"


def _declare_elementwise_of_lists(level: Level, function: Any, arity: int) -> None:
    """Methods of an elementwise function for lists with active parts among its arguments."""
    called = runs_natively(functools.partial(_called_without_lists, level, function))
    space = {"holds_listed": nonoverlay(_holds_listed), "called": called}
    kinds = (list, level.number, level.array, Any)
    names = ", ".join("abc"[:arity])
    body = f"return called({names}) if holds_listed({names}) else call_next({names})"
    for types in itertools.product(kinds, repeat=min(arity, 2)):
        if list in types:
            every = (*types, *[Any] * (arity - len(types)))
            is_active = level.number in types or level.array in types
            given = f"return called({names})" if is_active else body
            declare(level.table, function, _method(level, names, given, **space), every)


def _called_without_lists(level: Level, function: Any, *args: Any) -> Any:
    given = (without_lists(x) for x in args)
    arrays = (np.array(x) if type(x) in (list, tuple) else x for x in given)
    return as_c_calls(level.context, function, *arrays)


def _declare_window(level: Level) -> None:
    """``np.kaiser``, which numpy does not pass to its arguments."""
    body, space = "return applied(np.kaiser, (m, beta), {})", {"applied": applied}
    declare(level.table, np.kaiser, _method(level, "m, beta", body, **space), (Any, level.number))


def _holds_listed(*args: Any) -> bool:
    """Whether a list or tuple among arguments holds active values."""
    return any(
        type(x) in (list, tuple)
        and any(isinstance(part, Active) or _holds_listed(part) for part in x)
        for x in args
    )


def parts_of(level: Level) -> dict[str, Any]:
    """The functions that split nested lists with active numbers and arrays into values and
    tangents."""
    own = (level.number, level.array)

    def holds_active(x: Any) -> bool:
        if is_container(x):
            return any(holds_active(part) for part in x)
        return isinstance(x, own)

    def values(x: Any) -> Any:
        if is_container(x):
            return [values(part) for part in x]
        return x.value if isinstance(x, own) else x

    def parts(x: Any, k: int) -> Any:
        if is_container(x):
            return [parts(part, k) for part in x]
        return x.tangents[k] if isinstance(x, own) else plain_zeros(x)

    # isinstance is a target in the context
    found: dict[str, Any] = {"holds_active": holds_active, "values": values, "parts": parts}
    return {name: nonoverlay(each) for name, each in found.items()}


def store(a: Any, i: Any, b: Any) -> None:
    """Write into an array, active or not; a target of every level."""
    nonoverlay(operator.setitem)(a, i, b)


def filled_with_zeros(a: Any) -> Any:
    """A new array, filled with zeros."""
    store(a, ..., 0.0)
    return a


def _declare_write(level: Level, target: Any) -> None:
    both, alone = "store(a.value, i, b.value)\n", "store(a.value, i, b)\n"
    for k in range(level.count):
        both += f"store(a.tangents[{k}], i, b.tangents[{k}])\n"
        alone += f"store(a.tangents[{k}], i, 0.0)\n"
    for kind in (level.number, level.array, Any):
        writing = _method(level, "a, i, b", alone if kind is Any else both, store=store)
        declare(level.table, target, writing, (level.array, Any, kind))
        if target is store:
            if kind is not Any:
                refuse(level.table, target, refuse_store, (NDArray[np.float64], Any, kind))
            continue
        for plain in (NDArray[np.float64], np.ndarray):
            if plain is np.ndarray and kind is Any:
                continue  # plain values in arrays of integers or booleans
            types = (plain, Any, kind)
            if kind is Any:
                _declare_plain_write(level, target, types)
            else:
                refuse(level.table, target, refuse_write, types)


def _declare_inplace(level: Level, function: Any, plain: Any) -> None:
    for kind in (level.number, level.array, Any):
        body = "store(a, slice(None), plain(a, b))\nreturn a"
        method = _method(level, "a, b", body, plain=plain, store=store)
        declare(level.table, function, method, (level.array, kind))
        if kind is Any:
            _declare_plain_write(level, function, (NDArray[np.float64], kind))
        else:
            refuse(level.table, function, refuse_write, (NDArray[np.float64], kind))


def _refused_write() -> None:
    """Refuse a write, in compiled code when that is compiled."""
    refuse_write()


def _declare_plain_write(level: Level, target: Any, types: tuple[Any, ...]) -> None:
    """Refuse to write a plain value to a plain array, but for functions of numpy, which write to
    arrays that they make."""
    names = ", ".join("aib"[: len(types)])
    method = _method(level, names, "refused()", refused=_refused_write)
    refuse(level.table, _refused_write, refuse_write, ())
    body = f"refuse_by_program()\nreturn plainly({names})"
    space = {
        "refuse_by_program": nonoverlay(refuse_write_of_program),
        "plainly": nonoverlay(target),
    }
    guarded = _method(level, names, body, **space)
    declare(level.table, target, method, types)
    level.table.guarded[method] = guarded

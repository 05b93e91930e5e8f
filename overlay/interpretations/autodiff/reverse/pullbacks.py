"""Pullbacks of functions: for each call the kind of its result, and the propagation of its adjoint
to the arguments.

Both are templates of Python source, with ``{0}``, ``{1}`` for the arguments, ``{r}`` for the
result, ``{d}`` for its adjoint; ``{b0}`` for the adjoint of an argument to which the line itself
adds.
"""

from __future__ import annotations

import math
import operator
import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from overlay.catalogue.operator_ufuncs import UFUNCS as OF_OPERATORS
from overlay.core.signature import array_type
from overlay.interpretations.autodiff.active_numbers import COMPARISONS
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    KnownBefore,
    NumberKind,
    ReverseValue,
    Span,
)
from overlay.interpretations.autodiff.reverse.running import (
    add_at,
    cofactors,
    deviation,
    larger,
    largest,
    logarithm,
    median,
    norm,
    polynomial,
    product_in_order,
    product_of,
    products_so_far,
    smaller,
    smallest,
    tiled,
    variance,
)
from overlay.interpretations.autodiff.rules import Rule, imported, rules_with
from overlay.interpretations.autodiff.rules.rule import takes_result
from overlay.kernels import local_array

__all__ = [
    "INFIX",
    "UFUNCS",
    "Pullback",
    "call_text",
    "is_constant",
    "kind_of",
    "made_by_maker",
    "of",
    "of_partials",
    "pullback_of",
    "rule_of",
    "type_of",
]


@dataclass
class Pullback:
    """The pullback of a call.

    text: the call. back: for each argument the expression added to its adjoint, or a whole line;
    None if it has no derivative. rule: the function that lines call ``{f}``. spread: whether
    arguments are broadcast to the shape of the result. is_view: whether the result shares memory
    with the first argument. before: an expression computed once for all lines, which call it
    ``{p}``. of_items: whether the lines are for the items of the first argument, a tuple, which
    lines call ``{0_0}``, ``{0_1}``. is_shape: whether it reads only the shape of an array.
    """

    function: Any
    kind: NumberKind
    text: str
    back: tuple[str | None, ...] = ()
    rule: Any = None
    spread: bool = False
    is_view: bool = False
    before: str | None = None
    of_items: bool = False
    is_shape: bool = False

    @cached_property
    def reads(self) -> tuple[frozenset[str], ...]:
        """For each argument the names in the line of its adjoint."""
        return tuple(_fields(line) | _fields(self.before) for line in self.back)


def _fields(line: str | None) -> frozenset[str]:
    found = string.Formatter().parse(line or "")
    return frozenset(name for _, name, _, _ in found if name)


def kind_of(operand: Any) -> NumberKind | None:
    """The kind of an operand; None if it is no number or array."""
    if isinstance(operand, ReverseValue):
        return operand.kind
    if isinstance(operand, KnownBefore):
        value: object = operand.value
        if isinstance(value, (bool, np.bool)):
            return BOOL
        if isinstance(value, (int, np.signedinteger)):
            return INT
        if isinstance(value, float):
            return FLOAT
        if isinstance(value, complex):
            return COMPLEX
    return None


_TYPES: dict[str, tuple[type, type]] = {
    "f": (float, np.float64),
    "c": (complex, np.complex128),
    "i": (int, np.int64),
    "b": (bool, np.bool_),
}


def type_of(operand: Any) -> Any:
    """The type of a number or array, as dispatch sees it; None for other operands."""
    kind = kind_of(operand)
    if kind is None:
        return None
    scalar, array = _TYPES[kind.dtype]
    return array_type(array, kind.ndim) if kind.ndim else scalar


INFIX: dict[Any, tuple[str, tuple[str, ...] | None]] = {
    operator.add: ("({0} + {1})", ("{d}", "{d}")),
    operator.sub: ("({0} - {1})", ("{d}", "-{d}")),
    operator.mul: ("({0} * {1})", ("{d} * {1}", "{d} * {0}")),
    operator.truediv: ("({0} / {1})", None),
    operator.floordiv: ("({0} // {1})", None),
    operator.mod: ("({0} % {1})", None),
    operator.pow: ("({0} ** {1})", None),
    operator.neg: ("(-{0})", ("-{d}",)),
    operator.pos: ("(+{0})", ("{d}",)),
    operator.lt: ("({0} < {1})", None),
    operator.le: ("({0} <= {1})", None),
    operator.gt: ("({0} > {1})", None),
    operator.ge: ("({0} >= {1})", None),
    operator.eq: ("({0} == {1})", None),
    operator.ne: ("({0} != {1})", None),
    operator.not_: ("(not {0})", None),
    operator.and_: ("({0} & {1})", None),
    operator.or_: ("({0} | {1})", None),
}
_OF_ARRAYS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul)
UFUNCS: dict[Any, Any] = {
    OF_OPERATORS[each]: each for each in (*_OF_ARRAYS, operator.neg, operator.pow)
}
INPLACE = {
    getattr(operator, f"i{name}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
}
_WHOLE = (
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg),
    *(operator.pos, abs, min, max),
)
_CONSTANT: dict[Any, NumberKind] = {
    **dict.fromkeys((math.floor, math.ceil, math.trunc, int, len, round), INT),
    **dict.fromkeys((np.argmax, np.argmin), INT),
    **dict.fromkeys((math.isnan, math.isinf, math.isfinite, bool, operator.truth), BOOL),
    **dict.fromkeys((operator.not_,), BOOL),
}


@cache
def _by_function(modules: tuple[str, ...]) -> dict[tuple[int, bool], Rule]:
    found: dict[tuple[int, bool], Rule] = {}
    for rule in rules_with(modules):
        for function in rule.spellings:
            found.setdefault((id(function), rule.arrays), rule)
    return found


def rule_of(function: Any, arrays: bool) -> Rule | None:
    """The rule of a function for numbers or for arrays."""
    rules = _by_function(imported())
    found = rules.get((id(function), arrays))
    return found or (None if arrays else rules.get((id(function), True)))


def pullback_of(function: Any, args: Sequence[Any], name: Callable[[Any], str]) -> Pullback | None:
    """The pullback of a call; None if it is unknown. name: returns the expression for a function in
    generated source."""
    function = UFUNCS.get(function, function) if callable(function) else function
    kinds = [kind_of(a) for a in args]
    if id(function) in _MAKERS:
        return made_by_maker(function, args, name)
    if KnownBefore(None) in args:
        rule = rule_of(function, arrays=True)
        optional = frozenset() if rule is None else rule.optional
        pairs = enumerate(zip(args, kinds, strict=True))
        # no bound is a number that bounds nothing
        kinds = [FLOAT if i in optional and a == KnownBefore(None) else k for i, (a, k) in pairs]
    if any(kind is None for kind in kinds):
        return None
    known = [kind for kind in kinds if kind is not None]
    if function in _CONSTANT:
        if any(k.ndim for k in known) and function in (math.floor, int, bool, round):
            return None
        text = call_text(name(function), len(args))
        return Pullback(function, _CONSTANT[function], text, is_shape=function is len)
    return _elementwise(function, args, known, name)


def made_by_maker(
    function: Any, args: Sequence[Any], name: Callable[[Any], str]
) -> Pullback | None:
    """The pullback of a call of a function of arrays; None if it is unknown."""
    maker = _MAKERS.get(id(function))
    return None if maker is None else maker(function, args, [kind_of(a) for a in args], name)


def call_text(name: str, count: int) -> str:
    """The template of a call with this number of arguments."""
    return f"{name}({', '.join(f'{{{i}}}' for i in range(count))})"


def _elementwise(
    function: Any, args: Sequence[Any], kinds: Sequence[NumberKind], name: Callable[[Any], str]
) -> Pullback | None:
    ndim = max((k.ndim for k in kinds), default=0)
    infix = INFIX.get(function)
    text = infix[0] if infix else call_text(name(function), len(args))
    spread = sum(k.ndim > 0 for k in kinds) > 1 or any(k.ndim != ndim for k in kinds)
    if function in COMPARISONS or function in (operator.and_, operator.or_):
        logical = function in (operator.and_, operator.or_)
        if logical and any(k.dtype != "b" for k in kinds):
            return None
        return Pullback(function, NumberKind("b", ndim), text)
    whole = all(k.dtype == "i" for k in kinds)
    if whole and function in _WHOLE:
        return Pullback(function, NumberKind("i", ndim), text)
    if any(k.dtype == "b" for k in kinds) and function is not np.where:
        numbers = function in (operator.mul, operator.add)
        if not numbers or all(k.dtype != "f" for k in kinds):
            return None
    if function is operator.truediv and args[0] in (KnownBefore(1), KnownBefore(1.0)):
        back = (None, "-{d} * {r} * {r}")
        return Pullback(function, NumberKind("f", ndim), text, back, spread=spread)
    if function is operator.truediv:
        back = ("{p}", "-{p} * {r}")
        return Pullback(
            function, NumberKind("f", ndim), text, back, spread=spread, before="{d} / {1}"
        )
    if function is operator.mul and args[0] is args[1]:
        # not d * (x + x): the sum may be infinite where the adjoint is 0
        return Pullback(function, NumberKind("f", ndim), text, ("2.0 * ({d} * {0})", None))
    if infix and infix[1]:
        return Pullback(function, NumberKind("f", ndim), text, infix[1], spread=spread)
    if function is operator.pow and whole and not _natural(args[1]):
        return None
    if function is operator.pow and _natural(args[1]):
        kind = NumberKind("i" if whole else "f", ndim)
        n = args[1].value
        less = "{0}" if n == 2 else f"{{0}} ** {n - 1}"
        by_base = f"{{d}} * {float(n)} * {less}" if n > 1 else "{d}" if n else "0.0 * {d}"
        return Pullback(function, kind, text, (by_base, None))
    rule = rule_of(function, ndim > 0)
    if rule is None or len(rule.domain) != len(args) or (ndim and not rule.arrays):
        return None
    if not all(is_constant(args[place]) for place in rule.constant):
        return None
    return of_partials(
        function,
        rule.partials,
        NumberKind("f", ndim),
        text,
        len(args),
        spread=spread,
        constant=rule.constant,
    )


def _natural(operand: Any) -> bool:
    """Whether an exponent is a known whole number, also a float, that is not negative."""
    if not isinstance(operand, KnownBefore) or type(operand.value) not in (int, float):
        return False
    return operand.value >= 0 and float(operand.value).is_integer()


def is_constant(operand: Any) -> bool:
    """Whether an operand has no derivative: a known one, or a whole one."""
    kind = kind_of(operand)
    return isinstance(operand, KnownBefore) or (kind is not None and kind.dtype not in ("f", "c"))


def of_partials(
    function: Any,
    partials: Any,
    kind: NumberKind,
    text: str,
    count: int,
    *,
    spread: bool,
    constant: Collection[int] = (),
) -> Pullback:
    """The pullback by the chain rule with partial derivatives."""
    given = [f"{{{i}}}" for i in range(count)] + ["{r}"] * takes_result(partials)
    before = f"{{f}}({', '.join(given)})"
    back = tuple(None if i in constant else f"{{d}} * {{p}}[{i}]" for i in range(count))
    return Pullback(function, kind, text, back, partials, spread=spread, before=before)


# ---- arrays -------------------------------------------------------------------------------

Maker = Callable[[Any, Sequence[Any], Any, Callable[[Any], str]], Pullback | None]
"""Makes the pullback of a call of a function with arguments of some kinds; see ``pullback_of``."""
_MAKERS: dict[int, Maker] = {}
_HELD: list[Any] = []


def of(*functions: Any) -> Callable[[Any], Any]:
    """Register the function that makes the pullbacks of functions."""

    def register(maker: Any) -> Any:
        for function in functions:
            _MAKERS[id(function)] = maker
            _HELD.append(function)
        return maker

    return register


def _is_float(kind: NumberKind | None) -> bool:
    return kind is not None and kind.dtype == "f"


@of(float, np.float64)
def _float(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or kinds[0] is None or kinds[0].ndim:
        return None
    return Pullback(function, FLOAT, "float({0})", ("{d}",))


@of(operator.getitem)
def _item(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    index = args[1]
    if kinds[0] is None or not kinds[0].ndim:
        return None
    ndim = _dimensions(kinds[0].ndim, index)
    if ndim is None:
        return None
    kind = NumberKind(kinds[0].dtype, ndim)
    masked = _is_advanced(index)
    line = "{b0}[{1}] += {d}" if not masked else f"{name(add_at)}({{b0}}, {{1}}, {{d}})"
    return Pullback(function, kind, "{0}[{1}]", (line, None), is_view=ndim > 0 and not masked)


def _is_advanced(index: Any) -> bool:
    kind = kind_of(index)
    return kind is not None and kind.ndim > 0


def _dimensions(ndim: int, index: Any) -> int | None:
    """The number of dimensions of an element, or None if it is unknown."""
    parts = index if isinstance(index, tuple) else (index,)
    new = sum(part == KnownBefore(None) for part in parts)
    if len(parts) - new > ndim:
        return None
    if len(parts) == 1 and _is_advanced(index):
        kind = kind_of(index)
        assert kind is not None
        if kind.dtype == "f" or (kind.dtype == "b" and kind.ndim != ndim):
            return None
        return 1 if kind.dtype == "b" else ndim - 1 + kind.ndim
    kept = ndim + new
    for part in parts:
        kind = kind_of(part)
        if isinstance(part, Span) or part == KnownBefore(None):
            continue
        if kind is None or kind.ndim or kind.dtype != "i":
            return None
        kept -= 1
    return kept


def _reduction(scale: str) -> Any:
    def maker(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
        if not _is_float(kinds[0]) or not kinds[0].ndim:
            return None
        text = call_text(name(function), len(args))
        if len(args) == 1:
            return Pullback(function, FLOAT, text, (scale.format("{0}.size"),))
        axis = args[1].value if isinstance(args[1], KnownBefore) else None
        if type(axis) is not int or len(args) > 2:
            return None
        kind = NumberKind("f", kinds[0].ndim - 1)
        change = f"np.expand_dims({{d}}, {axis})" if kind.ndim else "{d}"
        back = scale.format(f"{{0}}.shape[{axis}]").replace("{d}", change)
        text = f"{name(function)}({{0}}, axis={axis})"
        return Pullback(function, kind, text, (back, None))

    return maker


of(np.sum, sum)(_reduction("{{d}}"))

of(np.mean)(_reduction("{{d}} / {}"))


@of(np.copy, np.array, np.ndarray.copy, np.asarray, np.asanyarray, np.ascontiguousarray)
def _copy(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if isinstance(args[0], tuple) and len(args) == 1 and function in (np.array, np.asarray):
        return _made_of(args[0])
    if kinds[0] is None or not kinds[0].ndim:
        return None
    if len(args) != 1 and not _is_plain_copy(args, kinds[0]):
        return None
    if function in (np.copy, np.array, np.ndarray.copy):
        return Pullback(np.copy, kinds[0], "np.copy({0})", ("{d}",))
    return Pullback(function, kinds[0], "{0}", ("{d}",), is_view=True)


def _is_plain_copy(args: Any, kind: NumberKind) -> bool:
    """Whether the other arguments of a conversion leave an array's numbers unchanged."""
    return (
        len(args) == 2
        and args[1] in (KnownBefore(float), KnownBefore(np.float64))
        and _is_float(kind)
    )


def _made_of(items: tuple[Any, ...]) -> Pullback | None:
    """An array of separate numbers."""
    kinds = [kind_of(item) for item in items]
    if not items or any(kind is None or kind.ndim or kind.dtype == "b" for kind in kinds):
        return None
    if all(kind == INT for kind in kinds):
        return None
    text = "np.array([" + ", ".join(f"{{0_{i}}}" for i in range(len(items))) + "])"
    lines = tuple(f"{{d}}[{i}]" for i in range(len(items)))
    return Pullback(np.array, NumberKind("f", 1), text, lines, of_items=True)


@of(np.ravel, np.transpose)
def _moved(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or kinds[0] is None or not kinds[0].ndim:
        return None
    if function is np.ravel:
        back = "np.reshape({d}, {0}.shape)"
        return Pullback(
            function, NumberKind(kinds[0].dtype, 1), "np.ravel({0})", (back,), is_view=True
        )
    return Pullback(function, kinds[0], "np.transpose({0})", ("np.transpose({d})",), is_view=True)


@of(np.reshape)
def _reshaped(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 2 or kinds[0] is None or not kinds[0].ndim:
        return None
    shape = args[1].value if isinstance(args[1], KnownBefore) else args[1]
    ndim = len(shape) if isinstance(shape, tuple) else 1
    back = "np.reshape({d}, {0}.shape)"
    kind = NumberKind(kinds[0].dtype, ndim)
    return Pullback(function, kind, "np.reshape({0}, {1})", (back, None), is_view=True)


_PRODUCTS = {
    (1, 1): (0, "{d} * {1}", "{d} * {0}"),
    (2, 1): (1, "np.outer({d}, {1})", "np.transpose({0}) @ {d}"),
    (1, 2): (1, "{1} @ {d}", "np.outer({0}, {d})"),
    (2, 2): (2, "{d} @ np.transpose({1})", "np.transpose({0}) @ {d}"),
}


@of(operator.matmul, np.dot)
def _product(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 2 or not all(map(_is_float, kinds)):
        return None
    found = _PRODUCTS.get((kinds[0].ndim, kinds[1].ndim))
    if found is None:
        return None
    ndim, *back = found
    text = "({0} @ {1})" if function is operator.matmul else "np.dot({0}, {1})"
    return Pullback(function, NumberKind("f", ndim), text, tuple(back))


@of(np.outer)
def _outer(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 2 or kinds != [NumberKind("f", 1)] * 2:
        return None
    return Pullback(function, NumberKind("f", 2), "np.outer({0}, {1})", ("{d} @ {1}", "{0} @ {d}"))


@of(np.where)
def _chosen(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 3 or any(kind is None for kind in kinds):
        return None
    ndim = max(kind.ndim for kind in kinds)
    if not ndim or kinds[0].ndim != ndim:
        return None
    back = (None, "np.where({0}, {d}, 0.0)", "np.where({0}, 0.0, {d})")
    text = "np.where({0}, {1}, {2})"
    return Pullback(function, NumberKind("f", ndim), text, back, spread=True)


@of(np.cumsum)
def _cumulated(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or kinds[0] != NumberKind("f", 1):
        return None
    return Pullback(function, kinds[0], "np.cumsum({0})", ("np.cumsum({d}[::-1])[::-1]",))


@of(np.linalg.solve)
def _solved(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if (
        len(args) != 2
        or kinds[0] != NumberKind("f", 2)
        or kinds[1] not in (NumberKind("f", 1), NumberKind("f", 2))
    ):
        return None
    before = "np.linalg.solve(np.transpose({0}), {d})"
    by_a = "-np.outer({p}, {r})" if kinds[1].ndim == 1 else "-({p} @ np.transpose({r}))"
    return Pullback(function, kinds[1], "np.linalg.solve({0}, {1})", (by_a, "{p}"), before=before)


@of(np.linalg.inv)
def _inverted(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or kinds[0] != NumberKind("f", 2):
        return None
    back = "-(np.transpose({r}) @ {d} @ np.transpose({r}))"
    return Pullback(function, kinds[0], "np.linalg.inv({0})", (back,))


@of(np.linalg.det)
def _determinant(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or kinds[0] != NumberKind("f", 2):
        return None
    back = f"{{d}} * {name(cofactors)}({{0}})"
    return Pullback(function, FLOAT, "np.linalg.det({0})", (back,))


@of(np.zeros, np.ones, np.empty)
def _new(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1:
        return None
    shape = args[0].value if isinstance(args[0], KnownBefore) else args[0]
    ndim = len(shape) if isinstance(shape, tuple) else 1
    return Pullback(function, NumberKind("f", ndim), call_text(name(function), 1), (None,))


@of(local_array)
def _local(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    shape = args[0].value if isinstance(args[0], KnownBefore) else args[0]
    dtype = args[1] if len(args) == 2 else KnownBefore(np.float64)
    if len(args) > 2 or not isinstance(dtype, KnownBefore):
        return None
    text = f"{name(function)}({{0}}, {name(dtype.value)})"
    ndim = len(shape) if isinstance(shape, tuple) else 1
    return Pullback(function, NumberKind("f", ndim), text, (None,))


@of(np.zeros_like, np.ones_like, np.empty_like)
def _new_like(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 1 or not _is_float(kinds[0]) or not kinds[0].ndim:
        return None
    return Pullback(function, kinds[0], call_text(name(function), 1), (None,), is_shape=True)


@of(np.concatenate, np.hstack)
def _joined(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    items = args[0]
    if len(args) != 1 or not isinstance(items, tuple):
        return None
    if any(kind_of(item) != NumberKind("f", 1) for item in items):
        return None
    text = "np.concatenate((" + "".join(f"{{0_{i}}}, " for i in range(len(items))) + "))"
    lines, start = [], "0"
    for i in range(len(items)):
        stop = f"{start} + len({{0_{i}}})"
        lines.append(f"{{d}}[{start}:{stop}]")
        start = stop
    return Pullback(function, NumberKind("f", 1), text, tuple(lines), of_items=True)


@of(np.stack)
def _stacked(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    items = args[0]
    if len(args) != 1 or not isinstance(items, tuple) or not items:
        return None
    kind = kind_of(items[0])
    if kind is None or kind.dtype != "f" or any(kind_of(item) != kind for item in items):
        return None
    text = "np.stack((" + "".join(f"{{0_{i}}}, " for i in range(len(items))) + "))"
    lines = tuple(f"{{d}}[{i}]" for i in range(len(items)))
    return Pullback(function, NumberKind("f", kind.ndim + 1), text, lines, of_items=True)


# ---- functions lifted as others -----------------------------------------------------------

BY_OTHERS: dict[tuple[Any, ...], Any] = {
    (id(np.linalg.norm), 1): norm,
    (id(np.var), 1): variance,
    (id(np.std), 1): deviation,
    (id(np.var), 1, "ddof"): variance,
    (id(np.std), 1, "ddof"): deviation,
    (id(np.prod), 1): product_of,
    (id(math.prod), 1): product_in_order,
    (id(np.cumprod), 1): products_so_far,
    (id(np.median), 1): median,
    (id(np.polyval), 2): polynomial,
    (id(np.tile), 2): tiled,
    (id(math.log), 2): logarithm,
    (id(np.max), 1): largest,
    (id(np.min), 1): smallest,
    (id(max), 1): largest,
    (id(min), 1): smallest,
    (id(max), 2): larger,
    (id(min), 2): smaller,
}
"""Functions, by the number of positional arguments and the names of the others, that are lifted as
other functions."""

"""Pullbacks of functions of complex numbers.

The adjoint of z = x + iy is dL/dx + i dL/dy, as on a tape: the pullback of a holomorphic function
multiplies by the conjugate of its derivative, and a real argument takes the real part.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from overlay.catalogue import FUNCTIONS
from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.pullbacks import (
    INFIX,
    Pullback,
    call_text,
    kind_of,
    made_by_maker,
    rule_of,
)
from overlay.interpretations.autodiff.reverse.reverse_program import (
    COMPLEX,
    KnownBefore,
    NumberKind,
    Span,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.interpretations.autodiff.rules.rule import takes_result
from overlay.interpretations.autodiff.rules.tables.complex_parts import OF_COMPLEX

__all__ = ["complex_pullback", "holomorphic"]

ABSOLUTE = (abs, operator.abs, np.absolute)
_SAME = (operator.getitem, np.ravel, np.reshape, np.transpose, np.copy, np.asarray)
"""Functions whose pullbacks are those of floats: they move numbers."""


_OF_CMATH = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
"""The functions of cmath that have another name in numpy."""


@cache
def holomorphic() -> dict[int, tuple[Any, np.ufunc]]:
    """The holomorphic functions of numpy and cmath, by identity, each with that of numpy."""
    ufuncs = [each for row in FUNCTIONS for each in row.numpy]
    found = [(f, f) for f in (*ufuncs, np.square, np.reciprocal) if f.nin == 1 and _takes(f)]
    by_name = {f.__name__: f for f, _ in found}
    pairs = ((f, by_name.get(_OF_CMATH.get(name, name))) for name, f in vars(cmath).items())
    found += [(f, ufunc) for f, ufunc in pairs if callable(f) and ufunc is not None]
    return {id(f): (f, ufunc) for f, ufunc in found}


def _takes(ufunc: np.ufunc) -> bool:
    return any(types.startswith("D->D") for types in ufunc.types)


def _leaves(operand: Any) -> Iterator[Any]:
    parts = operand.parts if isinstance(operand, Span) else operand
    if isinstance(parts, tuple):
        for part in parts:
            yield from _leaves(part)
    else:
        yield operand


def _is_complex(operand: Any) -> bool:
    kind = kind_of(operand)
    return kind is not None and kind.dtype == "c"


def complex_pullback(
    function: Any, args: Sequence[Any], name: Callable[[Any], str]
) -> Pullback | None:
    """The pullback of a call with complex arguments, or that makes a complex number; None of other
    calls. Raises Unreadable if it is unknown."""
    if function is complex:
        return _made(args)
    if not any(map(_is_complex, (leaf for arg in args for leaf in _leaves(arg)))):
        return None
    kinds = [kind_of(a) for a in args]
    if len(args) == 1:
        found = _of_one(function, args, kinds[0], name)
    elif function in _SAME:
        found = made_by_maker(function, args, name)
    else:
        found = _of_two(function, args, kinds)
    if found is None and _is_written_in_python(function):
        return None
    if found is None:
        raise Unreadable(
            f"no adjoint is known of {describe(function)} with complex numbers",
            help="write it with real and imaginary parts, or take the derivative outside of "
            "compiled code",
        )
    return found


def _is_written_in_python(function: Any) -> bool:
    """Whether a function is one of the program's, which is inlined."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, FunctionType) and module.partition(".")[0] != "numpy"


def _made(args: Sequence[Any]) -> Pullback | None:
    """``complex(a, b)`` of real numbers."""
    kinds = [kind_of(a) for a in args]
    if any(kind is None or kind.ndim or kind.dtype == "c" for kind in kinds) or not args:
        return None
    back = ("np.real({d})", "np.imag({d})")[: len(args)]
    return Pullback(complex, COMPLEX, call_text("complex", len(args)), back)


def _of_one(
    function: Any, args: Sequence[Any], kind: NumberKind | None, name: Callable[[Any], str]
) -> Pullback | None:
    if kind is None:
        return None
    own, real = kind, NumberKind("f", kind.ndim)
    text = call_text(name(function), 1)
    if function is operator.neg:
        return Pullback(function, own, "(-{0})", ("-{d}",))
    if function is operator.pos:
        return Pullback(function, own, "(+{0})", ("{d}",))
    if function is np.real:  # of an array a part of it
        return Pullback(function, real, text, ("({d} + 0j)",), is_view=kind.ndim > 0)
    if function is np.imag:
        return Pullback(function, real, text, ("1j * {d}",), is_view=kind.ndim > 0)
    if function is np.conjugate:
        return Pullback(function, own, text, ("np.conj({d})",))
    if function in ABSOLUTE:
        unit = "{d} * ({0} / ({r} + ({r} == 0.0)))"
        return Pullback(function, real, "abs({0})" if not kind.ndim else "np.abs({0})", (unit,))
    if function in (np.angle, cmath.phase):
        turned = "1j * {d} * {0} / np.real({0} * np.conj({0}))"
        return Pullback(function, real, text, (turned,))
    if function in (np.sum, np.mean) and kind.ndim:
        share = "({d} + 0j)" if function is np.sum else "({d} + 0j) / {0}.size"
        return Pullback(function, COMPLEX, text, (share,))
    if function in _SAME:
        return made_by_maker(function, args, name)
    if id(function) not in holomorphic():
        return None
    ufunc = holomorphic()[id(function)][1]
    rule = rule_of(ufunc, arrays=True)
    assert rule is not None
    partials = OF_COMPLEX.get(ufunc, rule.partials)
    before = "{f}({0}, {r})" if takes_result(partials) else "{f}({0})"
    back = ("{d} * np.conj({p}[0])",)
    return Pullback(function, own, text, back, partials, before=before)


def _of_two(
    function: Any, args: Sequence[Any], kinds: Sequence[NumberKind | None]
) -> Pullback | None:
    known = [kind for kind in kinds if kind is not None]
    if len(known) != 2 or len(args) != 2 or any(kind.dtype == "b" for kind in known):
        return None
    ndim = max(kind.ndim for kind in known)
    text = INFIX[function][0] if function in INFIX else ""
    before: str | None = None
    first, second = (
        f"np.conj({{{i}}})" if k.dtype == "c" else f"{{{i}}}" for i, k in enumerate(known)
    )
    match function:
        case operator.add:
            lines = ["{d}", "{d}"]
        case operator.sub:
            lines = ["{d}", "-{d}"]
        case operator.mul:
            lines = [f"{{d}} * {second}", f"{{d}} * {first}"]
        case operator.truediv:
            before = f"{{d}} / {second}"
            lines = ["{p}", "-{p} * np.conj({r})"]
        case operator.pow if _is_known_real(args[1]):
            n = args[1].value
            lines = [f"{{d}} * np.conj({n!r} * {{0}} ** {n - 1!r})" if n else "0.0 * {d}", ""]
        case _:
            return None
    back = tuple(
        (line if kind.dtype == "c" else f"np.real({line})") if line else None
        for line, kind in zip(lines, known, strict=True)
    )
    spread = any(kind.ndim != ndim for kind in known) or sum(k.ndim > 0 for k in known) > 1
    return Pullback(function, NumberKind("c", ndim), text, back, spread=spread, before=before)


def _is_known_real(operand: Any) -> bool:
    return isinstance(operand, KnownBefore) and type(operand.value) in (int, float)

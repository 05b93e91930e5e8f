"""Forward derivatives: the tables of levels, and the functions that enter a level."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import Context, MethodTable, call_next, known_function, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.jitted import derive_from, mark_rule, seal
from overlay.core.late_binding import LateBound
from overlay.core.target import refuse_values
from overlay.interpretations.autodiff.active_arrays import declare_arrays
from overlay.interpretations.autodiff.active_numbers import declare_numbers, declare_users
from overlay.interpretations.autodiff.adding import generates_adding
from overlay.interpretations.autodiff.checkpoints import declare_checkpoints
from overlay.interpretations.autodiff.duals import ActiveArray, ActiveNumber
from overlay.interpretations.autodiff.errors import (
    refuse_count,
    refuse_pair_count,
)
from overlay.interpretations.autodiff.escapes import begun, given_up, watched
from overlay.interpretations.autodiff.level_results import (
    check_argument_kind,
    check_kind,
    check_one,
)
from overlay.interpretations.autodiff.levels import Level, LevelTable, declare, generate, written
from overlay.interpretations.autodiff.linear_tape import TapeTangent, recording
from overlay.interpretations.autodiff.optional_functions import declare_optional
from overlay.interpretations.autodiff.recorded_rules import declare_adjoints
from overlay.interpretations.autodiff.reverse.adjoints import Adjoint
from overlay.interpretations.autodiff.reverse.gradients import (
    adjoint_instead,
    adjoint_of_types,
    calls_never,
    functions_read,
    seeds_of,
)
from overlay.interpretations.autodiff.reverse.inner_derivatives import inner_derivative
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, kind_of
from overlay.interpretations.autodiff.reverse.running import never
from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
from overlay.interpretations.autodiff.rules import imported
from overlay.interpretations.autodiff.samples import declare_samples

__all__ = [
    "add_gradient",
    "add_shared_gradient",
    "autodiff",
    "differentiation",
    "gradient",
    "inactive",
    "level_of",
    "linearised",
]

# bound late: methods of a level compute gradients in interpreted code, and these enter levels
gradient: LateBound[Callable[..., Callable[..., Any]]] = LateBound()
MOST = 12
"""The maximal number of arguments of ``autodiff`` and ``inactive``."""
KEPT = 64
"""The maximal number of cached levels, with the code compiled for them."""


@seal
def autodiff(f: Callable[..., Any], *args: Any) -> Any:
    """The derivative of a function at a number or array.

    It can be called anywhere: also in a function that is itself differentiated, and in compiled
    code.

    Parameters
    ----------
    f : callable
        A function whose result is a real number.
    *args : float or array
        Its arguments, by each of which it is differentiated.

    Returns
    -------
    float, array or tuple
        The derivative by one argument, by an array the gradient, of its shape; for several
        arguments the tuple of these. It is 0 if the result does not depend on the argument. In
        compiled code the gradient by an array is computed by reverse mode.

    Raises
    ------
    NotDifferentiable
        ``f`` cannot be differentiated.

    Examples
    --------
    >>> from overlay import Context
    >>> from overlay.interpretations.autodiff import autodiff
    >>> autodiff(lambda x: x**3, 2.0)
    12.0
    >>> Context().jit(lambda x: autodiff(lambda y: y * y, x))(3.0)
    6.0
    """
    return _OUTSIDE(autodiff, f, *args)


@seal
def add_gradient(f: Callable[..., Any], *args: Any) -> None:
    """Add the gradient of a function to existing arrays, by reverse mode and without creating an
    array for it.

    It is intended for kernels and other compiled code that computes many gradients; interpreted
    code gives the same result.

    Parameters
    ----------
    f : callable
        A function whose result is a real number.
    *args
        Its arguments. One by which to differentiate is given as a pair: the argument, and an
        array of its shape to which its gradient is added; for a number, an array of one element.
        Other arguments are constant.

    Raises
    ------
    NotDifferentiable
        ``f`` has no adjoint.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import add_gradient
    >>> x, d_x = np.array([1.0, 2.0]), np.zeros(2)
    >>> add_gradient(lambda x, scale: scale * np.sum(x * x), (x, d_x), 3.0)
    >>> d_x
    array([ 6., 12.])
    """
    _OUTSIDE(add_gradient, f, *args)


@seal
def add_shared_gradient(f: Callable[..., Any], *args: Any) -> None:
    """Add the gradient of a function to existing arrays, to which other threads of a kernel may
    add at the same time.

    In a kernel each addition to an element is atomic, so ``f`` has to read the arrays by which it
    is differentiated element by element. The order of the additions, and with it the rounding of
    the sums, may differ from launch to launch. Code for the CPU adds as ``add_gradient`` does:
    there each thread needs its own array.

    Parameters
    ----------
    f : callable
        As for ``add_gradient``.
    *args
        As for ``add_gradient``.

    Raises
    ------
    NotDifferentiable
        ``f`` has no adjoint.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import add_shared_gradient
    >>> w, d_w = np.array([1.0, 2.0]), np.zeros(2)
    >>> add_shared_gradient(lambda w, x: w[0] * x + w[1], (w, d_w), 3.0)
    >>> d_w
    array([3., 1.])
    """
    _OUTSIDE(add_shared_gradient, f, *args)


def linearised(
    f: Callable[..., Any], args: Sequence[Any], seeds: Sequence[Any], rules: tuple[MethodTable, ...]
) -> Any:
    """The result of f as duals, their level, and the detector of escaping duals.

    seeds: the tangents of each argument, a tuple with one for each direction, or None for a
    constant argument. rules: the user's tables of rules, in addition to those in force.
    """
    return _OUTSIDE(linearised, f, args, seeds, rules)


@runs_alone
def inactive(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function without derivative: it is called with plain values, and its result is a
    constant.

    Parameters
    ----------
    f : callable
        The function.

    Returns
    -------
    callable
        ``f`` as a constant in derivatives.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import derivative, inactive
    >>> derivative(lambda x: x * inactive(abs)(x))(3.0)
    3.0
    """
    refuse_values(f, "hold constant", "give a function, as in inactive(f)(x)")

    def constant(*args: Any) -> Any:
        return _without_tangents(f, *args)

    return constant


def _without_tangents(f: Callable[..., Any], *args: Any) -> Any:
    return f(*args)


def _detached(lifter: Any, f: Any, *args: Any) -> Any:
    """Lift a call without derivative in reverse mode."""
    found = lifter.call_in_force(f, list(args), {})
    kind = kind_of(found)
    if kind is None:
        return found
    text = "np.copy({0})" if kind.ndim else "{0}"
    return lifter.emit(Pullback(_without_tangents, kind, text, (None,)), [found])


STRUCTURAL[_without_tangents] = _detached
STRUCTURAL[autodiff] = inner_derivative


@runs_alone
def differentiation(*rules: MethodTable) -> Context:
    """A context in which ``autodiff`` uses the rules of these tables.

    Parameters
    ----------
    *rules : MethodTable
        Tables with methods of ``partials_of(g)`` and ``adjoint_of(g)``.

    Returns
    -------
    Context
        The context.

    Examples
    --------
    >>> from overlay import MethodTable
    >>> from overlay.interpretations.autodiff import autodiff, differentiation, partials_of
    >>> def twice(x: float) -> float:
    ...     return x + x
    >>> table = MethodTable("rules")
    >>> @table.overlay(partials_of(twice))
    ... def partials(x: float):
    ...     return (2.0,)
    >>> differentiation(table)(autodiff, twice, 1.0)
    2.0
    """
    return Context(_outside(rules))


class _Outside(LevelTable):
    """The table outside of all derivatives, where no value is active."""

    def __init__(self, rules: tuple[MethodTable, ...]) -> None:
        super().__init__("derivatives", enters=(0, rules))
        _declare_entrance(self, -1, rules)
        for table in rules:
            table.listen(self)

    def table_changed(self, target: Any) -> None:
        """Declare the entrance of the first level again, after a rule was added or replaced."""
        _declare_entrance(self, -1, self.rules)


@functools.lru_cache(maxsize=KEPT)
def _outside(rules: tuple[MethodTable, ...]) -> _Outside:
    return _Outside(rules)


@functools.lru_cache(maxsize=KEPT)
def _kept(
    depth: int,
    count: int,
    rules: tuple[MethodTable, ...],
    versions: tuple[int, ...],
    modules: tuple[str, ...],
    is_taped: bool,
) -> Level:
    level = Level(depth, count, rules, is_taped=is_taped)
    declare_numbers(level)
    declare_arrays(level)
    declare_samples(level)
    declare_optional(level, modules)
    declare_users(level)
    level.table.modules, level.table.declares = modules, functools.partial(_declare_new, level)
    if is_taped:
        declare_adjoints(level)
        declare_checkpoints(level)
    _declare_scaling(level)
    _declare_inactive(level)
    _declare_entrance(level.table, depth, rules)
    level.seeded = _seeded(level)
    return level


def _declare_new(level: Level, modules: tuple[str, ...]) -> None:
    """Declare the methods for optional modules that a program imports in the level."""
    declare_optional(level, modules)
    declare_users(level)  # which come before


def level_of(
    depth: int, count: int, rules: tuple[MethodTable, ...] = (), *, is_taped: bool = False
) -> Level:
    """The level at this depth with this number of tangents. Its table is created on first use, and
    again after a change of one of the user's tables or an import of an optional module."""
    versions = tuple(table.version for table in rules)
    return _kept(depth, count, rules, versions, imported(), is_taped)


_level = nonoverlay(level_of)


def _declare_entrance(table: LevelTable, depth: int, rules: tuple[MethodTable, ...]) -> None:
    """Declare the methods that enter the next level."""

    def linearise(f: Any, args: Any, seeds: Any, more: Any) -> Any:
        count = max((len(seed) for seed in seeds if seed is not None), default=1)
        # code that fills a table is no part of the program
        every = (*rules, *(table for table in more if table not in rules))
        firsts = [seed[0] for seed in seeds if seed is not None]
        tape = next((each.tape for each in firsts if isinstance(each, TapeTangent)), None)
        size = 1 << (count - 1).bit_length()
        level = _level(depth + 1, size, every, is_taped=tape is not None)

        def run(*plain: Any) -> Any:
            given = [
                x if seed is None else level.pack(x, (*seed, *[seed[0]] * (level.count - count)))
                for x, seed in zip(plain, seeds, strict=True)
            ]
            return in_program(f, *given)

        watch = begun(level)
        try:
            with recording(tape, level.depth):
                return level.context(run, *args), level, watch
        except BaseException as error:
            given_up(watch, error)
            raise

    declare(table, linearised, linearise, (Any, Any, Any, Any), constant=True)
    for names in ("", "".join(f"x{i}, " for i in range(MOST + 1)) + "*rest"):
        source = f"def method(f, {names}): why()"
        table.generated(autodiff)(written(source, None, why=refuse_count))
        for adding in (add_gradient, add_shared_gradient):
            table.generated(adding)(written(source, None, why=refuse_pair_count))
    for count in range(1, MOST + 1):
        table.generated(autodiff)(_generates_entry(table, depth + 1, count, rules))
        for adding in (add_gradient, add_shared_gradient):
            made = generates_adding(table, count, rules, shares=adding is add_shared_gradient)
            table.generated(adding)(made)


def _generates_entry(
    table: LevelTable, depth: int, count: int, rules: tuple[MethodTable, ...]
) -> Any:
    """Make the method of ``autodiff`` for this number of arguments."""
    names = ", ".join(f"x{i}" for i in range(count))

    def generate(*types: Any) -> Any:
        for kind in types[1:]:
            check_argument_kind(types[0], kind)
        if any(isinstance(t, type) and issubclass(t, (np.ndarray, ActiveArray)) for t in types):
            return _by_reverse(types, rules, table.tables_around)
        instead = adjoint_instead(types, rules, table.tables_around)
        if instead is not None:
            return _calls_adjoint(instead, types)
        level = level_of(depth, count, rules)
        space = {"context": level.context, "seeded": level.seeded}
        if known_function(types[0]) is None:
            space = {"own": level, "watched": watched, "seeded": level.seeded}
            return written(
                f"def method(f, {names}): return watched(own, seeded, f, {names})", None, **space
            )
        return written(
            f"def method(f, {names}): return context(seeded, f, {names})", level, **space
        )

    return written(f"def method(f, {names}): return generate(f, {names})", None, generate=generate)


def _by_reverse(
    types: tuple[Any, ...], rules: tuple[MethodTable, ...], tables: tuple[MethodTable, ...]
) -> Any:
    """The method of ``autodiff`` for arguments with arrays among them."""
    names = [f"x{i}" for i in range(len(types) - 1)]
    adjoint = adjoint_of_types(types, rules, tables)
    if adjoint is None:
        source = f"def method(f, {', '.join(names)}): return run(f, ({', '.join(names)},))"
        return written(source, None, run=functools.partial(_gradient_of_any, rules=rules))
    return _calls_adjoint(adjoint, types)


def _calls_adjoint(adjoint: Adjoint, types: tuple[Any, ...]) -> Any:
    """The method that calls an adjoint in compiled code."""
    names = [f"x{i}" for i in range(len(types) - 1)]
    arrays = [n for n, t in zip(names, types[1:], strict=True) if issubclass(t, np.ndarray)]
    numbers = [name for name in names if name not in arrays]
    given = [name if name in arrays else f"float({name})" for name in names]
    adds = [f"d_{name}" for name in arrays]
    begun = {name: _begun(name, t) for name, t in zip(names, types[1:], strict=True)}
    found = [f"d_{name}" if name in arrays else f"found[{numbers.index(name)}]" for name in names]
    lines = [
        f"def method(f, {', '.join(names)}):",
        *calls_never(adjoint, ", ".join(names)),
        *(f"    d_{name} = {begun[name]}" for name in arrays),
        f"    found = back({', '.join([*given, *seeds_of(adjoint), *adds])})",
        f"    return {', '.join(found)}",
    ]
    new = {"zeros": nonoverlay(np.zeros), "zeros_like": nonoverlay(np.zeros_like)}
    back = nonoverlay(adjoint.function)
    method = written("\n".join(lines), None, back=back, never=never, **new)
    derive_from(method, functions_read(adjoint), adjoint.targets)
    return method


def _begun(name: str, hint: Any) -> str:
    """The adjoint of an array at the beginning. For a vector the array itself is not passed on,
    which numba would count references to."""
    return f"zeros({name}.size)" if getattr(hint, "ndim", None) == 1 else f"zeros_like({name})"


def _gradient_of_any(f: Any, args: tuple[Any, ...], rules: tuple[MethodTable, ...]) -> Any:
    return gradient.load()(f, rules=rules)(*args)


def _seeded(level: Level) -> Any:
    """The function that calls another with active numbers, and returns the tangents of its
    result."""
    count = level.count
    names = [f"x{i}" for i in range(count)]
    given = []
    for i in range(count):
        seeds = "".join(f"constant({float(i == k)}, float({names[i]})), " for k in range(count))
        given.append(f"number(float({names[i]}), ({seeds}))")
    taken = "tangents(f, found)[0]" if count == 1 else "tangents(f, found)"
    called = written(f"def method(f, {', '.join(names)}): return f({', '.join(names)})", None)
    constant, tangents = _like(level), _tangents(level)
    return written(
        f"def method(f, {', '.join(names)}):\n"
        f"    found = call(f, {', '.join(given)})\n"
        f"    return {taken}",
        level,
        call=mark_rule(called, is_rule=False),
        constant=constant,
        tangents=tangents,
    )


def _tangents(level: Level) -> Any:
    """The function that returns the tangents of a result of a function f; zeros if that is not
    active. It refuses one that is no number or array of numbers: with the class of f known, as in
    compiled code, by the class of the result."""
    take = written("def method(f, found): return found.tangents", level)
    for kind in (ActiveNumber, ActiveArray):  # of enclosing levels
        constant = written("def method(f, found): return <<0.0>>", level)
        declare(level.table, take, constant, (Any, kind))
    for kind in (level.number, level.array):
        own = written("def method(f, found): return found.tangents", level)
        declare(level.table, take, own, (Any, kind))

    def plain(of: Any, kind: Any) -> Any:
        is_array = isinstance(kind, type) and issubclass(kind, np.ndarray)
        f, zero = known_function(of), "zeros(found.shape)" if is_array else "0.0"
        if f is not None:
            check_kind(f, kind)
        source = (
            f"def method(f, found):\n{'    check(f, found)' * (f is None)}\n    return <<{zero}>>"
        )
        return written(source, level, **space)

    space = {"check": nonoverlay(check_one), "zeros": nonoverlay(np.zeros)}
    method = written("def method(f, found): return plain(f, found)", None, plain=plain)
    generate(level.table, take, method, (Any, Any))
    return take


def constant_like(c: Any, x: Any) -> Any:
    """A constant of the type of a number: a dual with zero tangents if that is one."""
    return c


def _like(level: Level) -> Any:
    """``constant_like``, with a method for the duals of a level."""
    source = "def method(c, x): return number(like(c, x.value), <<like(0.0, x.tangents[#])>>)"
    method = written(source, level, like=constant_like)
    declare(level.table, constant_like, method, (Any, level.number))
    return constant_like


def _declare_scaling(level: Level) -> None:
    """Declare the methods for multiples of the tangents of inner levels on a tape: these are no
    values of the level, and their factors may be active in it."""
    scaled = nonoverlay(operator.mul)
    for kind in (level.number, level.array):
        method = written("def method(p, t): return scaled(t, p)", level, scaled=scaled)
        declare(level.table, operator.mul, method, (kind, TapeTangent))
        method = written("def method(t, p): return scaled(t, p)", level, scaled=scaled)
        declare(level.table, operator.mul, method, (TapeTangent, kind))


def _declare_inactive(level: Level) -> None:
    for count in range(MOST + 1):
        names = [f"x{i}" for i in range(count)]
        given = "".join(f", strip({name})" for name in names)
        source = f"def method({', '.join(['f', *names])}): return call_next(f{given})"
        method = written(source, level, strip=level.strip, call_next=call_next)
        declare(level.table, _without_tangents, method, (Any,) * (count + 1), constant=True)


_OUTSIDE = differentiation()

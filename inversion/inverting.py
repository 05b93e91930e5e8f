"""``invert`` and ``choose``: from a function to its inverse."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from inversion.by_length import by_length
from inversion.emitting.definition import Definition
from inversion.emitting.entry_code import emit
from inversion.emitting.raising import may_hide_errors
from inversion.errors import NotInvertible, WrongArguments
from inversion.inverse import Inverse
from inversion.lifting.inputs import (
    inputs_within,
    numbers_of,
    unknown_axis,
)
from inversion.lifting.interpreted_calls import check_interpreted
from inversion.lifting.lifter import Lifted, Template, lift
from inversion.passes.all_passes import IN_BITS, otherwise, rewritten
from inversion.planning.plan import Plan, renamed
from inversion.planning.planner import plan
from inversion.planning.tightening import tightened
from inversion.program.causality import bounded_orders
from inversion.program.statements import Program, Variable
from inversion.program.trees import Axes, Node, Tree, Trees, axis_of, leaves
from inversion.running.generated_functions import Cache
from inversion.running.sending import Request
from inversion.solving.finite import by_trial
from inversion.solving.smt import by_formula, check_solver
from overlay import Context
from overlay.contexts.wrapping import interpreted_in
from overlay.core.interpreted_values import interpreted_alone
from overlay.core.location import caller, name_of
from overlay.core.logs import timed
from overlay.core.short_repr import named_value
from overlay.core.target import describe, refuse_values
from primitives import Domain, Integers
from primitives.forms.bit_systems import BitSystem
from primitives.relation import RETURN
from primitives.sequences.lists import is_list, length_of

__all__ = ["choose", "invert"]

LOGGER = "inversion"
WORDS = (np.int64, np.uint64)
WORD_BITS = 64


@interpreted_alone
def invert(
    f: Callable[..., Any],
    *types: Any,
    context: Context | None = None,
    domain: Mapping[str, Domain | range] | None = None,
    root_finding: bool = True,
    max_trips: int = 1000,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    cache: Cache = False,
    solver: Literal["z3"] | None = None,
    solver_timeout: float = 60.0,
) -> Inverse:
    """Invert a function: the parametric inverse maps its result to all its arguments.

    The function is lifted to a program of primitives, and each statement is solved backwards
    (back-substitution). If several inputs have the same result, the inverse has parameters θ: each
    is one degree of freedom, and each solution is the answer for some θ.

    Parameters
    ----------
    f : callable
        A function written in Python, whose calls end in functions that have relations.
    *types : type or object
        The types of the arguments, or example values, in order; by default the annotations.
        An argument with a default keeps it, unless its type is given or ``domain`` names it.
        ``Annotated[float, Reals(0, 1)]`` restricts answers to a domain.
    context : Context, optional
        The context in which calls in f and relations are resolved, and in which answers are
        checked.
    domain : mapping of str to Domain or range, optional
        Domains that restrict answers, by the name of the argument; ``range(256)`` means
        ``Integers(0, 255)``.
    root_finding : bool
        Whether to find roots numerically where algebra cannot isolate a variable that occurs
        several times. The inverse then has a parameter for the start of the search. If False, such
        a program is refused.
    max_trips : int
        The largest number of iterations of a ``while`` loop; calls that need more raise NoSolution.
    rtol, atol : float
        Tolerances of the check that f gives the known values: ``rtol`` is relative to each number
        of the result, ``atol`` is absolute and applies to numbers that are 0.
    cache : bool or path
        Whether to store compiled code on disk, for other processes; or the folder for it.
    solver : {"z3"}, optional
        With ``"z3"`` the whole program is translated into a formula that z3 solves. The program may
        have integers, words, truth values, strings and lists. Use it if relations give no plan, or
        only a search. By default the inverse is planned from relations. It needs the extra ``smt``.
    solver_timeout : float
        The time limit of one run of z3, in seconds; beyond it calls raise
        ``primitives.errors.TooHard``.

    Returns
    -------
    Inverse
        The inverse: ``inverse(value)`` is the tuple of arguments.

    Raises
    ------
    NotInvertible
        A statement cannot be solved, or cannot be translated for z3; the error has its line.
    WrongArguments
        A type is missing or not supported, or a name in ``domain`` is not an argument.
    MissingPackage
        The solver is not installed.

    See Also
    --------
    choose : Inverses in which other axes are known.

    Examples
    --------
    >>> import math
    >>> from inversion import invert
    >>> inverse = invert(lambda x: 2 * math.exp(x) + 3, float)
    >>> inverse(5.0)
    (0.0,)

    The sum of two numbers has many inverses; a parameter chooses one:

    >>> split = invert(lambda x, y: x + y, float, float)
    >>> split.parameters.names, split(5.0, (2.0,))
    (('v_x_y',), (3.0, 2.0))
    """
    return choose(
        f, *types, known=(RETURN,), context=context, domain=domain, root_finding=root_finding,
        max_trips=max_trips, rtol=rtol, atol=atol, cache=cache, solver=solver,
        solver_timeout=solver_timeout,
    )  # fmt: skip


@interpreted_alone
def choose(
    f: Callable[..., Any],
    *types: Any,
    known: Sequence[str],
    context: Context | None = None,
    domain: Mapping[str, Domain | range] | None = None,
    root_finding: bool = True,
    max_trips: int = 1000,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    cache: Cache = False,
    solver: Literal["z3"] | None = None,
    solver_timeout: float = 60.0,
) -> Inverse:
    """Invert a function for a choice of known axes: arguments, and ``"return"``, its result.

    Parameters
    ----------
    f : callable
        The function.
    *types : type or object
        The types of the arguments, as in ``invert``. An argument that ``known`` names needs no type
        here if it is annotated, even if it has a default.
    known : sequence of str
        The known axes, in the order in which calls take their values: names of arguments, and
        ``"return"``. A part of a tuple or record may be known: ``"return[0]"``, ``"o.strike"``.
        Calls then return that axis as a whole.
    context, domain, root_finding, max_trips, rtol, atol, cache, solver, solver_timeout
        As in ``invert``.

    Returns
    -------
    Inverse
        The inverse. Its calls return the unknown arguments in the order of the function's
        parameters, an unknown ``"return"`` last.

    Raises
    ------
    NotInvertible
        A statement cannot be solved, or cannot be translated for z3; the error has its line.
    WrongArguments
        A known axis does not exist or is named twice, or as in ``invert``.
    MissingPackage
        The solver is not installed.

    Examples
    --------
    >>> from inversion import choose
    >>> divisor = choose(lambda x, y: x / y, float, float, known=("return", "x"))
    >>> divisor(4.0, 2.0, divisor.parameters.default())
    (0.5,)
    """
    help = "give the function first, as in invert(lambda x: 2 * x, float)"
    refuse_values(f, "invert", help, WrongArguments)
    if context is not None and not isinstance(context, Context):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongArguments(
            f"context is not a Context: {named_value(context)}",
            where=caller(),
            help="give context=overlay.Context(table), with your method tables",
        )
    check_interpreted(f, caller() or "")
    inputs, domains = inputs_within(f, types, domain or {}, () if isinstance(known, str) else known)
    names = [name for name, _ in inputs]
    _check_known(f, known, [*names, RETURN])
    options: dict[str, Any] = {
        "known": tuple(known), "context": context,
        "domain": domain, "root_finding": root_finding,
    }  # fmt: skip
    options |= {"max_trips": max_trips, "rtol": rtol, "atol": atol, "cache": cache}
    options |= {} if solver is None else {"solver": solver, "solver_timeout": solver_timeout}
    check_solver(solver, solver_timeout)
    request = Request(choose, f, types, options)

    def made(shapes: Mapping[str, Template], marks: set[str]) -> Inverse:
        return _chosen(request, inputs, domains, shapes, marks)

    try:
        return made({}, set())
    except NotInvertible:
        shapes = _shapes(inputs, domains) if solver is not None else {}
        if shapes:
            return made(shapes, set())
        found = by_length(
            _positional(f, names, _by_keyword(f, names)), inputs, known, domains, made
        )
        if found is None:
            raise
        return found


def _shapes(
    inputs: Sequence[tuple[str, Tree]], domains: Mapping[str, Domain]
) -> Mapping[str, Template]:
    """The shapes of the sequences among the inputs, where the domain of each has one length."""
    kinds = [(n, kind) for n, kind in inputs if kind in (str, bytes) or is_list(kind)]
    lengths = {name: length_of(domains.get(name)) for name, _ in kinds}
    found = {name: (None,) * length for name, length in lengths.items() if length is not None}
    return found if len(found) == len(lengths) else {}


def _chosen(
    request: Request,
    inputs: Sequence[tuple[str, Tree]],
    domains: Mapping[str, Domain],
    shapes: Mapping[str, Template],
    marks: set[str],
) -> Inverse:
    """The inverse for a request.

    shapes: the shapes of sequences that are split into their items. marks: receives the characters
    at which the function splits strings.
    """
    options = request.options
    f, context = _inside(request.function, options["context"])
    known, root_finding = (options[n] for n in ("known", "root_finding"))
    max_trips, rtol, atol, cache = (options[n] for n in ("max_trips", "rtol", "atol", "cache"))
    names = [name for name, _ in inputs]
    keywords = _by_keyword(f, names)
    lifted: Lifted | None = None
    try:
        with timed(LOGGER, f"lifting {describe(f)}"):
            lifted = lift(
                f, inputs, context, root_finding=root_finding, max_trips=max_trips,
                keywords=keywords, domains=domains, shapes=shapes, marks=marks,
            )  # fmt: skip
        axes = _axes(f, lifted, known)
        if options.get("solver") is not None:
            function, stated = _positional(f, names, keywords), _stated(lifted, domains)
            limit = options["solver_timeout"]
            lifted = by_formula(function, lifted, axes, stated, context, limit)
        program, made, stated = _planned(lifted, axes, domains, root_finding=root_finding)
    except NotInvertible:
        if shapes or options.get("solver") is not None:
            raise
        function = _positional(f, names, keywords)
        tried = by_trial(function, inputs, known, domains, context, lifted)
        if tried is None:
            raise
        lifted, axes = tried, _axes(f, tried, known)
        program, made, stated = _planned(lifted, axes, domains, root_finding=root_finding)
    with timed(LOGGER, f"writing the inverse of {describe(f)}"):
        source = emit(made, axes, rtol, atol, stated)
    hides = may_hide_errors(program, lifted.program)
    function = _positional(f, names, keywords)
    definition = Definition(
        function, made, axes, source, context, stated, (rtol, atol), program, hides
    )
    return Inverse(definition, request, cache)


def _inside(
    f: Callable[..., Any], context: Context | None
) -> tuple[Callable[..., Any], Context | None]:
    """The function inside a wrapper of a context, and the context in which it runs."""
    bound = interpreted_in(f)
    while bound is not None:
        inner, f = bound
        context = inner if context is None else context | inner
        bound = interpreted_in(f)
    return f, context


def _check_known(f: Callable[..., Any], known: Sequence[str], axes: Sequence[str]) -> None:
    """Raise WrongArguments unless each known axis is one of these axes, or a part of one."""
    if isinstance(known, str):
        raise WrongArguments(
            f"known is a tuple of axes, not the string {known!r}",
            where=caller(),
            help=f"write known=({known!r},)",
        )
    for axis in known:
        if axis_of(axis)[0] not in axes:
            raise unknown_axis(f, axis, axes, "known")


def _axes(f: Callable[..., Any], lifted: Lifted, known: Sequence[str]) -> Axes:
    """The axes of a function, with these axes or parts known."""
    axes, seen = Axes(Trees(lifted.axes), tuple(known)), set[str]()
    for name in known:
        try:
            tree = axes.trees[name]
        except KeyError:
            parts = [at for axis, tree in lifted.axes.items() for at in _parts(axis, tree)]
            raise unknown_axis(f, name, parts, "known") from None
        if not seen.isdisjoint(leaves(tree)):
            raise WrongArguments(
                f"known names an axis twice: {tuple(known)!r}",
                where=caller(),
                help="name each axis, and each part of one, once",
            )
        seen.update(leaves(tree))
    return axes


def _parts(name: str, tree: Tree) -> list[str]:
    """The names of an axis and all its parts."""
    if not isinstance(tree, Node):
        return [name]
    pairs = zip(tree.labels, tree.items, strict=True)
    return [name, *(part for label, item in pairs for part in _parts(name + label, item))]


def _by_keyword(f: Callable[..., Any], names: Sequence[str]) -> tuple[str, ...]:
    """The parameters among these that are passed by keyword: keyword-only ones, and those after a
    parameter that keeps its default.
    """
    try:
        parameters = inspect.signature(getattr(f, "py_func", f)).parameters
    except (TypeError, ValueError):
        return ()
    for k, (name, parameter) in enumerate(zip(names, parameters.values(), strict=False)):
        if parameter.kind is parameter.KEYWORD_ONLY or name != parameter.name:
            return tuple(names[k:])
    return ()


def _positional(
    f: Callable[..., Any], names: Sequence[str], keywords: Sequence[str]
) -> Callable[..., Any]:
    """A function that takes these parameters by position, and passes some of them by keyword."""
    if not keywords:
        return f
    passed = [f"{name}={name}" if name in keywords else name for name in names]
    namespace: dict[str, Any] = {"__function": f, "__name__": getattr(f, "__module__", __name__)}
    text = f"def given({', '.join(names)}):\n    return __function({', '.join(passed)})"
    exec(compile(text, f"<{describe(f)} by position>", "exec"), namespace)
    made = namespace["given"]
    made.__name__ = made.__qualname__ = name_of(f)
    return made


@bounded_orders()
def _planned(
    lifted: Lifted,
    known: Axes,
    domains: Mapping[str, Domain],
    *,
    root_finding: bool,
) -> tuple[Program, Plan, Mapping[str, Domain]]:
    """The rewritten program, its plan, and the domains declared for its inputs."""
    size = f"{lifted.program.name}, statements: {len(lifted.program.statements)}"
    with timed(
        LOGGER, f"planning {size}; {', '.join(known.unknown)} from {', '.join(known.known)}"
    ):
        return _planned_anyhow(lifted, known, domains, root_finding=root_finding)


def _planned_anyhow(
    lifted: Lifted,
    known: Axes,
    domains: Mapping[str, Domain],
    *,
    root_finding: bool,
) -> tuple[Program, Plan, Mapping[str, Domain]]:
    """The plan of the program, or else in one of its other forms."""
    parts = [leaf for axis in known.known for leaf in leaves(known.trees[axis])]
    stated = _stated(lifted, domains)
    program = rewritten(lifted.program, parts)
    try:
        made = plan(program, parts, stated, root_finding=root_finding)
        if len(made.parameters) and not any(_is_any_word(v, stated) for v in program.inputs):
            program, made = _in_bits(lifted, parts, stated) or (program, made)
    except NotInvertible as error:
        bits = _in_bits(lifted, parts, stated)
        if bits is not None:
            return _finished(lifted, *bits, stated)
        lacking = _without_width(lifted, parts, stated)
        if lacking:
            error.help = (
                "give the domain, which says how many bits there are: "
                f"domain={{{lacking[0]!r}: Integers(0, 2**32 - 1)}}"
            )
        other = _in_other_forms(lifted.program, program, parts, stated, root_finding=root_finding)
        if other is None:
            raise
        program, made = other
    return _finished(lifted, program, made, stated)


def _stated(lifted: Lifted, domains: Mapping[str, Domain]) -> dict[str, Domain]:
    """The domains of a program's inputs, from those of the function's."""
    return {
        leaf: domains[at]
        for name, tree in lifted.axes.items()
        for at, leaf in numbers_of(name, tree)
        if at in domains
    }


def _is_any_word(variable: Variable, stated: Mapping[str, Domain]) -> bool:
    """Return whether a word input may have almost any value: it has no declared domain, or one that
    needs all 64 bits or fills at least half of its bits.

    numba cannot compile a system of bits, so these inputs keep the plan without one.
    """
    domain = stated.get(variable.name)
    if variable.kind not in WORDS:
        return False
    if not isinstance(domain, Integers) or domain.low is None or domain.high is None:
        return True
    ends = (domain.low, ~domain.low, domain.high)
    bits = max(end.bit_length() for end in ends if end >= 0) + (domain.low < 0)
    return bits >= WORD_BITS or 2 * (domain.high - domain.low + 1) < 1 << bits


def _finished(
    lifted: Lifted, program: Program, made: Plan, stated: Mapping[str, Domain]
) -> tuple[Program, Plan, Mapping[str, Domain]]:
    """The plan with its coordinates narrowed and named."""
    names = {*lifted.axes, *program.axes}
    return program, renamed(tightened(made, stated), names), stated


def _in_other_forms(
    whole: Program,
    program: Program,
    known: Sequence[str],
    domains: Mapping[str, Domain],
    *,
    root_finding: bool,
) -> tuple[Program, Plan] | None:
    """A program in another form, and its plan, where the rewritten program has none."""
    for other in otherwise(whole, program, known):
        if other == program:
            continue
        try:
            made = plan(other, known, domains, root_finding=root_finding)
        except NotInvertible:
            continue
        # otherwise all unknowns would be chosen freely, and the known values only checked
        if not {v for v in other.inputs if v.name not in known} <= set(made.free):
            return other, made
    return None


def _without_width(lifted: Lifted, known: Sequence[str], stated: Mapping[str, Domain]) -> list[str]:
    """The integer inputs without a domain, if a plan over bits exists once they have one."""
    inputs = [v for v in lifted.program.inputs if v.name not in known and v.kind is int]
    lacking = [v.name for v in inputs if v.name not in stated]
    wide = {**stated, **dict.fromkeys(lacking, Integers(0, 2**64 - 1))}
    return lacking if lacking and _in_bits(lifted, known, wide) is not None else []


def _in_bits(
    lifted: Lifted, known: Sequence[str], stated: Mapping[str, Domain]
) -> tuple[Program, Plan] | None:
    """The program with its sums of bits combined, and its plan; None if one of them is missing."""
    program = rewritten(lifted.program, known, IN_BITS, stated)
    if not any(isinstance(s.relation, BitSystem) for s in program.statements):
        return None
    try:
        return program, plan(program, known, stated, root_finding=False)
    except NotInvertible:
        return None

"""Functions of few values: if nothing else solves one, its arguments are enumerated.

The parameters are the values where the enumeration begins: the first arguments from there on that
give the known result are the answer. So each solution is reached, and recovers itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakSet

from inversion.lifting.lifter import Lifted
from inversion.lifting.resolve import body_of, python_code
from inversion.numba_compilation import result_type
from inversion.program.statements import Program, Statement, Variable, renumbered
from inversion.program.trees import Node, Tree
from overlay import Context
from overlay.core.location import location_of
from overlay.core.target import describe
from primitives import Bool, Domain, Integers, NoSolution, Relation, parametric, relation
from primitives.relation import RETURN
from primitives.solver_forms import compiled_solvers

__all__ = ["MOST_TRIED", "by_trial", "count_of", "decided", "is_decided", "listed"]

decided: WeakSet[Relation] = WeakSet()
"""Relations that are solved whole: if an inverse has no answer for one θ, it has none for any."""

MOST_RUN = 16  # arguments for which a function is run to find its type
MOST_TRIED = 65_536
"""The most combinations of values for which a function is enumerated."""


def by_trial(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    known: Sequence[str],
    domains: Mapping[str, Domain],
    context: Context | None,
) -> Lifted | None:
    """The function as one statement, which is solved by trying all values of the unknown inputs.

    None if the result is unknown or no single number, or if the unknown inputs have too many
    values: truth values have two, integers as many as their declared domain.
    """
    unknown = [name for name, _ in inputs if name not in known]
    count = count_of([domains.get(name) for name in unknown])
    if RETURN not in known or not unknown or not 0 < count <= MOST_TRIED:
        return None
    kinds = [tree for _, tree in inputs if not isinstance(tree, Node)]
    body = body_of(function)
    if body is None or len(kinds) != len(inputs):
        return None
    told = result_type(compiled_solvers.jit(body), tuple(kinds))
    returns = told or _seen(function, inputs, domains)
    if returns is None:
        return None
    made = _relation(function, inputs, unknown, domains, context, returns)
    decided.add(made)
    where = location_of(function)
    variables = tuple(Variable(name, kind) for (name, _), kind in zip(inputs, kinds, strict=True))
    result = Variable(renumbered("result", [v.name for v in variables]), returns)
    statement = Statement(made, (result,), variables, where)
    functions = tuple(python_code(function))
    results = {RETURN: result}
    program = Program(describe(function), variables, (statement,), results, where, functions)
    return Lifted(program, {**{v.name: v.name for v in variables}, RETURN: RETURN})


def _seen(
    function: Callable[..., Any], inputs: Sequence[tuple[str, Tree]], domains: Mapping[str, Domain]
) -> type | None:
    """The type of number that a function returns for its first arguments, if numba does not infer
    it; None if an input has no declared domain, or there are several types.
    """
    names = [name for name, _ in inputs]
    if count_of([domains.get(name) for name in names]) == 0:
        return None
    kinds: set[type] = set()
    firsts = itertools.product(*(listed(domains[name]) for name in names))
    for args in itertools.islice(firsts, MOST_RUN):
        try:
            kinds.add(type(function(*args)))
        except Exception:  # a function may raise anything outside its domain
            continue
    (kind,) = kinds if len(kinds) == 1 else (None,)
    return kind if kind in (int, float, bool) else None


def count_of(domains: Iterable[Domain | None]) -> int:
    """The number of combinations of values of domains; 0 if they are not enumerated."""
    return math.prod(map(_size, domains))


def listed(domain: Domain | None) -> Sequence[Any]:
    """The values of a finite domain, in order."""
    if isinstance(domain, Integers):
        assert domain.low is not None
        return range(domain.low, domain.low + _size(domain))
    return (False, True)


def is_decided(program: Program) -> bool:
    """Whether one θ decides if there is a solution, as where all values are tried."""
    return any(statement.relation in decided for statement in program.statements)


def _size(domain: Domain | None) -> int:
    """The number of values of a domain; 0 if they are not enumerated."""
    if domain is Bool:
        return 2
    if not isinstance(domain, Integers) or domain.kind is not int or domain.without:
        return 0
    return 0 if domain.low is None or domain.high is None else domain.high - domain.low + 1


def _relation(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    unknown: Sequence[str],
    domains: Mapping[str, Domain],
    context: Context | None,
    returns: type,
) -> Relation:
    axes = {name: f"{name}_" if name in ("ret", "domain") else name for name, _ in inputs}
    names = list(axes.values())
    run = function if context is None else context.wrap(function)
    near = {f"near_{axes[name]}": domains[name] for name in unknown}
    solve = _solver(run, names, [axes[name] for name in unknown], near)
    chosen = ", ".join(axes[name] for name in unknown)
    recover = eval(f"lambda {chosen}: ({chosen},)")
    mode = parametric(
        solve,
        recover=recover,
        determined_if=None,
        rounding_only=False,
        all_or_nothing=False,
        **near,
    )
    return relation(
        function,
        *(kind for _, kind in inputs),
        f"return = f({', '.join(names)})",
        returns=returns,
        modes={tuple(axes[name] for name in unknown): mode},
        domain={axes[name]: domains[name] for name in unknown},
    )


def _solver(
    run: Callable[..., Any],
    names: Sequence[str],
    unknown: Sequence[str],
    near: Mapping[str, Domain],
) -> Callable[..., Any]:
    """The function that enumerates the values, from near on; the first unknown is outermost."""
    known = [name for name in names if name not in unknown]
    taken = {*names, *near}
    forward, found, refusal, turn, sizes = (
        renumbered(name, taken) for name in ("run", "found", "Refusal", "turn", "range")
    )
    rows = [f"def solve({', '.join(['ret', *known, *near])}):"]
    for depth, (name, (begin, domain)) in enumerate(zip(unknown, near.items(), strict=True), 1):
        pad, at = "    " * depth, renumbered(f"{turn}_{depth}", taken)
        rows += [f"{pad}for {at} in {sizes}({_size(domain)}):", f"{pad}    {name} = "]
        if isinstance(domain, Integers):
            rows[-1] += f"{domain.low} + ({begin} - {domain.low} + {at}) % {_size(domain)}"
        else:
            rows[-1] += f"{begin} == ({at} == 0)"
    pad = "    " * (len(unknown) + 1)
    rows += [
        f"{pad}try:",
        f"{pad}    {found} = {forward}({', '.join(names)}) == ret",
        f"{pad}except Exception:",
        f"{pad}    {found} = False",
        f"{pad}if {found}:",
        f"{pad}    return {', '.join(unknown)}",
        f'    raise {refusal}("none of its values gives this result")',
    ]
    namespace: dict[str, Any] = {forward: run, refusal: NoSolution, sizes: range}
    exec("\n".join(rows), namespace)
    return namespace["solve"]

"""Functions of few values: where nothing else solves one, its arguments are gone through.

The parameters are the values where that begins: the first arguments from there on that give what is
known are the answer. So each solution is reached, and recovered by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakSet

from inversion.lifting import Lifted
from inversion.lifting.functions import body_of, python_code
from inversion.numba_ir import result_type
from inversion.program import Program, Statement, Variable, renumbered
from inversion.trees import Node, Tree
from overlay import Context
from overlay.location import location_of
from overlay.target import describe
from primitives import Bool, Domain, Integers, NoSolution, Relation, parametric, relation
from primitives.kernels import compiled
from primitives.relation import RETURN

__all__ = ["MOST_TRIED", "by_trial", "is_by_trial"]

_made: WeakSet[Relation] = WeakSet()

MOST_TRIED = 65_536
"""Combinations of values; a function of more is not gone through."""


def by_trial(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    known: Sequence[str],
    domains: Mapping[str, Domain],
    context: Context | None,
) -> Lifted | None:
    """The function as one statement, which is solved by trying all values of what is unknown.

    None where the result is unknown or no single number, or where what is unknown has too many
    values: truth values have two, integers as many as their declared domain.
    """
    unknown = [name for name, _ in inputs if name not in known]
    sizes = [_size(domains.get(name)) for name in unknown]
    if RETURN not in known or not unknown or 0 in sizes or math.prod(sizes) > MOST_TRIED:
        return None
    kinds = [tree for _, tree in inputs if not isinstance(tree, Node)]
    body = body_of(function)
    returns = result_type(compiled(body), tuple(kinds)) if len(kinds) == len(inputs) else None
    if body is None or returns is None:
        return None
    made = _relation(function, inputs, unknown, domains, context, returns)
    _made.add(made)
    where = location_of(function)
    variables = tuple(Variable(name, kind) for (name, _), kind in zip(inputs, kinds, strict=True))
    result = Variable(renumbered("result", [v.name for v in variables]), returns)
    statement = Statement(made, (result,), variables, where)
    functions = tuple(python_code(function))
    results = {RETURN: result}
    program = Program(describe(function), variables, (statement,), results, where, functions)
    return Lifted(program, {**{v.name: v.name for v in variables}, RETURN: RETURN})


def is_by_trial(program: Program) -> bool:
    """Whether a program is solved by trying all values: an inverse without an answer for one θ
    has none for any other."""
    return any(statement.relation in _made for statement in program.statements)


def _size(domain: Domain | None) -> int:
    """How many values a domain has; 0 where they are not gone through."""
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
    mode = parametric(solve, recover=recover, unless=None, spare=False, either=False, **near)
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
    """The function that goes through the values, outermost the first unknown, from near on."""
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

"""Functions of few values: if no other method solves a function, its arguments are enumerated.

The parameters are the values at which the enumeration begins: the answer is the first arguments
from there on that give the known result. So each solution is reached, and recovers itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any
from weakref import WeakSet

from inversion.lifting.lifter import Lifted
from inversion.lifting.resolve import body_of, python_code
from inversion.numba_compilation import result_type
from inversion.program.statements import Operand, Program, Statement, Variable, renumbered
from inversion.program.trees import Node, Tree, leaves, mapped
from overlay import Context
from overlay.core.location import location_of
from overlay.core.target import describe
from primitives import Bool, Domain, Integers, NoSolution, Relation, parametric, relation
from primitives.relation import RETURN
from primitives.solver_forms import compiled_solvers

__all__ = ["MOST_BY_TRIAL", "MOST_TRIED", "by_trial", "count_of", "decided", "is_decided", "listed"]

decided: WeakSet[Relation] = WeakSet()
"""Relations that are solved as a whole: if an inverse has no answer for one θ, it has
none for any.
"""

MOST_RUN = 16  # arguments for which a function runs, to find its type
MOST_TRIED = 65_536
"""The largest number of combinations of values that are enumerated for all solutions, if there is a
plan.
"""
MOST_BY_TRIAL = 2**19
"""The largest number of combinations of values that are tried if there is no plan."""
EXACT = (int, bool, str)
KINDS = (*EXACT, float, complex)
"""The types of results for which values are tried; those in tuples are compared exactly."""


def by_trial(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    known: Sequence[str],
    domains: Mapping[str, Domain],
    context: Context | None,
    lifted: Lifted | None,
) -> Lifted | None:
    """The function as one statement, which is solved by trying all values of the unknown inputs.

    lifted: its program, if it has one, which determines the types of its results.

    None if the result is unknown, or is not a number, string or tuple of whole numbers and strings;
    or if the unknown inputs have too many values: truth values have two, integers as many as their
    declared domain.
    """
    unknown = [name for name, _ in inputs if name not in known]
    count = count_of([domains.get(name) for name in unknown])
    if RETURN not in known or not unknown or not 0 < count <= MOST_BY_TRIAL:
        return None
    kinds = [tree for _, tree in inputs if not isinstance(tree, Node)]
    body = body_of(function)
    if body is None or len(kinds) != len(inputs):
        return None
    returns = _returned(lifted, body, tuple(kinds)) or _seen(function, inputs, domains)
    if returns is None:
        return None
    found = list(leaves(returns))
    taken = [name for name, _ in inputs]
    results: list[Variable] = []
    for kind in found:
        results.append(Variable(renumbered("result", [*taken, *(v.name for v in results)]), kind))
    made = _relation(function, inputs, unknown, domains, context, found)
    decided.add(made)
    where = location_of(function)
    variables = tuple(Variable(name, kind) for (name, _), kind in zip(inputs, kinds, strict=True))
    statement = Statement(made, tuple(results), variables, where)
    functions = tuple(python_code(function))
    returned: dict[str, Operand] = {}

    def leaf(path: str, _: Any) -> str:
        returned[RETURN + path] = results[len(returned)]
        return RETURN + path

    axes = {**{v.name: v.name for v in variables}, RETURN: mapped(returns, leaf)}
    program = Program(describe(function), variables, (statement,), returned, where, functions)
    return Lifted(program, axes)


def _returned(lifted: Lifted | None, body: FunctionType, kinds: tuple[Any, ...]) -> Tree | None:
    """The types of a function's results, in their structure, from its program or by numba; else
    None.
    """
    if lifted is None:
        return result_type(compiled_solvers.jit(body), kinds)
    program = lifted.program
    return _flat(mapped(lifted.axes[RETURN], lambda _, name: program.operand(name).kind))


def _flat(tree: Tree) -> Tree | None:
    """The types of a number or string, or of a tuple of some that are not floats; None for other
    results.
    """
    if not isinstance(tree, Node):
        return tree if tree in KINDS else None
    is_tuple = issubclass(tree.cls, tuple) and len(tree.items) > 1
    return tree if is_tuple and all(item in EXACT for item in tree.items) else None


def _seen(
    function: Callable[..., Any], inputs: Sequence[tuple[str, Tree]], domains: Mapping[str, Domain]
) -> Tree | None:
    """The types of the results for the first arguments of a function; None if an input has no
    declared domain, or if the types differ.
    """
    names = [name for name, _ in inputs]
    if count_of([domains.get(name) for name in names]) == 0:
        return None
    found: set[Tree | None] = set()
    firsts = itertools.product(*(listed(domains[name]) for name in names))
    for args in itertools.islice(firsts, MOST_RUN):
        try:
            value = function(*args)
        except Exception:  # a function may raise any exception outside its domain
            continue
        is_tuple = isinstance(value, tuple)
        found.add(_flat(Node(type(value), tuple(map(type, value))) if is_tuple else type(value)))
    (tree,) = found if len(found) == 1 else (None,)
    return tree


def count_of(domains: Iterable[Domain | None]) -> int:
    """The number of combinations of values of domains; 0 if a domain is not enumerated."""
    return math.prod(map(_size, domains))


def listed(domain: Domain | None) -> Sequence[Any]:
    """The values of a finite domain, in order."""
    if isinstance(domain, Integers):
        assert domain.low is not None
        return range(domain.low, domain.low + _size(domain))
    return (False, True)


def is_decided(program: Program) -> bool:
    """Return whether a single θ decides if there is a solution, as where all values are tried."""
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
    returns: Sequence[type],
) -> Relation:
    axes = {name: f"{name}_" if name in ("ret", "domain") else name for name, _ in inputs}
    names = list(axes.values())
    results = ["ret"] if len(returns) == 1 else _results(names, len(returns))
    run = function if context is None else context.wrap(function)
    near = {f"near_{axes[name]}": domains[name] for name in unknown}
    solve = _solver(run, names, results, [axes[name] for name in unknown], near)
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
        f"{'return' if len(returns) == 1 else ', '.join(results)} = f({', '.join(names)})",
        returns=returns[0] if len(returns) == 1 else tuple(returns),
        modes={tuple(axes[name] for name in unknown): mode},
        domain={axes[name]: domains[name] for name in unknown},
    )


def _results(names: Sequence[str], count: int) -> list[str]:
    """The names of several results."""
    found = list(names)
    for number in range(count):
        found.append(renumbered(f"ret_{number}", found))
    return found[len(names) :]


def _solver(
    run: Callable[..., Any],
    names: Sequence[str],
    results: Sequence[str],
    unknown: Sequence[str],
    near: Mapping[str, Domain],
) -> Callable[..., Any]:
    """The function that enumerates the values from ``near`` on; the first unknown is the outermost
    loop.
    """
    known = [name for name in names if name not in unknown]
    taken = {*names, *results, *near}
    forward, found, refusal, turn, sizes = (
        renumbered(name, taken) for name in ("run", "found", "Refusal", "turn", "range")
    )
    rows = [f"def solve({', '.join([*results, *known, *near])}):"]
    for depth, (name, (begin, domain)) in enumerate(zip(unknown, near.items(), strict=True), 1):
        pad, at = "    " * depth, renumbered(f"{turn}_{depth}", taken)
        rows += [f"{pad}for {at} in {sizes}({_size(domain)}):", f"{pad}    {name} = "]
        if isinstance(domain, Integers):
            rows[-1] += f"{domain.low} + ({begin} - {domain.low} + {at}) % {_size(domain)}"
        else:
            rows[-1] += f"{begin} == ({at} == 0)"
    pad = "    " * (len(unknown) + 1)
    wanted = results[0] if len(results) == 1 else f"({', '.join(results)})"
    rows += [
        f"{pad}try:",
        f"{pad}    {found} = {forward}({', '.join(names)}) == {wanted}",
        f"{pad}except Exception:",
        f"{pad}    {found} = False",
        f"{pad}if {found}:",
        f"{pad}    return {', '.join(unknown)}",
        f'    raise {refusal}("none of its values gives this result")',
    ]
    namespace: dict[str, Any] = {forward: run, refusal: NoSolution, sizes: range}
    exec("\n".join(rows), namespace)
    return namespace["solve"]

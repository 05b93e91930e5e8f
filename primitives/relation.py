"""Relations: equations between the arguments and the results of one function, with solvers.

A relation has *axes*: the inputs, named in its equation, and the result, ``"return"``. Where the
function returns a tuple, each item has an axis with a name. A *mode* solves for some axes from all
the others. If these do not determine the answer, the mode is *parametric*: it has additional
coordinates, and one answer for each choice of them.

``primitives.testing.check_relation`` tests two laws of every mode:

- Soundness: the answer of a mode satisfies the equation, or the mode raises NoSolution.
- Completeness: ``recover`` computes coordinates from arguments; with these coordinates the mode
  returns the arguments.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overlay import OverlayError
from overlay.core.errors import closest, near_names
from overlay.core.location import caller, location_of
from overlay.core.markup import code, facts, listed, place, sheet
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.core.signature import shown_hint
from overlay.core.target import canonical, describe, with_code
from primitives.domains import Domain, domain_of

__all__ = ["Mode", "Parametric", "Relation", "parametric", "relation"]

RETURN = "return"
RESERVED = ("ret", "domain", "codomain", "edges", "low_information", "joint")

Solver = Callable[..., Any]


@dataclass(frozen=True)
class Parametric:
    """A solver with coordinates; made by ``parametric``."""

    solver: Solver
    recover: Solver
    coordinates: Mapping[str, Domain]
    determined_if: Solver | None
    rounding_only: bool
    all_or_nothing: bool


def parametric(
    solver: Solver,
    *,
    recover: Solver,
    determined_if: Solver | None = None,
    rounding_only: bool = False,
    all_or_nothing: bool = False,
    **coordinates: Domain,
) -> Parametric:
    """A parametric mode: a solver with one coordinate, with its domain, for each keyword.

    Parameters
    ----------
    solver : callable
        Takes the known axes and the coordinates, by name, and returns the unknown axes.
    recover : callable
        Takes axes by name and returns the tuple of coordinates for which the solver returns these
        axes.
    determined_if : callable, optional
        Takes known axes by name and returns a bool. If they are constants and it returns True, the
        answer is unique: the coordinates take their defaults and are not parameters of the inverse.
    rounding_only : bool
        Whether the coordinates matter only where rounding maps several arguments to one result, as
        where a function saturates. If an inverse has no other parameters, θ is optional in its
        calls.
    all_or_nothing : bool
        Whether, depending on the known axes, each continuous coordinate matters either for all its
        values or for none, such as one for an unknown that cancels.
    **coordinates : Domain
        The domain of each coordinate, by name.

    Returns
    -------
    Parametric
        The mode, to be passed to ``relation``.

    Examples
    --------
    >>> from primitives import Real, parametric
    >>> parametric(lambda ret, v: (ret - v, v), v=Real, recover=lambda a, b: (b,)).coordinates
    {'v': Real}
    """
    return Parametric(solver, recover, coordinates, determined_if, rounding_only, all_or_nothing)


@hides("labels", "parts", "settled")
@dataclass(frozen=True)
class Mode:
    """A solver of a relation for some axes, from all the others; ``relation`` makes it.

    Attributes
    ----------
    unknown : tuple of str
        The axes that ``solver`` returns; several are returned as a tuple of values.
    solver : callable
        The function that computes the unknown axes.
    takes : tuple of str
        The parameters of ``solver``, in order: known axes and coordinates.
    coordinates : mapping of str to Domain
        The domain of each coordinate.
    recover, determined_if : callable or None
        As in ``parametric``.
    recovers, determined_by : tuple of str
        The parameters of ``recover`` and ``determined_if``.
    incomplete : str or None
        The reason why the mode cannot reach every solution; None if it can.
    labels : mapping of str to Label
        Names of the parameters for coordinates that belong to parts of a compound statement.
    rounding_only : bool
        Whether the coordinates matter only where rounding leaves a choice.
    overdetermined : bool
        Whether the mode has more known axes than it needs. These must then agree, as where one of
        several results is computed from all arguments.
    last_resort : bool
        Whether the planner uses the mode only if no other mode is possible.
    all_or_nothing : bool
        Whether the continuous coordinates matter either for all their values or for none.

    Examples
    --------
    >>> import math
    >>> from primitives import Positive, relation
    >>> exp = relation(
    ...     math.exp, float, "return = exp(a)", codomain=Positive, a=lambda ret: math.log(ret),
    ... )
    >>> exp.mode({"a"})
    <Mode return -> a>
    """

    unknown: tuple[str, ...]
    solver: Solver
    takes: tuple[str, ...]
    coordinates: Mapping[str, Domain]
    recover: Solver | None = None
    recovers: tuple[str, ...] = ()
    determined_if: Solver | None = None
    determined_by: tuple[str, ...] = ()
    incomplete: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rounding_only: bool = False
    overdetermined: bool = False
    last_resort: bool = False
    all_or_nothing: bool = False

    @property
    def settled(self) -> bool:
        """Whether the mode needs no choice of coordinates."""
        return self.rounding_only or not self.coordinates

    def parts(self) -> list[tuple[str, Any, Mapping[str, str]]]:
        """List the plans inside the mode of a compound statement.

        Returns
        -------
        list of tuple
            For each plan a description, the plan, and the coordinates of its parameters by name.
            The list is empty for a plain mode.
        """
        return []

    def __repr__(self) -> str:
        return f"<Mode {', '.join(self.takes)} -> {', '.join(self.unknown)}>"


Solution = Solver | Parametric | Mode


@hides("around", "identity", "kinds", "name", "rows", "shown", "whole")
class Relation:
    """Equation between the arguments and results of one function, for one signature, with modes.

    ``relation`` makes it. Calling it runs the function forward.

    Attributes
    ----------
    target : callable
        The function.
    types : tuple of type
        The types of its arguments.
    equation : str
        The equation, such as ``"return = a + b"``.
    axes, outputs : tuple of str
        The names of its inputs, and of its results.
    returns : type or tuple of type
        The type of its result; a tuple of types for several results.
    domain : dict of str to Domain
        The domain of each input.
    codomain : Domain or None
        The domain of the result; None for several results.
    where : str or None
        ``file:line`` of its definition.
    edges : str
        A description of its behaviour at edges: zeros, bounds, overflow.
    low_information : bool
        Whether the result constrains the inputs little, as a sum constrains its terms. The planner
        solves such a relation only for unknowns that nothing else determines.
    independent : bool
        Whether each of several results determines one more input.
    joint : bool
        Whether the planner solves it for several inputs at once if possible. A free choice of one
        input would mostly leave no solution for the others, such as a choice of the prefix of a
        known string.
    modes : dict of frozenset to Mode
        Its modes, by the sets of axes that they solve for.

    Examples
    --------
    >>> from primitives.floats.arithmetic import add
    >>> add
    <Relation 'return = a + b' for operator.add(float, float)>
    >>> add(2.0, 3.0), add.axes, add.shown_modes()
    (5.0, ('a', 'b'), '{return}, {a}, {b}, {a, b}')
    """

    whole = False
    """Whether the planner solves it for several unknowns at once, without a free choice of some."""

    def __init__(
        self,
        target: Any,
        types: tuple[Any, ...],
        equation: str,
        *,
        domain: Mapping[str, Domain],
        codomain: Domain | None,
        returns: Any,
        where: str | None,
        edges: str = "",
        low_information: bool = False,
        independent: bool = False,
        joint: bool = False,
    ) -> None:
        self.low_information = low_information
        self.independent = independent
        self.joint = joint
        self.whole = independent or joint
        self.target = target
        self.types = types
        self.equation = equation
        self.where = where
        self.edges = edges
        self.outputs, self._expression = _sides(equation, where)
        self.axes = _axes(self._expression)
        self.returns = returns
        self.domain = dict(domain)
        self.codomain = codomain
        self.modes: dict[frozenset[str], Mode] = {}

    @property
    def identity(self) -> int:
        """A key that is equal for equal relations; by default the ``id`` of the object."""
        return id(self)

    @property
    def kinds(self) -> dict[str, Any]:
        """The type of each axis, inputs first."""
        returns = self.returns if len(self.outputs) > 1 else (self.returns,)
        inputs = zip(self.axes, self.types, strict=True)
        return {**dict(inputs), **dict(zip(self.outputs, returns, strict=True))}

    @property
    def name(self) -> str:
        """The name of the function, without its module."""
        return describe(self.target).rpartition(".")[2]

    def __repr__(self) -> str:
        shown = ", ".join(map(shown_hint, self.types))
        return f"<Relation {self.equation!r} for {describe(self.target)}({shown})>"

    def _repr_html_(self) -> str:
        shown = ", ".join(map(shown_hint, self.types))
        given = facts(
            ("function", code(f"{describe(self.target)}({shown})")),
            *((f"domain of {name}", code(repr(held))) for name, held in self.domain.items()),
            ("codomain", None if self.codomain is None else code(repr(self.codomain))),
            ("edges", self.edges),
            ("where", None if self.where is None else place(self.where)),
        )
        modes = listed(
            ("solves for", "from", "coordinates", ""),
            [*self.modes.values()],
            lambda mode: (
                code(", ".join(mode.unknown)),
                code(", ".join(name for name in mode.takes if name not in mode.coordinates)),
                code(", ".join(f"{name}: {held!r}" for name, held in mode.coordinates.items())),
                mode.incomplete or "",
            ),
        )
        return sheet("relation", self.equation, None, given, modes)

    def __call__(self, *args: Any) -> Any:
        forward = self.modes[frozenset(self.outputs)]
        by_name = dict(zip(self.axes, args, strict=True))
        return forward.solver(*(by_name[name] for name in forward.takes))

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        """Look up the mode that solves for exactly these axes.

        Parameters
        ----------
        unknown : iterable of str
            The unknown axes.

        Returns
        -------
        Mode or None
            The mode; None if the relation has none for these axes.
        """
        return self.modes.get(frozenset(unknown))

    def shown(self, names: Mapping[str, str]) -> str:
        """Write the equation with axes replaced by expressions, such as ``v = 2.0 * x``.

        Parameters
        ----------
        names : mapping of str to str
            The expression for each axis; axes that it lacks keep their names.

        Returns
        -------
        str
            The equation.
        """
        filled = _Fill(names).visit(ast.parse(self._expression, mode="eval"))
        results = ", ".join(names.get(axis, axis) for axis in self.outputs)
        return f"{results} = {ast.unparse(filled)}"

    def rows(self) -> tuple[str, ...]:
        """Lines of text that show the statements inside a compound statement; none for a plain
        relation.
        """
        return ()

    def around(self, before: Any, after: Any, gives: Any) -> None:
        """Merge the statements before and after a compound statement into it.

        Parameters
        ----------
        before, after : sequence of statements
            The statements to merge.
        gives : sequence of variables
            The results of the merged statement.

        Returns
        -------
        Statement or None
            The merged statement; None for a plain relation, which contains no statements.
        """

    def shown_modes(self) -> str:
        """Write the modes as the sets of axes that they solve for: ``{return}, {a}, {a, b}``."""
        order = (*self.outputs, *self.axes)
        sets = (sorted(mode.unknown, key=order.index) for mode in self.modes.values())
        return ", ".join("{" + ", ".join(names) + "}" for names in sets)


def relation(
    target: Any,
    *types_and_equation: Any,
    domain: Mapping[str, Domain] | Domain | None = None,
    codomain: Domain | None = None,
    returns: Any = None,
    modes: Mapping[tuple[str, ...], Solution] | None = None,
    incomplete: str | Mapping[str, str] | None = None,
    edges: str = "",
    low_information: bool = False,
    independent: bool = False,
    joint: bool = False,
    **solutions: Solution,
) -> Relation:
    """Make the relation of a function for one signature.

    A solver takes the known axes by name and returns the unknown ones, several as a tuple. It is
    plain Python that numba can compile. Where the known axes have no solution it raises
    ``NoSolution``, with one constant string, a ``ValueError`` or an ``ArithmeticError``.

    Parameters
    ----------
    target : callable
        The function.
    *types_and_equation : type, and last str
        The types of the arguments, then the equation, such as ``"return = a + b"``. The names on
        the right are the inputs, in the order of the arguments. If the function returns a tuple,
        the names on the left are its results: ``"q, r = divmod(a, b)"``.
    domain : Domain or mapping of str to Domain, optional
        The domain of each input, or one domain for the only input; by default all values of the
        types.
    codomain : Domain, optional
        The domain of the result; by default all values of its type.
    returns : type or tuple of type, optional
        The type of the result, by default that of the arguments; for several results a tuple of
        types.
    modes : mapping of tuple of str to solver, optional
        Solvers by the tuple of axes that they solve for, ``{("key", "block"): ...}``, for axes with
        long names.
    incomplete : str or mapping of str to str, optional
        The reason why the modes that solve for inputs cannot reach every solution; or a reason for
        each keyword of ``solutions``.
    edges : str
        A description of the behaviour at edges (zeros, bounds, overflow), for the documentation.
    low_information, independent, joint : bool
        As in ``Relation``.
    **solutions : callable, Parametric or Mode
        A solver for each set of unknown axes. The keyword is the name of the axis, or several names
        in a row: ``a``, ``ab``, and ``ret`` for ``"return"``. The value is a function, or made by
        ``parametric``, or a Mode, which is used unchanged. Without ``ret`` the function itself is
        the forward mode.

    Returns
    -------
    Relation
        The relation.

    Raises
    ------
    OverlayError
        The equation cannot be read, or a mode does not fit it.

    Examples
    --------
    >>> import math
    >>> from primitives import Positive, relation
    >>> exp = relation(
    ...     math.exp, float, "return = exp(a)", codomain=Positive,
    ...     ret=lambda a: math.exp(a), a=lambda ret: math.log(ret),
    ... )
    >>> exp, exp.shown_modes()
    (<Relation 'return = exp(a)' for math.exp(float)>, '{return}, {a}')
    """
    where = _written_at(solutions.values())
    *kinds, equation = _with_equation(target, types_and_equation, where)
    made = Relation(
        canonical(target),
        tuple(kinds),
        equation,
        domain={},
        codomain=codomain,
        returns=_result_type(target, kinds, returns, where),
        where=where,
        edges=edges,
        low_information=low_information,
        independent=independent,
        joint=joint,
    )
    return _RelationBuilder(made, where, incomplete).built(domain, solutions, modes or {})


# ---- reading and checking -----------------------------------------------------------------


class _Fill(ast.NodeTransformer):
    """Replaces names by expressions, except the names of called functions."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        wanted = self.names.get(node.id, node.id)
        if wanted.isidentifier():
            return ast.Name(wanted, ast.Load())
        return ast.parse(wanted, mode="eval").body


def _sides(equation: str, where: str | None) -> tuple[tuple[str, ...], str]:
    """The names of the results, and the expression on the right."""
    left, equals, right = equation.partition("=")
    outputs = tuple(name.strip() for name in left.split(","))
    try:
        ast.parse(right.strip(), mode="eval")
    except SyntaxError:
        equals = ""
    several = len(set(outputs)) == len(outputs) > 1 and all(
        name.isidentifier() and name not in RESERVED for name in outputs
    )
    if not equals or not (several or outputs == (RETURN,)):
        raise OverlayError(
            f"cannot read the equation {equation!r}",
            where=where,
            help="write it as 'return = ' and a Python expression of the inputs; the results of "
            "a function that gives a tuple have names, as in 'q, r = divmod(a, b)'",
        )
    return outputs, right.strip()


def _axes(expression: str) -> tuple[str, ...]:
    tree = ast.parse(expression, mode="eval")
    called = {
        id(n) for node in ast.walk(tree) if isinstance(node, ast.Call) for n in ast.walk(node.func)
    }
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called]
    names.sort(key=lambda n: (n.lineno, n.col_offset))
    return tuple(dict.fromkeys(n.id for n in names))


def _written_at(solutions: Iterable[Solution]) -> str | None:
    written = [s.solver if isinstance(s, Parametric | Mode) else s for s in solutions]
    return next((location_of(s) for s in written if hasattr(s, "__code__")), caller())


def _with_equation(target: Any, given: tuple[Any, ...], where: str | None) -> tuple[Any, ...]:
    """The types, followed by the equation. Raises OverlayError if the equation is missing."""
    if not given or not isinstance(given[-1], str):
        raise OverlayError(
            f"the relation of {describe(target)} has no equation",
            where=where,
            help="give it after the types, as in relation(math.sin, float, 'return = sin(a)', ...)",
        )
    return given


def _result_type(target: Any, kinds: list[Any], returns: Any, where: str | None) -> Any:
    if returns is not None:
        return returns
    if len(set(kinds)) != 1:
        raise OverlayError(
            f"the relation of {describe(target)} does not say what type its result has",
            where=where,
            help="add returns=<type>",
        )
    return kinds[0]


class _RelationBuilder:
    """Builder of a relation: checks its domains and modes, and adds them."""

    def __init__(
        self, made: Relation, where: str | None, incomplete: str | Mapping[str, str] | None
    ) -> None:
        self.made = made
        self.where = where
        self.incomplete = incomplete
        if len(made.axes) != len(made.types):
            raise self.error(
                f"names {counted(len(made.axes), 'input')} for {counted(len(made.types), 'type')}",
                "name each input once, in the order of the arguments",
            )
        reserved = [name for name in made.axes if name in (*RESERVED, *made.outputs)]
        if reserved:
            raise self.error(f"has an input called {reserved[0]!r}, a reserved name", "rename it")
        several = isinstance(made.returns, tuple)
        if several != (len(made.outputs) > 1) or (
            several and len(made.returns) != len(made.outputs)
        ):
            raise self.error(
                f"has the results {', '.join(made.outputs)} of type {made.returns!r}",
                "give returns=(type, type, ...), one for each result",
            )

    def error(self, what: str, help: str, notes: Iterable[tuple[str, str]] = ()) -> OverlayError:
        return OverlayError(
            f"the relation {self.made.equation!r} of {describe(self.made.target)} {what}",
            where=self.where,
            notes=notes,
            help=help,
        )

    def no_axis(self, name: str, help: str) -> OverlayError:
        """The error for a name that is none of an axis."""
        near = near_names(str(name), ("ret", *self.made.axes, *self.made.outputs))
        return self.error(f"has no axis {name!r}", help, closest(near))

    def domains(self, given: Mapping[str, Domain] | Domain | None) -> None:
        made = self.made
        if isinstance(given, Domain):
            if len(made.axes) != 1:
                raise self.error("has several inputs and one domain", "write domain={'a': ...}")
            given = {made.axes[0]: given}
        given = given or {}
        for name in given:
            if name not in made.axes:
                raise self.error(
                    f"has no input {name!r} to give a domain",
                    f"name one of its inputs: {', '.join(made.axes)}",
                    closest(near_names(str(name), made.axes)),
                )
        for name, kind in zip(made.axes, made.types, strict=True):
            domain = given.get(name) or domain_of(kind)
            if domain is not None:
                made.domain[name] = domain
        if len(made.outputs) == 1:
            made.codomain = made.codomain or domain_of(made.returns)

    def unknown(self, keyword: str) -> tuple[str, ...]:
        """The axes that a keyword names: one of them, or several run together."""
        outputs = () if self.made.outputs == (RETURN,) else self.made.outputs
        axes = (*outputs, *self.made.axes)
        if keyword in axes:
            return (keyword,)
        ways = list(_splits(keyword, axes))
        if not ways:
            help = f"name the axis to solve for, or several run together: ret, {', '.join(axes)}"
            raise self.no_axis(keyword, help)
        if len(ways) > 1:
            shown = " and as ".join(map(str, ways[:2]))
            help = f"write modes={{{ways[0]}: ...}}"
            raise self.error(f"reads {keyword!r} in several ways: as {shown}", help)
        return ways[0]

    def built(
        self,
        domain: Mapping[str, Domain] | Domain | None,
        by_keyword: Mapping[str, Solution],
        by_axes: Mapping[tuple[str, ...], Solution],
    ) -> Relation:
        """The relation, with its domains and modes."""
        made = self.made
        self.domains(domain)
        self.mode("ret", made.outputs, by_keyword.get("ret", made.target))
        for keyword, solution in by_keyword.items():
            if keyword != "ret":
                self.mode(keyword, self.unknown(keyword), solution)
        for unknown, solution in by_axes.items():
            self.mode("_".join(unknown), tuple(unknown), solution)
        return made

    def mode(self, label: str, unknown: tuple[str, ...], given: Solution) -> None:
        made = self.made
        if isinstance(given, Mode):  # of another relation, its axes renamed
            made.modes[frozenset(unknown)] = given
            return
        axes = (*made.outputs, *made.axes)
        # the other results have to agree
        overdetermined = set(unknown) < set(made.outputs)
        if made.independent:
            overdetermined = len(unknown) < len(made.outputs)
        for name in unknown:
            if name not in axes:
                raise self.no_axis(name, f"name the axes to solve for: {', '.join(axes)}")
        if not unknown or len(set(unknown)) != len(unknown):
            found = f"for {', '.join(unknown)}: one axis twice" if unknown else "for none"
            raise self.error(
                f"has a mode that solves {found}",
                f"name each axis to solve for once: {', '.join(axes)}",
            )
        known = [name for name in axes if name not in unknown]
        if not isinstance(given, Parametric):
            # the function takes the inputs in order; the names of its parameters do not matter
            forward = unknown == made.outputs and given is made.target
            takes = made.axes if forward else self.takes(label, given, known, exact=True)
            made.modes[frozenset(unknown)] = Mode(
                unknown,
                self.named(label, given),
                takes,
                {},
                incomplete=self.reason(label, unknown),
                overdetermined=overdetermined,
            )
            return
        for name, domain in given.coordinates.items():
            if not isinstance(domain, Domain):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise self.error(f"gives {name} no domain: {domain!r}", "such as k=Integer")
            if name in axes or name in RESERVED:
                raise self.error(f"has a coordinate named like an axis: {name}", "rename it")
        condition = given.determined_if
        made.modes[frozenset(unknown)] = Mode(
            unknown,
            self.named(label, given.solver),
            self.takes(label, given.solver, [*known, *given.coordinates], exact=True),
            given.coordinates,
            self.named(f"{label}_recover", given.recover),
            self.takes(f"{label}_recover", given.recover, axes),
            None if condition is None else self.named(f"{label}_determined_if", condition),
            () if condition is None else self.takes(f"{label}_determined_if", condition, known),
            self.reason(label, unknown),
            rounding_only=given.rounding_only,
            overdetermined=overdetermined,
            all_or_nothing=given.all_or_nothing,
        )

    def reason(self, label: str, unknown: tuple[str, ...]) -> str | None:
        if self.incomplete is None or isinstance(self.incomplete, str):
            return None if unknown == self.made.outputs else self.incomplete
        return self.incomplete.get(label)

    def takes(
        self, label: str, function: Solver, allowed: Iterable[str], *, exact: bool = False
    ) -> tuple[str, ...]:
        """The axes and coordinates that a function takes, in the order of its parameters."""
        allowed = tuple(allowed)
        parameters = inspect.signature(function).parameters
        names = tuple(RETURN if name == "ret" else name for name in parameters)
        wrong = [name for name in names if name not in allowed]
        missing = [name for name in allowed if name not in names] if exact else []
        if wrong or missing:
            raise self.error(
                f"solves {label} with a function of ({', '.join(parameters)})",
                "its parameters are "
                + ("exactly " if exact else "some of ")
                + ", ".join("ret" if name == RETURN else name for name in allowed),
            )
        return names

    def named(self, label: str, function: Solver) -> Solver:
        """The function; a copy with a name for tracebacks, if it is a lambda."""
        if not isinstance(function, types.FunctionType) or function.__name__ != "<lambda>":
            return function
        name = f"{self.made.name}_{label}"
        copied = with_code(function, function.__code__.replace(co_name=name, co_qualname=name))
        copied.__name__ = copied.__qualname__ = name
        return copied


def _splits(text: str, names: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The ways to read ``text`` as distinct names run together."""
    if not text:
        yield ()
    for name in names:
        if name and text.startswith(name):
            rest = tuple(n for n in names if n != name)
            yield from ((name, *others) for others in _splits(text[len(name) :], rest))

"""The inverse of a function: a callable that chooses, solves, and checks its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inversion.arrays.kernels import Kernel
from inversion.arrays.limits import refuse_arrays
from inversion.batch import columns, flattened, loop_source, theta_columns
from inversion.emitting import Source
from inversion.errors import NoSolution, OutsideDomain, WrongArguments
from inversion.nearest import nearest
from inversion.numba_ir import jitted
from inversion.parameters import ParameterSpace
from inversion.plan import Plan
from inversion.preimage import SolutionBranch, branches, infeasible
from inversion.program import Program
from inversion.quick import in_threads, is_quick, quick_names
from inversion.refusals import taken_refusals
from inversion.trees import (
    Node,
    Tree,
    classes_of,
    leaves,
    mapped,
    rebuilt,
    taken_apart,
    written,
)
from inversion.values import as_text, cast, dtype_of, example_of, is_close
from inversion.watch import Watch
from overlay import Context, NotCompilable
from overlay.location import caller, is_ours, shown
from primitives import Domain
from primitives.arrays.domain import element_of, shape_of
from primitives.kernels import compiled
from primitives.relation import RETURN

__all__ = ["Axes", "Inverse"]

COMPILED_AFTER = 20_000
"""After so many calls an inverse is compiled: by then they have taken as long as that takes."""

REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError, RecursionError)
_NO_GUESS: Any = object()


@dataclass(frozen=True)
class Axes:
    """The axes of a function, each with the tree of the program's axes that it is made of.

    known: those that are known; the others are unknown.
    """

    trees: Mapping[str, Tree]
    known: tuple[str, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The axes that are found, in order."""
        return tuple(axis for axis in self.trees if axis not in self.known)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The function's arguments."""
        return tuple(axis for axis in self.trees if axis != RETURN)


class Inverse:
    """A parametric inverse: ``inv(*known, theta)`` is the tuple of the unknown axes.

    Every answer is checked by running the function itself: what does not give the known values
    back, within ``rtol`` and ``atol`` relative to the result, raises NoSolution. Integers are
    exact, of any size when interpreted; compiled, what needs more than 64 bits is refused, and
    a call then falls back on the interpreter. Made by ``invert`` and ``choose``.
    origin: the program that was read from the function, as it is before it is planned.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        plan: Plan,
        axes: Axes,
        source: Source,
        context: Context | None,
        domains: Mapping[str, Domain],
        tolerance: tuple[float, float],
        origin: Program,
    ) -> None:
        self.origin = origin
        self._function = function
        self._plan = plan
        self._axes = axes
        self._source = source
        self._context = context
        self._domains = domains
        self._rtol, self._atol = tolerance
        self._filename = f"<inverse of {plan.program.name}>"
        self._calls = 0
        self._fast: Callable[..., tuple[Any, ...]] | None = None
        self._kinds = {axis: self._kinds_of(axis) for axis in axes.trees}
        self._watch = Watch(plan.program.functions, context)

    # ---- looking ----

    @property
    def parameters(self) -> ParameterSpace:
        """The free choices."""
        return self._plan.parameters

    @property
    def known(self) -> tuple[str, ...]:
        """The axes whose values it takes, in order."""
        return self._axes.known

    @property
    def unknown(self) -> tuple[str, ...]:
        """The axes that it answers, in order."""
        return self._axes.unknown

    @property
    def program(self) -> Plan:
        """The inverse as data: what is chosen, and what is solved after what."""
        return self._plan

    @property
    def source(self) -> str:
        """The generated Python."""
        return self._source.text

    @property
    def axes(self) -> Axes:
        """The function's axes, as trees of those of the program."""
        return self._axes

    @property
    def context(self) -> Context | None:
        """What calls are resolved against."""
        return self._context

    @property
    def domains(self) -> Mapping[str, Domain]:
        """What is declared for inputs of the program."""
        return self._domains

    @property
    def tolerance(self) -> tuple[float, float]:
        """rtol and atol."""
        return self._rtol, self._atol

    def __repr__(self) -> str:
        known, unknown = ", ".join(self._axes.known), ", ".join(self._axes.unknown)
        return f"<Inverse of {self._plan.program.name}: {known} -> {unknown}>"

    def __str__(self) -> str:
        return f"inverse of {self._plan.program}\n{self._plan}"

    # ---- calling ----

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """The unknown axes, in parameter order, for known values and θ.

        θ comes last, a tuple or a record of ``parameters.dtype``; it is left out where there
        are no parameters, and may be where ``parameters.optional``.
        Raises NoSolution where no value exists for this θ, with the line where the domain was
        left; WrongArguments (a TypeError) for a wrong number of values or coordinates;
        OutsideDomain (a ValueError) for a coordinate outside its domain.
        """
        given = self._prepared(values)
        if self._fast is not None and not self._watch.changed:
            try:
                return self._finished(self._fast(*self._fitted(given)))
            except (*REFUSALS, TypeError):
                pass  # the interpreter knows why, and holds integers of any size
        else:
            self._count()
        return self._interpreted(given)

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """θ for which the inverse answers these inputs, given their result.

        Raises NoSolution where no θ does within the tolerances: digits were lost.
        """
        inputs = self._axes.inputs
        if len(args) != len(inputs):
            raise WrongArguments(
                f"{self._plan.program.name} has {len(inputs)} inputs "
                f"({', '.join(inputs)}); {len(args)} were given",
                where=caller(),
                help="give all of the function's arguments",
            )
        given = [self._cast(axis, value) for axis, value in zip(inputs, args, strict=True)]
        namespace = self._namespace
        try:
            with np.errstate(all="ignore"):
                result = namespace["forward"](*given)
                theta = self.parameters.normal(namespace["recover"](*given))
        except REFUSALS as error:
            raise self._explained(error, ()) from error
        values = {**dict(zip(inputs, given, strict=True)), RETURN: result}
        answers = self(*(values[axis] for axis in self._axes.known), *self._theta(theta))
        for axis, answer in zip(self._axes.unknown, answers, strict=True):
            tree, wanted = self._axes.trees[axis], values[axis]
            pairs = zip(taken_apart(tree, answer), taken_apart(tree, wanted), strict=True)
            if not all(self._close(found, value) for found, value in pairs):
                raise NoSolution(
                    f"no θ gives {axis} = {as_text(wanted)} back: lost digits "
                    f"(the nearest answer is {as_text(answer)})",
                    where=self._plan.program.where,
                    help="larger rtol and atol accept it",
                )
        return theta

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """The inverse as one function compiled by numba, which later calls of ``self`` use too.

        It takes the same arguments, θ as a tuple of native values (fastest from
        ``parameters.compiled``, with arrays of what is repeated), and checks the same; what it
        raises does not say where. It is frozen: it knows the function, and what that
        calls, as they are now. ``self`` does not use it once they have changed.
        Raises NotCompilable where numba cannot compile it, or where the function has changed
        since it was inverted.
        """
        if self._watch.changed:
            raise NotCompilable(
                f"{self!r} is out of date: the function has changed since",
                where=self._plan.program.where,
                help="call invert again",
            )
        if self._fast is None:
            self._fast = self._compiled()
        return self._fast

    def batch(
        self, *known: Any, theta: Any = None, on_error: Literal["raise", "nan"] = "raise"
    ) -> tuple[NDArray[Any], ...]:
        """The unknown axes for whole arrays of known values, compiled.

        Arrays of known values and θ are broadcast against one another; of an axis that is itself an
        array, the rows come first. theta: a structured
        array of ``parameters.dtype``, or one θ for all rows; left out where there are no
        parameters, or only spare ones. on_error: raise for the first row without a solution, or
        leave NaN there (where the answers are floats).
        Raises what a call raises, and NotCompilable.
        """
        known_axes, unknown_axes = self._axes.known, self._axes.unknown
        spare = len(self.parameters)
        if theta is None and spare and self.parameters.optional:
            theta = self.parameters.default()
        if len(known) != len(known_axes) or (theta is None) == bool(spare):
            raise WrongArguments(
                f"{self!r} takes {', '.join(known_axes)} and "
                + (f"theta= ({', '.join(self.parameters.names)})" if spare else "no theta"),
                where=caller(),
                help="theta is an array of inv.parameters.dtype, or one θ",
            )
        kinds = [kind for axis in unknown_axes for kind in leaves(self._kinds[axis])]
        if on_error not in ("raise", "nan"):
            raise WrongArguments(
                f'on_error is "raise" or "nan", not {on_error!r}',
                where=caller(),
                help='use on_error="raise"',
            )
        if on_error == "nan" and (not kinds or any(element_of(k) is not float for k in kinds)):
            raise WrongArguments(
                'on_error="nan" needs answers that are floats',
                where=caller(),
                help='use on_error="raise"',
            )
        given = [
            column
            for axis, value in zip(known_axes, known, strict=True)
            for column in columns(axis, self._parts(axis, value), leaves(self._kinds[axis]))
        ]
        given += theta_columns(self.parameters, theta) if spare else []
        inner = [shape_of(kind) for axis in known_axes for kind in leaves(self._kinds[axis])]
        inner += [parameter.domain.dtype.shape for parameter in self.parameters]
        shape, flat = flattened(given, inner)
        outs = [np.zeros(math.prod(shape), dtype=dtype_of(kind)) for kind in kinds]
        failed = np.zeros(math.prod(shape), dtype=np.bool_)
        changed = self._watch.changed
        if changed:
            failed[:] = True  # the compiled form is that of the old function
        else:
            self._solve(failed, flat, outs)
        if changed or on_error == "raise":
            for row in np.flatnonzero(failed):
                self._again(int(row), flat, outs, on_error)
        else:
            for out in outs:
                out[failed] = np.nan
        shaped = iter([out.reshape(*shape, *out.shape[1:]) for out in outs])
        return tuple(rebuilt(self._axes.trees[axis], shaped) for axis in unknown_axes)

    def _solve(
        self, failed: NDArray[Any], flat: Sequence[NDArray[Any]], outs: Sequence[NDArray[Any]]
    ) -> None:
        """Fill in the answers, and which rows have failed."""
        if self._quick_rows is None:
            self._rows(failed, *flat, *outs)
            return
        try:
            in_threads(self._quick_rows, [failed, *flat, *outs])
        except Exception:  # the function itself raised; the rows are told apart below
            failed[:] = True
        rows = np.flatnonzero(failed)
        if len(rows):
            answers = [out[rows] for out in outs]
            still = np.zeros(len(rows), dtype=np.bool_)
            self._rows(still, *(column[rows] for column in flat), *answers)
            failed[rows] = still
            for out, answer in zip(outs, answers, strict=True):
                out[rows] = answer

    def _again(
        self, row: int, columns: list[NDArray[Any]], outs: list[NDArray[Any]], on_error: str
    ) -> None:
        """A row that compiled code does not answer, interpreted: an answer, or the reason."""
        values = iter([column[row] for column in columns])
        known = [
            self._cast(axis, rebuilt(self._axes.trees[axis], values)) for axis in self._axes.known
        ]
        theta = self.parameters.normal(tuple(values))
        try:
            answers = self._interpreted((*known, *self._theta(theta)))
        except NoSolution as error:
            if on_error == "raise":
                error.notes = (("row", str(row)), *error.notes)
                raise
            nothing = iter([math.nan] * len(outs))
            answers = tuple(rebuilt(self._axes.trees[axis], nothing) for axis in self._axes.unknown)
        found = [
            part
            for axis, answer in zip(self._axes.unknown, answers, strict=True)
            for part in taken_apart(self._axes.trees[axis], answer)
        ]
        for out, answer in zip(outs, found, strict=True):
            out[row] = answer

    # ---- sets of solutions ----

    def preimage(self, *known: Any) -> Iterator[SolutionBranch]:
        """All solutions for known values, branch by branch, each when it is asked for.

        Every discrete choice is enumerated: signs, arms, divisors, roots; those without an end,
        such as periods, outwards from their defaults. What is a single solution is checked, and
        given once. Continuous parameters stay open: see ``SolutionBranch``.
        Raises NoSolution where intervals pushed backwards through the program prove that there is
        no solution, with the line where nothing is left; NotInvertible for programs with arrays.
        """
        given = self._known_values(known)
        proof = infeasible(self, given)
        if proof is not None:
            raise proof
        return branches(self, given)

    def nearest(self, *known: Any, guess: Any = _NO_GUESS) -> tuple[Any, ...]:
        """The solution that is closest to a guess: ``inv.nearest(value, guess)``.

        guess: the unknown axes, a tuple as a call answers it, or the value alone where there is
        one. The distance is Euclidean in ``(x - g) / max(1, |g|)``. Discrete choices are searched
        exactly within the distance of a first solution, that of the guess's own θ; along
        continuous ones the distance goes down from there, to where it is least around.
        Raises NoSolution where no solution is found, NotInvertible for programs with arrays.
        """
        if guess is _NO_GUESS:
            *values, guess = known or (None,)
            known = tuple(values)
        given = self._known_values(known)
        proof = infeasible(self, given)
        if proof is not None:
            raise proof
        return nearest(self, given, self._guess(guess))

    def log_abs_det(self, *values: Any) -> float:
        """The logarithm of the absolute determinant of this inverse's Jacobian, at known values
        and θ: of the unknown inputs by the result, known inputs held fixed.

        Its derivatives are exact up to rounding, those of the arms and turns that are taken.
        Raises NotInvertible where there are not as many unknown inputs as results, or not all of
        them floats, or where a function has no known derivative; NoSolution where the Jacobian is
        singular at this value, or has a kink.
        """
        from inversion.jacobian import log_abs_det

        given = self._prepared(values)
        count = len(self._axes.known)
        return log_abs_det(self, given[:count], given[count] if len(given) > count else ())

    def _guess(self, guess: Any) -> list[Any]:
        """A guess of the unknown axes, in their types."""
        unknown = self._axes.unknown
        if len(unknown) == 1 and not (isinstance(guess, (tuple, list)) and len(guess) == 1):
            guess = (guess,)
        if not isinstance(guess, (tuple, list)) or len(guess) != len(unknown):
            raise WrongArguments(
                f"{guess!r} is no guess of {', '.join(unknown)}",
                where=caller(),
                help="give a tuple of them, as a call of the inverse answers it",
            )
        return [self._cast(axis, value) for axis, value in zip(unknown, guess, strict=True)]

    def coordinates_of(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """The θ that leads to these arguments from what they give; None where there is none."""
        try:
            with np.errstate(all="ignore"):
                return self.parameters.normal(self._namespace["recover"](*args))
        except REFUSALS:
            return None

    def agrees(self, answers: Sequence[Any], args: Sequence[Any]) -> bool:
        """Whether answers are the unknown ones of these arguments, within the tolerances."""
        given = dict(zip(self._axes.inputs, args, strict=True))
        for axis, answer in zip(self._axes.unknown, answers, strict=True):
            if axis in given:
                tree = self._axes.trees[axis]
                pairs = zip(
                    taken_apart(tree, answer),
                    taken_apart(tree, self._cast(axis, given[axis])),
                    strict=True,
                )
                if not all(self._close(found, value) for found, value in pairs):
                    return False
        return True

    def _known_values(self, known: Sequence[Any]) -> tuple[Any, ...]:
        """Values given for the known axes, in their types. Raises NotInvertible for programs with
        arrays, whose solutions are not gone through."""
        refuse_arrays(self.origin, "search the solutions")
        if len(known) != len(self._axes.known):
            raise WrongArguments(
                f"{self!r} has {len(self._axes.known)} known axes "
                f"({', '.join(self._axes.known)}); {len(known)} values were given",
                where=caller(),
                help="give the known values alone, without θ",
            )
        return tuple(
            self._cast(axis, value) for axis, value in zip(self._axes.known, known, strict=True)
        )

    # ---- parts of a call ----

    def _prepared(self, values: Sequence[Any]) -> tuple[Any, ...]:
        count, known = len(self._axes.known), self._axes.known
        spare = 1 if len(self.parameters) else 0
        if len(values) == count and spare and self.parameters.optional:
            values = (*values, self.parameters.default())
        if len(values) == count and spare:
            raise self.parameters.wrong(None)
        if len(values) != count + spare:
            theta = " and θ" if spare else ""
            raise WrongArguments(
                f"{self!r} takes {', '.join(known)}{theta}; {len(values)} values were given",
                where=caller(),
                help="θ is one tuple" if spare else "it has no parameters",
            )
        given = [self._cast(axis, value) for axis, value in zip(known, values, strict=False)]
        for axis, value in zip(known, given, strict=True) if self._domains else ():
            for leaf, part in zip(
                leaves(self._axes.trees[axis]), self._parts(axis, value), strict=True
            ):
                if leaf in self._domains and not self._domains[leaf].contains(part):
                    raise OutsideDomain(
                        f"{leaf} = {part!r} is outside {self._domains[leaf]!r}", where=caller()
                    )
        return (*given, *self._theta(self.parameters.normal(values[-1]) if spare else ()))

    def _kinds_of(self, axis: str) -> Tree:
        return mapped(self._axes.trees[axis], lambda _, leaf: self._plan.operand(leaf).kind)

    def _parts(self, axis: str, value: Any) -> list[Any]:
        """The numbers that a value of an axis is made of."""
        tree = self._axes.trees[axis]
        if not isinstance(tree, Node):
            return [value]
        try:
            return taken_apart(tree, value)
        except TypeError:
            shape = mapped(self._kinds[axis], lambda _, kind: getattr(kind, "__name__", kind))
            raise WrongArguments(
                f"{axis} = {value!r} is not built as {written(shape)}",
                where=caller(),
                help="give a tuple like the function's",
            ) from None

    def _cast(self, axis: str, value: Any) -> Any:
        """A value given for an axis, in the types that the program has there."""
        kinds = self._kinds[axis]
        if not isinstance(kinds, Node):
            return cast(axis, kinds, value)
        parts = zip(leaves(kinds), self._parts(axis, value), strict=True)
        return rebuilt(kinds, iter([cast(axis, kind, part) for kind, part in parts]))

    def _theta(self, theta: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
        return (theta,) if len(self.parameters) else ()

    def _interpreted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        taken_refusals()  # those of a call before
        count = len(self._axes.known)
        theta = map(self.parameters.filled, given[count:])
        try:
            with np.errstate(all="ignore"):
                return self._finished(self._namespace["inverse"](*given[:count], *theta))
        except REFUSALS as error:
            raise self._explained(error, given) from error

    def _finished(self, answers: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            kinds(answer) if kinds in (np.int64, np.uint64, float) else answer
            for kinds, answer in zip(self._unknown_kinds, answers, strict=True)
        )

    def _close(self, answer: Any, wanted: Any) -> bool:
        return is_close(answer, wanted, self._rtol, self._atol)

    def _count(self) -> None:
        self._calls += 1
        if self._calls == COMPILED_AFTER and not self._watch.changed:
            try:
                self.compile()
            except NotCompilable:
                return

    # ---- code ----

    @cached_property
    def _namespace(self) -> dict[str, Any]:
        """The generated functions, interpreted."""
        namespace = {**self._source.names, "forward": self._forward()}
        exec(compile(self._source.text, self._filename, "exec"), namespace)
        for rows, (one, outs) in self._source.kernels.items():
            fast = partial(self._compiled_part, rows)
            namespace[rows] = Kernel(namespace[one], outs, fast)
        return namespace

    def _compiled_part(self, name: str) -> Callable[..., Any] | None:
        """One of the generated functions, compiled."""
        return self._compiled_parts[name]

    @cached_property
    def _compiled_parts(self) -> dict[str, Any]:
        """The generated functions, compiled when they are called; ``inverse`` is not."""
        names = {name: compiled(value) for name, value in self._source.names.items()}
        exec(compile(self._source.text, self._filename, "exec"), names)
        for part in self._source.parts:
            names[part] = compiled(names[part])
        return names

    def _forward(self) -> Callable[..., Any]:
        if self._context is not None:
            return self._context.wrap(self._function)
        return getattr(self._function, "py_func", self._function)

    @cached_property
    def _unknown_kinds(self) -> list[Tree]:
        return [self._kinds[axis] for axis in self._axes.unknown]

    @cached_property
    def _rows(self) -> Callable[..., None]:
        return self._loop(self.compile(), raises=True)

    @cached_property
    def _quick_rows(self) -> Callable[..., None] | None:
        """The same where an inverse that answers NaN can be compiled; else None."""
        plain = all(isinstance(self._axes.trees[axis], str) for axis in self._axes.unknown)
        if not (plain and is_quick(self._plan)):
            return None
        text, names = self._source.text, self._source.names
        try:
            quick = quick_names(text, names, self._function, self._context)
            return self._loop(quick["inverse"], raises=False)
        except NotCompilable:
            return None

    def _loop(self, inverse: Callable[..., Any], *, raises: bool) -> Callable[..., None]:
        known, unknown = (
            [self._axes.trees[axis] for axis in axes]
            for axes in (self._axes.known, self._axes.unknown)
        )
        text = loop_source(known, len(self.parameters), unknown, raises=raises)
        classes = {c.__name__: c for tree in (*known, *unknown) for c in classes_of(tree)}
        namespace: dict[str, Any] = {"inverse": inverse, **classes}
        exec(compile(text, self._filename, "exec"), namespace)
        kinds = [kind for axis in self._axes.known for kind in leaves(self._kinds[axis])]
        example = [np.zeros(0, np.bool_), *(np.zeros(0, dtype_of(kind)) for kind in kinds)]
        example += [np.zeros(0, p.domain.dtype) for p in self.parameters]
        kinds = [kind for tree in self._unknown_kinds for kind in leaves(tree)]
        example += [np.zeros(0, dtype_of(kind)) for kind in kinds]
        return jitted(
            namespace["rows"], tuple(example), f"{self!r}", self._plan.program.where, nogil=True
        )

    def _compiled(self) -> Callable[..., tuple[Any, ...]]:
        names = self._compiled_parts
        names["forward"] = (self._context or Context()).jit(self._function)
        kinds = [self._kinds[axis] for axis in self._axes.known]
        defaults = [rebuilt(tree, map(example_of, leaves(tree))) for tree in kinds]
        return jitted(
            names["inverse"],
            (*defaults, *self._theta(self.parameters.compiled(self.parameters.default()))),
            f"the inverse of {self._plan.program.name}",
            self._plan.program.where,
            self._normal if self.parameters.repeats else None,
        )

    def _normal(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """What compiled code is given where types do not fit; θ may be a tuple of tuples."""
        count = len(self._axes.known)
        return self._fitted((*given[:count], *map(self.parameters.normal, given[count:])))

    def _fitted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a call is given, as compiled code takes it."""
        count = len(self._axes.known)
        return (*given[:count], *map(self.parameters.compiled, given[count:]))

    # ---- refusals ----

    def _explained(self, error: Exception, given: tuple[Any, ...]) -> NoSolution:
        """The error for a refusal, with the statement and line where the domain was left."""
        program = self._plan.program
        reason = error.asked if isinstance(error, NoSolution) else str(error)
        statement, where = None, program.where
        notes = [("θ", as_text(given[-1]))] if given and len(self.parameters) else []
        notes += [("element", note) for note in getattr(error, "__notes__", ())]
        trace = error.__traceback__
        while trace is not None:
            path = trace.tb_frame.f_code.co_filename
            if path == self._filename:
                statement = self._source.lines.get(trace.tb_lineno)
                where = statement.where if statement is not None else where
                if "again" in trace.tb_frame.f_locals:
                    notes.append(("the function gives", as_text(trace.tb_frame.f_locals["again"])))
            elif statement is None and not is_ours(path):
                where = shown(path, trace.tb_lineno)
            trace = trace.tb_next
        for way, tried in taken_refusals():
            why = tried.asked if isinstance(tried, NoSolution) else str(tried)
            notes.append((f"tried {way}", why))
        values = zip(self._axes.known, given, strict=False)
        shown_values = ", ".join(f"{axis} = {as_text(value)}" for axis, value in values)
        at = f" at {shown_values}" if given else ""
        what = f"`{statement}`" if statement is not None else program.name
        return NoSolution(
            f"{what} has no solution{at}: {reason}",
            where=where,
            notes=notes,
            help=self._advice(),
        )

    def _advice(self) -> str:
        if self._watch.changed:
            return "the function or a table of the context has changed since: call invert again"
        if len(self.parameters):
            return "choose other parameters"
        return "no input of the function leads to this value"

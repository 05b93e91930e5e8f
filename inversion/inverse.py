"""The inverse of a function: a callable that chooses, solves, and checks its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inversion.batch import columns, common_shape, loop_source, theta_columns
from inversion.emit import Source
from inversion.errors import NoSolution, OutsideDomain, WrongArguments
from inversion.numba_ir import jitted
from inversion.parameters import ParameterSpace
from inversion.plan import Plan
from inversion.values import cast, dtype_of, example_of
from inversion.watch import Watch
from overlay import Context, NotCompilable
from overlay.location import caller, is_ours, shown
from primitives import Domain
from primitives.kernels import compiled
from primitives.relation import RETURN

__all__ = ["Inverse"]

COMPILED_AFTER = 20_000
"""After so many calls an inverse is compiled: by then they have taken as long as that takes."""

REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError)


class Inverse:
    """A parametric inverse: ``inv(*known, theta)`` is the tuple of the unknown axes.

    Every answer is checked by running the function itself: what does not give the known values
    back, within ``rtol`` and ``atol`` relative to the result, raises NoSolution. Integers are
    exact, of any size when interpreted; compiled, what needs more than 64 bits is refused, and
    a call then falls back on the interpreter. Made by ``invert`` and ``choose``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        plan: Plan,
        source: Source,
        context: Context | None,
        domains: Mapping[str, Domain],
        tolerance: tuple[float, float],
    ) -> None:
        self._function = function
        self._plan = plan
        self._source = source
        self._context = context
        self._domains = domains
        self._rtol, self._atol = tolerance
        self._filename = f"<inverse of {plan.program.name}>"
        self._calls = 0
        self._fast: Callable[..., tuple[Any, ...]] | None = None
        self._kinds = [plan.operand(axis).kind for axis in plan.known]
        self._watch = Watch(plan.program.functions, context)

    # ---- looking ----

    @property
    def parameters(self) -> ParameterSpace:
        """The free choices."""
        return self._plan.parameters

    @property
    def program(self) -> Plan:
        """The inverse as data: what is chosen, and what is solved after what."""
        return self._plan

    @property
    def source(self) -> str:
        """The generated Python."""
        return self._source.text

    def __repr__(self) -> str:
        known, unknown = ", ".join(self._plan.known), ", ".join(self._plan.unknown)
        return f"<Inverse of {self._plan.program.name}: {known} -> {unknown}>"

    def __str__(self) -> str:
        return f"inverse of {self._plan.program}\n{self._plan}"

    # ---- calling ----

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """The unknown axes, in parameter order, for known values and θ.

        θ comes last, a tuple or a record of ``parameters.dtype``; it is left out where there
        are no parameters.
        Raises NoSolution where no value exists for this θ, with the line where the domain was
        left; WrongArguments (a TypeError) for a wrong number of values or coordinates;
        OutsideDomain (a ValueError) for a coordinate outside its domain.
        """
        given = self._prepared(values)
        if self._fast is not None and not self._watch.changed:
            try:
                return self._finished(self._fast(*given))
            except (*REFUSALS, TypeError):
                pass  # the interpreter knows why, and holds integers of any size
        else:
            self._count()
        return self._interpreted(given)

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """θ for which the inverse answers these inputs, given their result.

        Raises NoSolution where no θ does within the tolerances: digits were lost.
        """
        inputs = self._plan.program.inputs
        if len(args) != len(inputs):
            raise WrongArguments(
                f"{self._plan.program.name} has {len(inputs)} inputs "
                f"({', '.join(map(str, inputs))}); {len(args)} were given",
                where=caller(),
                help="give all of the function's arguments",
            )
        given = [cast(v.name, v.kind, a) for v, a in zip(inputs, args, strict=True)]
        namespace = self._namespace
        try:
            with np.errstate(all="ignore"):
                result = namespace["forward"](*given)
                theta = self.parameters.normal(namespace["recover"](*given))
        except REFUSALS as error:
            raise self._explained(error, ()) from error
        values = {**{v.name: a for v, a in zip(inputs, given, strict=True)}, RETURN: result}
        answers = self(*(values[axis] for axis in self._plan.known), *self._theta(theta))
        for axis, answer in zip(self._plan.unknown, answers, strict=True):
            if not self._close(answer, values[axis]):
                raise NoSolution(
                    f"no θ gives {axis} = {values[axis]!r} back: lost digits "
                    f"(the nearest answer is {answer!r})",
                    where=self._plan.program.where,
                    help="larger rtol and atol accept it",
                )
        return theta

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """The inverse as one function compiled by numba, which later calls of ``self`` use too.

        It takes the same arguments, θ as a tuple of native values, and checks the same; what
        it raises does not say where. It is frozen: it knows the function, and what that
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

        Arrays of known values and θ are broadcast against one another. theta: a structured
        array of ``parameters.dtype``, or one θ for all rows; left out where there are no
        parameters. on_error: raise for the first row without a solution, or leave NaN there
        (where the answers are floats).
        Raises what a call raises, and NotCompilable.
        """
        plan = self._plan
        spare = len(self.parameters)
        if len(known) != len(plan.known) or (theta is None) == bool(spare):
            raise WrongArguments(
                f"{self!r} takes {', '.join(plan.known)} and "
                + (f"theta= ({', '.join(self.parameters.names)})" if spare else "no theta"),
                where=caller(),
                help="theta is an array of inv.parameters.dtype, or one θ",
            )
        kinds = [plan.operand(axis).kind for axis in plan.unknown]
        if on_error not in ("raise", "nan"):
            raise WrongArguments(
                f'on_error is "raise" or "nan", not {on_error!r}',
                where=caller(),
                help='use on_error="raise"',
            )
        if on_error == "nan" and (not kinds or any(kind is not float for kind in kinds)):
            raise WrongArguments(
                'on_error="nan" needs answers that are floats',
                where=caller(),
                help='use on_error="raise"',
            )
        given = columns(dict(zip(plan.known, known, strict=True)), self._kinds)
        given += theta_columns(self.parameters, theta) if spare else []
        shape = common_shape(given)
        flat = [np.array(np.broadcast_to(c, shape), order="C").ravel() for c in given]
        outs = [np.full(math.prod(shape), 0, dtype=dtype_of(kind)) for kind in kinds]
        failed = np.zeros(math.prod(shape), dtype=np.bool_)
        changed = self._watch.changed
        if changed:
            failed[:] = True  # the compiled form is that of the old function
        else:
            self._rows(failed, *flat, *outs)
        if changed or on_error == "raise":
            for row in np.flatnonzero(failed):
                self._again(int(row), flat, outs, on_error)
        else:
            for out in outs:
                out[failed] = np.nan
        return tuple(out.reshape(shape) for out in outs)

    def _again(
        self, row: int, columns: list[NDArray[Any]], outs: list[NDArray[Any]], on_error: str
    ) -> None:
        """A row that compiled code does not answer, interpreted: an answer, or the reason."""
        count = len(self._kinds)
        values = [column[row] for column in columns]
        theta = self.parameters.normal(tuple(values[count:]))
        known = (
            cast(axis, kind, value)
            for axis, kind, value in zip(self._plan.known, self._kinds, values[:count], strict=True)
        )
        try:
            answers = self._interpreted((*known, *self._theta(theta)))
        except NoSolution as error:
            if on_error == "raise":
                error.notes = (("row", str(row)), *error.notes)
                raise
            answers = (math.nan,) * len(outs)
        for out, answer in zip(outs, answers, strict=True):
            out[row] = answer

    # ---- parts of a call ----

    def _prepared(self, values: Sequence[Any]) -> tuple[Any, ...]:
        count, known = len(self._kinds), self._plan.known
        spare = 1 if len(self.parameters) else 0
        if len(values) == count and spare:
            raise self.parameters.wrong(None)
        if len(values) != count + spare:
            theta = " and θ" if spare else ""
            raise WrongArguments(
                f"{self!r} takes {', '.join(known)}{theta}; {len(values)} values were given",
                where=caller(),
                help="θ is one tuple" if spare else "it has no parameters",
            )
        given = [
            cast(axis, kind, value)
            for axis, kind, value in zip(known, self._kinds, values, strict=False)
        ]
        for axis, value in zip(known, given, strict=True):
            if axis in self._domains and not self._domains[axis].contains(value):
                raise OutsideDomain(
                    f"{axis} = {value!r} is outside {self._domains[axis]!r}", where=caller()
                )
        return (*given, *self._theta(self.parameters.normal(values[-1]) if spare else ()))

    def _theta(self, theta: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
        return (theta,) if len(self.parameters) else ()

    def _interpreted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            with np.errstate(all="ignore"):
                return self._finished(self._namespace["inverse"](*given))
        except REFUSALS as error:
            raise self._explained(error, given) from error

    def _finished(self, answers: tuple[Any, ...]) -> tuple[Any, ...]:
        kinds = (self._plan.operand(axis).kind for axis in self._plan.unknown)
        return tuple(
            kind(a) if kind in (np.int64, np.uint64) else a
            for kind, a in zip(kinds, answers, strict=True)
        )

    def _close(self, answer: Any, wanted: Any) -> bool:
        if isinstance(wanted, float):
            return abs(answer - wanted) <= self._atol + self._rtol * abs(wanted)
        return bool(answer == wanted)

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
        return namespace

    def _forward(self) -> Callable[..., Any]:
        if self._context is not None:
            return self._context.wrap(self._function)
        return getattr(self._function, "py_func", self._function)

    @cached_property
    def _rows(self) -> Callable[..., None]:
        plan = self._plan
        text = loop_source(len(plan.known), len(self.parameters), len(plan.unknown))
        namespace: dict[str, Any] = {"inverse": self.compile()}
        exec(compile(text, self._filename, "exec"), namespace)
        kinds = [*self._kinds, *(p.domain.kind for p in self.parameters)]
        kinds += [plan.operand(axis).kind for axis in plan.unknown]
        example = [np.zeros(0, np.bool_), *(np.zeros(0, dtype_of(kind)) for kind in kinds)]
        return jitted(namespace["rows"], tuple(example), f"{self!r}", plan.program.where)

    def _compiled(self) -> Callable[..., tuple[Any, ...]]:
        names = {name: compiled(value) for name, value in self._source.names.items()}
        names["forward"] = (self._context or Context()).jit(self._function)
        exec(compile(self._source.text, self._filename, "exec"), names)
        defaults = [example_of(kind) for kind in self._kinds]
        return jitted(
            names["inverse"],
            (*defaults, *self._theta(self.parameters.default())),
            f"the inverse of {self._plan.program.name}",
            self._plan.program.where,
        )

    # ---- refusals ----

    def _explained(self, error: Exception, given: tuple[Any, ...]) -> NoSolution:
        """The error for a refusal, with the statement and line where the domain was left."""
        program = self._plan.program
        reason = error.asked if isinstance(error, NoSolution) else str(error)
        statement, where = None, program.where
        notes = [("θ", str(given[-1]))] if given and len(self.parameters) else []
        trace = error.__traceback__
        while trace is not None:
            path = trace.tb_frame.f_code.co_filename
            if path == self._filename:
                statement = self._source.lines.get(trace.tb_lineno)
                where = statement.where if statement is not None else where
                if "again" in trace.tb_frame.f_locals:
                    notes.append(("the function gives", repr(trace.tb_frame.f_locals["again"])))
            elif statement is None and not is_ours(path):
                where = shown(path, trace.tb_lineno)
            trace = trace.tb_next
        values = zip(self._plan.known, given, strict=False)
        shown_values = ", ".join(f"{axis} = {value!r}" for axis, value in values)
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

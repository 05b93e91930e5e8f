"""The inverse of a function: a callable that chooses, solves, and checks its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from inversion.arrays.limits import refuse_arrays, refuse_sequences
from inversion.code import Cache, Code
from inversion.dask_arrays import has_dask, lazily
from inversion.definition import Definition
from inversion.errors import NoSolution, OutsideDomain, WrongArguments
from inversion.explaining import explained
from inversion.implicit import has_active, with_tangents
from inversion.nearest import nearest
from inversion.preimage import SolutionBranch, branches, infeasible
from inversion.progress import Progress
from inversion.readable import Readable
from inversion.refusals import taken_refusals
from inversion.rows import OnError, Rows, Wanted
from inversion.sending import Request
from inversion.values import as_text
from inversion.watch import Watch
from overlay import NotCompilable
from overlay.location import caller
from primitives.relation import RETURN

__all__ = ["Inverse"]

COMPILED_AFTER = 20_000
"""After so many calls an inverse is compiled: by then they have taken as long as that takes."""

REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError, RecursionError)
_NO_GUESS: Any = object()


class Inverse(Readable):
    """A parametric inverse: ``inv(*known, theta)`` is the tuple of the unknown axes.

    Every answer is checked by running the function itself: what does not give the known values
    back, within ``rtol`` relative to each number of the result, ``atol`` where that is 0, raises
    NoSolution. Integers are
    exact, of any size when interpreted; compiled, what needs more than 64 bits is refused, and
    a call then falls back on the interpreter. Made by ``invert`` and ``choose``; pickled, it is
    made again from the function by the process that reads it.
    """

    def __init__(self, definition: Definition, request: Request, cache: Cache = False) -> None:
        super().__init__(definition)
        self._request = request
        self._code = Code(definition, cache)
        self._calls = 0
        self._fast: Callable[..., tuple[Any, ...]] | None = None
        self._watch = Watch(definition.plan.program.functions, definition.context)
        self._rows = Rows(definition, self._code, self._interpreted, lambda: self._watch.changed)

    def __reduce__(self) -> Any:
        return self._request.reduced()

    @property
    def is_out_of_date(self) -> bool:
        """Whether the function, or a table of the context, has changed since."""
        return self._watch.changed

    # ---- calling ----

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """The unknown axes, in parameter order, for known values and θ.

        θ comes last, a tuple or a record of ``parameters.dtype``; it is left out where there
        are no parameters, and may be where ``parameters.optional``.
        Raises NoSolution where no value exists for this θ, with the line where the domain was
        left; WrongArguments (a TypeError) for a wrong number of values or coordinates;
        OutsideDomain (a ValueError) for a coordinate outside its domain.
        Differentiated, the one float that it finds from one result has the derivative of the
        equation that it solves.
        """
        try:
            given = self._prepared(values)
        except WrongArguments:
            if not has_active(values):
                raise
            return with_tangents(self, self._code.namespace["forward"], values)
        if self._fast is not None and not self._watch.changed:
            try:
                return self._finished(self._fast(*self._code.fitted(given)))
            except (*REFUSALS, TypeError):
                pass  # the interpreter knows why, and holds integers of any size
        else:
            self._count()
        return self._interpreted(given)

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """θ for which the inverse answers these inputs, given their result.

        Raises NoSolution where no θ does within the tolerances: digits were lost.
        """
        inputs = self._definition.axes.inputs
        if len(args) != len(inputs):
            raise WrongArguments(
                f"{self._definition.name} has {len(inputs)} inputs "
                f"({', '.join(inputs)}); {len(args)} were given",
                where=caller(),
                help="give all of the function's arguments",
            )
        given = list(map(self._definition.cast, inputs, args))
        namespace = self._code.namespace
        try:
            with np.errstate(all="ignore"):
                result = namespace["forward"](*given)
                theta = self.parameters.normal(namespace["recover"](*given))
        except REFUSALS as error:
            raise self._explained(error, ()) from error
        values = {**dict(zip(inputs, given, strict=True)), RETURN: result}
        known = [self.axes.value(name, values) for name in self.known]
        answers = self(*known, *self._definition.as_argument(theta))
        for axis, answer in zip(self.unknown, answers, strict=True):
            if not self._definition.are_close(axis, answer, values[axis]):
                raise NoSolution(
                    f"no θ gives {axis} = {as_text(values[axis])} back: lost digits "
                    f"(the nearest answer is {as_text(answer)})",
                    where=self._definition.where,
                    help="a larger rtol accepts it",
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
        self._check_present()
        if self._fast is None:
            self._fast = self._code.inverse
        return self._fast

    def __overlay_compiled__(self, *, on_device: bool) -> Callable[..., tuple[Any, ...]]:
        """What stands for the inverse in code that a context compiles."""
        self._check_present()
        return self._code.in_kernels if on_device else self._code.on_cpu

    def _check_present(self) -> None:
        if self._watch.changed:
            raise NotCompilable(
                f"{self!r} is out of date: the function has changed since",
                where=self._definition.where,
                help="call invert again",
            )

    def batch(
        self,
        *known: Any,
        theta: Any = None,
        out: Any = None,
        on_error: OnError = "raise",
        progress: Progress = False,
    ) -> tuple[Any, ...]:
        """The unknown axes for whole arrays of known values, compiled.

        Arrays of known values and θ are broadcast against one another; of an axis that is itself an
        array, the rows come first. theta: a structured array of ``parameters.dtype``, or one θ for
        all rows; left out where there are no parameters, or only spare ones. out: what the answers
        are written into and returned as, of any layout: an array, or a tuple of arrays where
        several axes are unknown; where a row raises, part of it may have been written. on_error:
        raise for the first row without a solution, or leave NaN there (where the answers are
        floats). progress: whether to show a bar; or a function that is called, time and again, with
        the number of rows done and of all rows.
        Where a known value or θ is a dask array, the answers are: computed when they are asked for,
        chunk by chunk.
        Raises what a call raises, and NotCompilable.
        """
        if theta is None and out is None and progress is False:
            answers = self._rows.as_they_are(known, on_error)
            if answers is not None:
                return answers
        self._code.check()
        known_axes, spare = self.known, len(self.parameters)
        if theta is None and spare and self.parameters.optional:
            theta = self.parameters.default()
        if len(known) != len(known_axes) or (theta is None) == bool(spare):
            raise WrongArguments(
                f"{self!r} takes {', '.join(known_axes)} and "
                + (f"theta= ({', '.join(self.parameters.names)})" if spare else "no theta"),
                where=caller(),
                help="theta is an array of inv.parameters.dtype, or one θ",
            )
        wanted = Wanted(out, on_error, progress)
        if has_dask(self._definition, known, theta):
            return lazily(self, self._definition, known, theta, wanted)
        return self._rows.answers(known, theta, wanted)

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
        refuse_sequences(self.origin, "measure how near solutions are")
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
        count = len(self.known)
        return log_abs_det(self, given[:count], given[count] if len(given) > count else ())

    def _guess(self, guess: Any) -> list[Any]:
        """A guess of the unknown axes, in their types."""
        unknown = self.unknown
        if len(unknown) == 1 and not (isinstance(guess, (tuple, list)) and len(guess) == 1):
            guess = (guess,)
        if not isinstance(guess, (tuple, list)) or len(guess) != len(unknown):
            raise WrongArguments(
                f"{guess!r} is no guess of {', '.join(unknown)}",
                where=caller(),
                help="give a tuple of them, as a call of the inverse answers it",
            )
        return list(map(self._definition.cast, unknown, guess))

    def is_result(self, result: Any, wanted: Any) -> bool:
        """Whether a result is the one that is wanted, within the tolerances."""
        return self._definition.are_close(RETURN, result, wanted)

    def coordinates_of(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """The θ that leads to these arguments from what they give; None where there is none."""
        try:
            with np.errstate(all="ignore"):
                return self.parameters.normal(self._code.namespace["recover"](*args))
        except REFUSALS:
            return None

    def agrees(self, answers: Sequence[Any], args: Sequence[Any]) -> bool:
        """Whether answers are the unknown ones of these arguments, within the tolerances."""
        given = dict(zip(self._definition.axes.inputs, args, strict=True))
        for axis, answer in zip(self.unknown, answers, strict=True):
            if axis in given:
                wanted = self._definition.cast(axis, given[axis])
                if not self._definition.are_close(axis, answer, wanted):
                    return False
        return True

    def _known_values(self, known: Sequence[Any]) -> tuple[Any, ...]:
        """Values given for the known axes, in their types. Raises NotInvertible for programs with
        arrays, whose solutions are not gone through."""
        refuse_arrays(self.origin, "search the solutions")
        if len(known) != len(self.known):
            raise WrongArguments(
                f"{self!r} has {len(self.known)} known axes "
                f"({', '.join(self.known)}); {len(known)} values were given",
                where=caller(),
                help="give the known values alone, without θ",
            )
        return tuple(map(self._definition.cast, self.known, known))

    # ---- parts of a call ----

    def _prepared(self, values: Sequence[Any]) -> tuple[Any, ...]:
        count, known = len(self.known), self.known
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
        given = self._definition.cast_known(values[:count])
        theta = self.parameters.normal(values[-1]) if spare else ()
        return (*given, *self._definition.as_argument(theta))

    def _interpreted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        taken_refusals()  # those of a call before
        count = len(self.known)
        theta = map(self.parameters.filled, given[count:])
        try:
            with np.errstate(all="ignore"):
                return self._finished(self._code.namespace["inverse"](*given[:count], *theta))
        except REFUSALS as error:
            raise self._explained(error, given) from error

    def _finished(self, answers: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            kinds(answer) if kinds in (np.int64, np.uint64, float) else answer
            for kinds, answer in zip(self._definition.unknown_kinds, answers, strict=True)
        )

    def _count(self) -> None:
        self._calls += 1
        if self._calls == COMPILED_AFTER and not self._watch.changed:
            try:
                self.compile()
            except NotCompilable:
                return

    def _explained(self, error: Exception, given: tuple[Any, ...]) -> NoSolution:
        return explained(self._definition, error, given, is_changed=self._watch.changed)

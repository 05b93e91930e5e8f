"""The inverse of a function: a callable that chooses, solves, and checks its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from inversion.derivatives.calls_of_inverses import call_of
from inversion.derivatives.implicit import has_active, with_tangents
from inversion.emitting.definition import Definition, as_text
from inversion.errors import NoSolution, NotInvertible, WrongArguments
from inversion.intrinsics.checks import taken_refusals
from inversion.lifting.interpreted_calls import InverseCall
from inversion.program.limits import refuse_sequences
from inversion.running.dask_arrays import has_dask, lazily
from inversion.running.generated_functions import Cache, GeneratedFunctions, Staleness
from inversion.running.progress import Progress
from inversion.running.rows import BatchOptions, OnError, RowsInverse
from inversion.running.sending import Request
from inversion.solving.asking import asked, asked_first, is_slow, working_theta
from inversion.solving.least_squares import Fit, fitted_arguments
from inversion.solving.nearest import nearest
from inversion.solving.smt import task_of
from inversion.solving.solutions import Solutions
from inversion.solving.starting import infeasible
from inversion.tools.explaining import explained
from inversion.tools.readable import REFUSALS, Checkable
from overlay import NotCompilable
from overlay.core.in_force import outside
from overlay.core.location import caller
from overlay.core.public_names import hides
from primitives.relation import RETURN

__all__ = ["Inverse", "check_bounds"]

COMPILED_AFTER = 20_000
"""The number of calls after which an inverse is compiled in the background: they take about as long
as that.
"""


@hides(
    "agrees",
    "axes",
    "coordinates_of",
    "definition",
    "is_result",
    "known_values",
    "leads_to",
    "lifted_call",
    "request",
    "result_of",
    "unknown_domains",
)
class Inverse(Checkable):
    """A parametric inverse: ``inv(*known, theta)`` is the tuple of the unknown axes.

    Every answer is checked by running the function: NoSolution is raised unless it gives the known
    values, within ``rtol`` relative to each number of the result, ``atol`` where that is 0.
    Integers are exact, of any size when interpreted; compiled code refuses what needs more than 64
    bits, and the call falls back on the interpreter. Made by ``invert`` and ``choose``; unpickling
    inverts the function again.
    """

    def __init__(self, definition: Definition, request: Request, cache: Cache = False) -> None:
        super().__init__(definition, GeneratedFunctions(definition, cache))
        self.request = request
        self._calls = 0
        self._fast: Callable[..., tuple[Any, ...]] | None = None
        self._watch = Staleness(definition.plan.program, definition.context)
        self._rows = RowsInverse(
            definition, self._code, self._at, self._solved, lambda: self._watch.changed
        )

    def __reduce__(self) -> Any:
        return self.request.reduced()

    @property
    def definition(self) -> Definition:
        """All that the inverse is made of."""
        return self._definition

    @property
    def is_out_of_date(self) -> bool:
        """Whether the function, or a table of the context, has changed since the inversion."""
        return self._watch.outdated

    # ---- calling ----

    def __call__(self, *values: Any, theta: Any = None, **named: Any) -> tuple[Any, ...]:
        """The unknown axes, in parameter order, for known values.

        It is differentiable where it finds one float from one result: the derivative is that of the
        equation that it solves, with θ held fixed.

        Parameters
        ----------
        values
            Values of the known axes, in their order; the last ones may be given by keyword, under
            their axis' name. One value more is θ.
        theta, named
            Choices among several solutions, all, some or none. θ is a tuple or a record of
            ``parameters.dtype``, a dict of some coordinates, or the single value of a single
            coordinate; or coordinates are given by name, as ``inv(4.0, negative_x=True)``. Missing
            ones are searched for: first the default θ, then in the order given in
            ``inversion.solving.asking``, so the solution is always the same one.

        Raises
        ------
        NoSolution
            ``error.proved`` says whether it is proved that there is none, ``error.searched`` what
            was searched otherwise; where θ was given, the note says whether another one has an
            answer.
        WrongArguments
            A TypeError: the number of values or coordinates is wrong, or a name does not exist.
        OutsideDomain
            A ValueError: a value is outside its domain.

        Examples
        --------
        >>> from inversion import invert
        >>> square = invert(lambda x: x * x, float)
        >>> square(4.0), square(4.0, negative_x=True)
        ((2.0,), (-2.0,))
        """
        known, chosen = self._definition.asked(values, theta, named)
        if has_active(known):
            return with_tangents(self, self._code.namespace["forward"], known, theta=chosen)
        given = tuple(self._definition.cast_known(known))
        return self._solved(given, chosen)

    def _solved(self, known: tuple[Any, ...], chosen: Mapping[str, Any]) -> tuple[Any, ...]:
        """The answer for known values of the right types, and some coordinates."""
        if self._fast is None:
            self._count()
        space = self.parameters
        if not len(space):
            theta: tuple[Any, ...] = ()
        elif not chosen:
            theta = self._default
        else:
            theta = tuple(chosen.get(p.name, p.domain.default) for p in space)

        def solve(theta: tuple[Any, ...]) -> tuple[Any, ...]:
            return self._at(known, theta)

        if self._is_slow and len(chosen) < len(space):
            found = asked_first(self, known, chosen, solve)
            if found is not None:
                return found
        try:
            return solve(theta)
        except NoSolution as error:
            if self._watch.changed:
                raise
            refused = error
        if len(space) and len(chosen) == len(space):
            refused.later = lambda: working_theta(self, known, solve)
            raise refused
        return asked(self, known, chosen, solve, refused)

    @cached_property
    def _is_slow(self) -> bool:
        return is_slow(self)

    @cached_property
    def _default(self) -> tuple[Any, ...]:
        return self.parameters.default()

    def _at(self, known: tuple[Any, ...], theta: tuple[Any, ...]) -> tuple[Any, ...]:
        """The answer for known values and a complete θ, of the right types. Raises NoSolution."""
        given = (*known, *self._definition.as_argument(theta))
        if self._fast is not None and not self._watch.changed:
            try:
                return self._finished(self._fast(*self._code.fitted(given)))
            except (*REFUSALS, TypeError):
                pass  # the interpreter finds the reason, and holds integers of any size
        return self._interpreted(given)

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """The parameters θ for which the inverse answers these inputs, given their result.

        Parameters
        ----------
        args
            All arguments of the function.

        Raises
        ------
        NoSolution
            No θ leads there within the tolerances, because digits were lost.

        Examples
        --------
        >>> from inversion import invert
        >>> invert(lambda x: x * x, float).recover(-2.0)
        (True,)
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

        It is compiled at once, or waited for where that has begun in the background.

        It takes the same arguments, θ as a tuple of native values (fastest from
        ``parameters.compiled``, with arrays for repeated ones), and makes the same checks; its
        errors name no line. It is frozen: it holds the function, and the functions that it calls,
        as they are now. ``self`` does not use it once they have changed.

        Raises
        ------
        NotCompilable
            numba cannot compile it, or the function has changed since it was inverted.
        """
        self._check_present()
        if self._fast is None:
            self._fast = self._code.inverse.now()
        return self._fast

    def compile_batch(self) -> None:
        """Compile the loops over rows that ``batch`` runs, at once, or wait for them where they
        are being compiled in the background. Raises NotCompilable.
        """
        self._check_present()
        self._code.check()
        self._rows.compile()

    def __overlay_compiled__(self, *, on_device: bool) -> Callable[..., tuple[Any, ...]]:
        """The function that replaces the inverse in code that a context compiles."""
        self._check_present()
        return self._code.in_kernels if on_device else self._code.on_cpu

    def lifted_call(self, theta: Any) -> InverseCall:
        """The call with this θ, in a function that is inverted."""
        self._check_present(NotInvertible)
        return call_of(self, theta)

    def _check_present(
        self, refusal: type[NotCompilable | NoSolution | NotInvertible] = NotCompilable
    ) -> None:
        """Refuse if the function has changed since, where no call of it checks the answer."""
        if self._watch.changed:
            raise refusal(
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
        **named: Any,
    ) -> tuple[Any, ...]:
        """The unknown axes for whole arrays of known values.

        Rows are interpreted at first, by numpy where all take the same way; what takes long is
        compiled in the background, for later batches. Where a known value or θ is a dask array, so
        are the answers, computed on demand. Raises NotCompilable for programs of strings, lists or
        dataclasses, and otherwise as a call does.

        Parameters
        ----------
        known
            Arrays, broadcast against one another and θ; for an axis that is an array, rows come
            first.
        theta, named
            A structured array of ``parameters.dtype``, one θ for all rows, or a dict of
            coordinates, each an array or a value; or such coordinates by name. Missing ones have
            their defaults; rows without an answer are then searched as in a call, one by one, which
            is slow.
        out
            The array for the answers, of any layout; a tuple of arrays for several axes. It may be
            written in part where a row raises.
        on_error
            Raise for the first row without a solution, or store NaN, where the answers are floats.
        progress
            Whether to show a bar; or a function called with the numbers of rows done and of all
            rows.
        """
        if theta is None and out is None and progress is False and not named:
            answers = self._rows.as_they_are(known, on_error)
            if answers is not None:
                return answers
        self._code.check()
        space = self.parameters
        if len(known) != len(self.known) or (theta is not None and not len(space)):
            raise WrongArguments(
                f"{self!r} takes {', '.join(self.known)} and "
                + (f"theta= ({', '.join(space.names)})" if len(space) else "no theta"),
                where=caller(),
                help="theta is an array of inv.parameters.dtype, one θ, or a dict of coordinates",
            )
        if named:
            if theta is not None and not isinstance(theta, Mapping):
                raise WrongArguments(
                    f"{', '.join(named)} and a whole θ are given",
                    where=caller(),
                    help="give coordinates by name, or theta=",
                )
            theta = {**(theta or {}), **named}
        wanted = BatchOptions(out, on_error, progress)
        if has_dask(self._definition, known, theta):
            return lazily(self, self._definition, known, theta, wanted)
        return self._rows.answers(known, theta, wanted)

    # ---- sets of solutions ----

    def solutions(
        self,
        *known: Any,
        limit: int | None = None,
        timeout: float | None = None,
        progress: Progress = False,
    ) -> Solutions:
        """All solutions for known values, branch by branch, found lazily.

        Every discrete choice is enumerated: signs, arms, divisors, roots; unbounded ones, such as
        periods, outwards from their defaults. Single solutions are checked, and given once.
        Continuous parameters stay open: see ``SolutionBranch``. Where there is no solution there is
        no branch, and ``reason`` has the proof: see ``Solutions`` for how a search ends.

        Parameters
        ----------
        known
            Values of the known axes, in their order.
        limit
            The largest number of branches.
        timeout
            The time limit of the search, in seconds.
        progress
            Whether to show a bar; or a function that is called repeatedly, with the number of
            branches found, and of steps taken.

        Raises
        ------
        WrongArguments
            The known values do not fit.
        NotInvertible
            The program has arrays.

        Examples
        --------
        >>> from inversion import invert
        >>> [branch.point for branch in invert(lambda x: x * x, float).solutions(4.0)]
        [(2.0,), (-2.0,)]
        """
        check_bounds(limit, timeout)
        return Solutions(self, self.known_values(known), limit, timeout, progress)

    def nearest(self, *known_and_guess: Any, timeout: float | None = None) -> tuple[Any, ...]:
        """The solution that is closest to a guess: ``inv.nearest(value, guess)``.

        The distance is Euclidean in ``(x - g) / max(1, |g|)``. Discrete choices are searched
        exactly within the distance of the closest solution so far; along continuous ones a local
        minimum of the distance is found.

        Parameters
        ----------
        known_and_guess
            Values of the known axes, and last the guess: a tuple of the unknown axes, as a call
            answers it, or the value alone where there is one.
        timeout
            The time limit of the search, in seconds.

        Raises
        ------
        NoSolution
            No solution was found, the function has changed since it was inverted, or the time limit
            was reached: then the error's ``best`` is the closest that was found.
        NotInvertible
            The program has arrays, or z3 solves it.

        Examples
        --------
        >>> from inversion import invert
        >>> invert(lambda x: x * x, float).nearest(4.0, -3.0)
        (-2.0,)
        """
        check_bounds(None, timeout)
        refuse_sequences(self.origin, "measure how near solutions are")
        if task_of(self.origin) is not None:
            raise NotInvertible(
                f"cannot measure how near solutions of {self.origin.name} are: z3 gives any",
                where=self.origin.where,
                help="inv.solutions(value) goes through them; coordinates such as near_x are tried "
                "first",
            )
        self._check_present(NoSolution)
        *known, guess = known_and_guess or (None,)
        given = self.known_values(known)
        proof = infeasible(self, given)
        if proof is not None:
            raise proof
        return nearest(self, given, self._guess(guess), timeout)

    def fit(self, *known: Any, noise: Any = None, weights: Any = None, start: Any = None) -> Fit:
        """The unknown axes for which the function comes closest to known values: least squares.

        It is for values that nothing gives exactly, as measurements, or more results than there are
        unknowns. Bounds are the declared domains.

        Parameters
        ----------
        known
            Values of the known axes, in their order.
        noise
            The standard deviation of the result's numbers: one for all, or a tuple or array of as
            many as are known.
        weights
            What the squares of the differences are multiplied with, in the same form.
        start
            A tuple of the unknown axes, as a call answers it, or the value alone where there is
            one; otherwise several starts are tried.

        Raises
        ------
        NoSolution
            The function gives no numbers at any start, or has changed since it was inverted.
        NotInvertible
            The unknown axes, or the results, are not all numbers that are continuous.

        Examples
        --------
        >>> from inversion import invert
        >>> line = invert(lambda a, b: (b, a + b, 2 * a + b), float, float)
        >>> found = line.fit((1.0, 3.1, 4.9))
        >>> round(found["a"], 6), round(found["b"], 6), found.converged
        (1.95, 1.05, True)
        """
        self._check_present(NoSolution)
        given = self._definition.cast_alone(known)
        guess = None if start is None else self._guess(start)
        return fitted_arguments(self, given, noise, weights, guess)

    def log_abs_det(self, *values: Any, theta: Any = None, **named: Any) -> float:
        """The logarithm of the absolute determinant of this inverse's Jacobian.

        The Jacobian is that of the unknown inputs by the result, with known inputs held fixed, at
        known values and θ, given as to a call. Without θ, it is taken at the answer of the call.
        The derivatives are exact up to rounding, along the arms and iterations that are run.

        Raises
        ------
        NotInvertible
            There are not as many unknown inputs as results, or not all of them are floats, or a
            function has no known derivative.
        NoSolution
            The Jacobian is singular at this value, or has a kink, or the function has changed since
            it was inverted.

        Examples
        --------
        >>> from inversion import invert
        >>> round(invert(lambda x: 2 * x, float).log_abs_det(6.0), 6)
        -0.693147
        """
        from inversion.derivatives.jacobian import log_abs_det

        self._check_present(NoSolution)
        known, chosen = self._definition.asked(values, theta, named)
        given = tuple(self._definition.cast_known(known))
        return log_abs_det(self, given, lambda: self._solved(given, chosen))

    def _guess(self, guess: Any) -> list[Any]:
        """A guess of the unknown axes, converted to their types."""
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

    # ---- steps of a call ----

    def _interpreted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        taken_refusals()  # of an earlier call
        count = len(self.known)
        theta = map(self.parameters.filled, given[count:])
        try:
            with np.errstate(all="ignore"):
                solve = self._code.namespace["inverse"]
                return self._finished(outside(solve, *given[:count], *theta))
        except REFUSALS as error:
            raise self._explained(error, given) from error

    def _finished(self, answers: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            kinds(answer) if kinds in (np.int64, np.uint64, float) else answer
            for kinds, answer in zip(self._definition.unknown_kinds, answers, strict=True)
        )

    def _count(self) -> None:
        self._calls += 1
        if self._calls >= COMPILED_AFTER:
            compiled = self._code.inverse
            compiled.begin(lambda: not self._watch.changed)
            if compiled.is_made:
                self._fast = compiled.now()

    def _explained(self, error: Exception, given: tuple[Any, ...]) -> NoSolution:
        return explained(self._definition, error, given, is_changed=self._watch.outdated)


def check_bounds(limit: Any, timeout: Any) -> None:
    """Raise WrongArguments unless these are valid limits of a search."""
    if limit is not None and (not isinstance(limit, int) or limit < 0):
        raise WrongArguments(
            f"limit = {limit!r} is no number of branches", where=caller(), help="give limit=10"
        )
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout >= 0):
        raise WrongArguments(
            f"timeout = {timeout!r} is no number of seconds", where=caller(), help="give timeout=10"
        )

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
from overlay.core.short_repr import counted
from primitives.relation import RETURN

__all__ = ["Inverse", "check_bounds"]

COMPILED_AFTER = 20_000
"""The number of calls after which an inverse is compiled in the background: these calls take about
as long as the compilation.
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

    ``invert`` and ``choose`` make it. Every answer is checked: the function runs on it, and if it
    does not return the known values, the call raises NoSolution. The tolerance is ``rtol`` relative
    to each number of the result, and ``atol`` for a number that is 0. Integers are exact and of any
    size; compiled code is limited to 64 bits, and the interpreter answers a call that needs more. A
    pickled inverse holds the request: unpickling inverts the function again.

    Examples
    --------
    >>> from inversion import invert
    >>> inv = invert(lambda x, y: x - y, float, float)
    >>> inv.known, inv.unknown, inv.parameters.names
    (('return',), ('x', 'y'), ('v_x_y',))
    >>> inv(1.0, v_x_y=2.0), inv.recover(3.0, 2.0)
    ((3.0, 2.0), (2.0,))
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
        """The function, plan, generated source and settings that define the inverse."""
        return self._definition

    @property
    def is_out_of_date(self) -> bool:
        """Whether the function, or a table of the context, has changed since the inversion."""
        return self._watch.outdated

    # ---- calling ----

    def __call__(self, *values: Any, theta: Any = None, **named: Any) -> tuple[Any, ...]:
        """Solve for the unknown axes, given values of the known ones.

        The call is differentiable if it computes one float from one result, by the implicit
        function theorem: the derivative is that of the solved equation, with θ held fixed.

        Parameters
        ----------
        *values : object
            Values of the known axes, in order; the last ones may be given by keyword, under the
            name of the axis. One further value is θ.
        theta : tuple, record, dict or object, optional
            Choices among several solutions: a tuple, or a record of ``parameters.dtype``, of all
            coordinates; a dict of some coordinates; or the value of the only coordinate.
        **named : object
            Coordinates of θ by name, as in ``inv(4.0, negative_x=True)``. The call searches for
            coordinates that are not given: it tries the default θ first, then the order given in
            ``inversion.solving.asking``. The answer is therefore always the same.

        Returns
        -------
        tuple
            The values of the unknown axes: arguments in the order of the function's parameters, an
            unknown ``"return"`` last.

        Raises
        ------
        NoSolution
            There is no solution, or the search found none: ``error.proved`` says whether that is
            proved, and ``error.searched`` what was searched. If θ was given, a note says whether
            another θ has an answer.
        WrongArguments
            The number of values or coordinates is wrong, or a name does not exist. It is a
            TypeError.
        OutsideDomain
            A value is outside its domain. It is a ValueError.

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
        """The answer for known values of the right types, and for some of the coordinates."""
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
                pass  # the interpreter finds the reason; its integers may have any size
        return self._interpreted(given)

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """Compute the θ for which the inverse returns these arguments, given their result.

        Parameters
        ----------
        *args : object
            All arguments of the function, in order.

        Returns
        -------
        tuple
            θ: a value for each coordinate in ``parameters``.

        Raises
        ------
        NoSolution
            Because of lost digits, no θ gives the arguments back within the tolerances; or the
            function raises an error for them.
        WrongArguments
            The number of arguments is wrong.

        Examples
        --------
        >>> from inversion import invert
        >>> invert(lambda x: x * x, float).recover(-2.0)
        (True,)
        """
        inputs = self._definition.axes.inputs
        if len(args) != len(inputs):
            raise WrongArguments(
                f"{self._definition.name} has {counted(len(inputs), 'input')} "
                f"({', '.join(inputs)}); "
                f"{len(args)} {'was' if len(args) == 1 else 'were'} given",
                where=caller(),
                help="give all arguments of the function, in order",
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
                    help="give invert a larger rtol, which accepts it",
                )
        return theta

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """Compile the inverse with numba, now; later calls of the inverse use the compiled code.

        If compilation has begun in the background, the call waits for its end. The compiled
        function is frozen: it contains the function, and the functions that it calls, as they are
        now. The inverse does not use it after one of them has changed.

        Returns
        -------
        callable
            A function of the known values and θ. θ is a tuple of native values, as
            ``parameters.compiled`` gives it, with an array for each choice that a loop repeats. The
            function makes the same checks as a call; its errors have no line.

        Raises
        ------
        NotCompilable
            numba cannot compile the inverse, or the function has changed since it was inverted.

        Examples
        --------
        >>> from inversion import invert
        >>> compiled = invert(lambda x: x * x, float).compile()
        >>> compiled(4.0, (True,))
        (-2.0,)
        """
        self._check_present()
        if self._fast is None:
            self._fast = self._code.inverse.now()
        return self._fast

    def compile_batch(self) -> None:
        """Compile the loops over rows that ``batch`` runs, now.

        If compilation has begun in the background, the call waits for its end.

        Raises
        ------
        NotCompilable
            numba cannot compile the inverse, or the function has changed since it was inverted.
        """
        self._check_present()
        self._code.check()
        self._rows.compile()

    def __overlay_compiled__(self, *, on_device: bool) -> Callable[..., tuple[Any, ...]]:
        """The compiled function that stands for the inverse in code that a context compiles."""
        self._check_present()
        return self._code.in_kernels if on_device else self._code.on_cpu

    def lifted_call(self, theta: Any) -> InverseCall:
        """The call of this inverse, with this θ, inside a function that is inverted itself."""
        self._check_present(NotInvertible)
        return call_of(self, theta)

    def _check_present(
        self, refusal: type[NotCompilable | NoSolution | NotInvertible] = NotCompilable
    ) -> None:
        """Raise an error if the function has changed, before answers that no call of it checks."""
        if self._watch.changed:
            raise refusal(
                f"{self!r} is out of date: the function has changed since it was inverted",
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
        """Solve for the unknown axes row by row, for whole arrays of known values.

        The first batches run in the interpreter, as numpy operations on columns if all rows take
        the same branches. An inverse that takes long is compiled in the background, for later
        batches. If a known value or θ is a dask array, the answers are dask arrays, computed on
        demand.

        Parameters
        ----------
        *known : array_like
            Arrays of values of the known axes, in order. They are broadcast against one another and
            θ. If an axis itself is an array, rows are the first dimension.
        theta : structured array, tuple, record or dict, optional
            A structured array of ``parameters.dtype``, one θ for all rows, or a dict of
            coordinates, each an array or a value. Coordinates that are not given have their
            defaults. For a row without an answer they are then searched for, as in a call; this is
            slow.
        out : ndarray or tuple of ndarray, optional
            The array for the answers, of any layout; a tuple of arrays for several axes. If a row
            raises, a part of it may have been written.
        on_error : {"raise", "nan"}
            Raise the error of the first row without a solution, or store NaN in its place; NaN is
            possible only if the answers are floats.
        progress : bool or callable
            Whether to show a progress bar; or a function that is called with the number of finished
            rows and the number of all rows.
        **named : array_like
            Coordinates of θ by name, each an array or a value.

        Returns
        -------
        tuple of ndarray
            An array for each unknown axis.

        Raises
        ------
        NoSolution
            A row has no solution, and ``on_error`` is ``"raise"``.
        NotCompilable
            The program has strings, lists or dataclasses.
        WrongArguments, OutsideDomain
            As in a call.

        Examples
        --------
        >>> import numpy as np
        >>> from inversion import invert
        >>> invert(lambda x: x * x, float).batch(np.array([1.0, 4.0, 9.0]))
        (array([1., 2., 3.]),)
        """
        if theta is None and out is None and progress is False and not named:
            answers = self._rows.as_they_are(known, on_error)
            if answers is not None:
                return answers
        self._code.check()
        space = self.parameters
        if len(known) != len(self.known) or (theta is not None and not len(space)):
            raise WrongArguments(
                f"batch of {self!r} takes an array for each known axis ({', '.join(self.known)})"
                + (f", and θ ({', '.join(space.names)}) as theta=" if len(space) else ", and no θ")
                + f"; {len(known)} {'array was' if len(known) == 1 else 'arrays were'} given",
                where=caller(),
                help="theta= is an array of inv.parameters.dtype, one θ, or a dict of coordinates",
            )
        if named:
            if theta is not None and not isinstance(theta, Mapping):
                raise WrongArguments(
                    f"θ is given twice: as theta=, and by name ({', '.join(named)})",
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
        """Enumerate all solutions for known values, lazily, branch by branch.

        The search enumerates every discrete choice: signs, branches of the program, divisors,
        roots. Unbounded choices, such as periods, are enumerated outwards from their defaults. Each
        single solution is checked, and occurs once. Continuous parameters stay open: see
        ``SolutionBranch``. If there is no solution, there is no branch and ``reason`` has the
        proof; ``Solutions`` says how a search may end.

        Parameters
        ----------
        *known : object
            Values of the known axes, in order.
        limit : int, optional
            The largest number of branches.
        timeout : float, optional
            The time limit of the search, in seconds.
        progress : bool or callable
            Whether to show a progress bar; or a function that is called repeatedly with the number
            of branches found and the number of steps taken.

        Returns
        -------
        Solutions
            A lazy sequence of branches.

        Raises
        ------
        WrongArguments
            The number or the type of the known values is wrong.
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
        """Find the solution that is closest to a guess: ``inv.nearest(value, guess)``.

        The distance is the Euclidean norm of ``(x - g) / max(1, |g|)``. Discrete choices are
        searched exhaustively within the distance of the closest solution so far (branch and bound).
        Along continuous parameters the result is a local minimum of the distance, found by the
        method of Levenberg and Marquardt.

        Parameters
        ----------
        *known_and_guess : object
            Values of the known axes, then the guess: a tuple of values of the unknown axes, in the
            order in which a call returns them, or the value of the only unknown axis.
        timeout : float, optional
            The time limit of the search, in seconds.

        Returns
        -------
        tuple
            The values of the unknown axes.

        Raises
        ------
        NoSolution
            The search found no solution, or the function has changed since it was inverted. If the
            time limit was reached, ``error.best`` is the closest solution found.
        NotInvertible
            The program has arrays, strings or lists, or z3 solves it.

        References
        ----------
        K. Levenberg, Quart. Appl. Math. 2, 1944; D. W. Marquardt, J. SIAM 11, 1963.

        Examples
        --------
        >>> from inversion import invert
        >>> invert(lambda x: x * x, float).nearest(4.0, -3.0)
        (-2.0,)
        """
        check_bounds(None, timeout)
        refuse_sequences(self.origin, "find the nearest solution")
        if task_of(self.origin) is not None:
            raise NotInvertible(
                f"cannot find the nearest solution of {self.origin.name}: z3 returns solutions in "
                "any order",
                where=self.origin.where,
                help="inv.solutions(value) enumerates them; coordinates such as near_x are tried "
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
        """Fit the unknown axes to known values by least squares.

        Use it for values that no arguments give exactly, such as measurements, and for more results
        than unknowns. Declared domains are bounds.

        Parameters
        ----------
        *known : object
            Values of the known axes, in order.
        noise : float, tuple or ndarray, optional
            The standard deviation of the numbers of the result: one for all of them, or one for
            each.
        weights : float, tuple or ndarray, optional
            The weights of the squared differences, in the same form.
        start : tuple or object, optional
            The start of the search: values of the unknown axes, in the order in which a call
            returns them, or the value of the only unknown axis. By default the search runs from
            several starts.

        Returns
        -------
        Fit
            The fitted values, residuals and covariance.

        Raises
        ------
        NoSolution
            The function returns no finite numbers at any start, or has changed since it was
            inverted.
        NotInvertible
            An unknown axis is not a float, or a result is not a number.

        References
        ----------
        M. A. Branch, T. F. Coleman, Y. Li, SIAM J. Sci. Comput. 21, 1999, as implemented by
        ``scipy.optimize.least_squares``.

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
        """Compute the logarithm of the absolute determinant of the Jacobian of this inverse.

        The Jacobian has the derivatives of the unknown inputs with respect to the result; known
        inputs are held fixed. Derivatives are exact up to rounding (automatic differentiation),
        along the branches and iterations that the function executes.

        Parameters
        ----------
        *values : object
            Values of the known axes, and θ, as in a call.
        theta, **named
            Coordinates of θ, as in a call. The Jacobian is that at the answer of the call.

        Returns
        -------
        float
            The natural logarithm of the absolute determinant.

        Raises
        ------
        NotInvertible
            The numbers of unknown inputs and of results differ, or one of them is not a float, or a
            function has no known derivative.
        NoSolution
            The Jacobian is singular at this point, or the function has a kink there, or the
            function has changed since it was inverted.

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
        """A guess for the unknown axes, converted to their types."""
        unknown = self.unknown
        if len(unknown) == 1 and not (isinstance(guess, (tuple, list)) and len(guess) == 1):
            guess = (guess,)
        if not isinstance(guess, (tuple, list)) or len(guess) != len(unknown):
            raise WrongArguments(
                f"the guess {guess!r} does not have one value for each of {', '.join(unknown)}",
                where=caller(),
                help="give a tuple of their values, in this order",
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
            f"limit is a number of branches, not {limit!r}", where=caller(), help="give limit=10"
        )
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout >= 0):
        raise WrongArguments(
            f"timeout is a number of seconds, not {timeout!r}",
            where=caller(),
            help="give timeout=10",
        )

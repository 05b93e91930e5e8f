"""Interprocedural abstract interpreter: runs functions and their callees over a domain."""

from __future__ import annotations

import types
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from overlay.analysis.abstract_state import AbstractState
from overlay.analysis.execution import Execution
from overlay.analysis.fixed_point import FixedPoint
from overlay.analysis.lattice import Domain
from overlay.analysis.resolution import Setting, setting_of
from overlay.analysis.runs import Run
from overlay.code.body import Body, Make
from overlay.code.constants import Captured
from overlay.code.read_bodies import body_of
from overlay.contexts.current import nonoverlay
from overlay.core.dispatch import MethodChain, by_values
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import is_ours, location_of, name_of
from overlay.core.markup import code, listed, sheet
from overlay.core.public_names import hides
from overlay.core.short_repr import counted, short_repr
from overlay.generics.plum_methods import is_function

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["Interpreter", "misfit"]

# the depth to which calls are followed, limited by the interpreter's own stack, and the most
# analyses of functions in one run
_DEEPEST = 40
_MOST = 5000

T = TypeVar("T")
Key = tuple[Any, tuple[Any, ...], Setting]


@hides(
    "analyse",
    "body",
    "enter",
    "function_made",
    "run_body",
    "setting",
    "transfer",
    "without_overlays",
)
class Interpreter:
    """Abstract interpreter: runs functions over the values of a domain, as in a context.

    A call of a Python or @njit function is analysed with its abstract arguments, once for each
    combination; recursive calls are iterated to a fixed point. Globals and closure variables are
    assumed to keep their present values.

    Parameters
    ----------
    domain
        The lattice and its transfer functions.
    context
        The context whose method tables are in force; None for no tables.
    limit
        The most analyses of functions in one run; the results of further calls are ``top``.

    Examples
    --------
    >>> from overlay.analysis import Interpreter, Intervals, integers
    >>> Interpreter(Intervals()).run(lambda x: x + 1, integers(0, 9)).result
    int [1, 10]
    """

    def __init__(
        self, domain: Domain, context: Context | None = None, *, limit: int = _MOST
    ) -> None:
        self.domain = domain
        self.setting = setting_of(context)
        self.limit = limit
        self._bodies: dict[int, tuple[Any, Body | None]] = {}
        self._runs: dict[Key, Run] = {}
        self._open: list[tuple[Key, Run]] = []
        self._begun = 0
        self._bare: dict[int, Any] = {}
        self._made: dict[Any, tuple[Make, list[Any], Any]] = {}
        self._transfers: dict[int, MethodChain] = {}  # by the identity of the target

    def __repr__(self) -> str:
        return short_repr("Interpreter", f"over {self.domain!r}: {counted(len(self._runs), 'run')}")

    def _repr_html_(self) -> str:
        runs = listed(
            ("function", "steps", "result"),
            [*self._runs.values()],
            lambda run: (code(name_of(run.function)), len(run.steps), code(repr(run.result))),
        )
        return sheet("interpreter over", repr(self.domain), counted(len(self._runs), "run"), runs)

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Run:
        """Analyse a call of a function's own code.

        Parameters
        ----------
        function : callable
            A Python or @njit function.
        *args, **kwargs
            Abstract values; parameters without one have their defaults.

        Returns
        -------
        Run
            The result, and the calls.

        Raises
        ------
        NotCompilable
            The function's code cannot be read.
        OverlayError
            The arguments do not fit the parameters.

        Examples
        --------
        >>> from overlay.analysis import Interpreter, Intervals, integers
        >>> Interpreter(Intervals()).run(lambda x, y: x - y, integers(0, 9), integers(0, 1)).result
        int [-1, 9]
        """
        body = self.body(function)
        if body is None:
            body_of(function)
            raise NotCompilable(
                f"cannot analyse {name_of(function)}, which is compiled",
                where=location_of(function),
                help="analyse its Python function, f.py_func, in its context",
            )
        run = Run(function, self.domain.bottom)
        given = Execution(self, body, run, self.setting).bound(body, args, kwargs)
        if given is None:
            count = len(args) + len(kwargs)
            raise misfit(body, count, "abstract value", "give one for each of them")
        return self.run_body(body, given, self.setting)

    def run_body(self, body: Body, args: Sequence[Any], setting: Setting) -> Run:
        """Analyse a function by its body.

        Parameters
        ----------
        body : Body
            The code of the function.
        args : sequence
            An abstract value for each parameter.
        setting : Setting
            The tables in force.

        Returns
        -------
        Run
            The result, and the calls.
        """
        run = self._repeated(lambda: self.analyse(body, tuple(args), setting))
        assert run is not None
        return run

    def _repeated(self, analyse: Callable[[], T]) -> T:
        """The result of an analysis, repeated until the facts of the domain grow no more."""
        self._begun = 0
        self.domain.grown()
        found = analyse()
        while self.domain.grown():
            self._runs.clear()
            self._begun = 0
            found = analyse()
        return found

    def enter(
        self, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Any, tuple[Run, ...]]:
        """Analyse a call with dispatch, which may enter methods of the context's tables.

        Parameters
        ----------
        function : callable
            A Python, @njit or generic function, or a class.
        *args, **kwargs
            Abstract values; parameters without one have their defaults.

        Returns
        -------
        (object, tuple of Run)
            The abstract result, and the runs of the functions that the call enters.

        Raises
        ------
        NotCompilable
            The code that the call runs is not known, or cannot be read.
        OverlayError
            The arguments do not fit the parameters.

        Examples
        --------
        >>> from overlay import Context, MethodTable
        >>> from overlay.analysis import Interpreter, Intervals, integers
        >>> def size(x):
        ...     return x
        >>> table = MethodTable("table")
        >>> @table.overlay(size)
        ... def doubled(x):
        ...     return 2 * x
        >>> Interpreter(Intervals(), Context(table)).enter(size, integers(0, 9))[0]
        int [0, 18]
        """
        chain = MethodChain.of(function, self.setting.tables)
        is_plain = not is_function(function) and not isinstance(function, type)
        if is_plain and not chain.methods():
            run = self.run(function, *args, **kwargs)
            return run.result, (run,)
        outside = Execution(self, None, Run(function, self.domain.bottom), self.setting)
        outcome = self._repeated(lambda: outside.outcome(function, args, kwargs))
        if outcome.errors:
            raise outcome.errors[0]
        if not outcome.followed and not (isinstance(function, type) and outcome.inner):
            raise NotCompilable(
                f"cannot tell which code {name_of(function)} runs for these arguments",
                where=location_of(function),
                help="give arguments whose types are known, or analyse one of its methods",
            )
        return outcome.result, tuple(outcome.inner)

    @property
    def unread(self) -> tuple[Callable[..., Any], ...]:
        """The Python functions called whose code cannot be read; their results are ``top``."""
        return tuple(function for function, body in self._bodies.values() if body is None)

    # ---- functions ----

    def body(self, function: Any) -> Body | None:
        """The body of a function.

        Parameters
        ----------
        function : callable
            A Python or @njit function.

        Returns
        -------
        Body or None
            The body; None if the function has no code that can be analysed.
        """
        plain = getattr(function, "py_func", function) if _is_dispatcher(function) else function
        if type(plain) is not types.FunctionType:
            return None
        known = self._bodies.get(id(plain))
        if known is None or known[0] is not plain:
            known = self._bodies[id(plain)] = plain, self._read(plain)
        return known[1]

    def _read(self, function: types.FunctionType) -> Body | None:
        if is_ours(function.__code__.co_filename):
            return None
        try:
            return body_of(function)
        except NotCompilable:
            return None

    def function_made(self, statement: Make, held: list[Any], namespace: dict[str, Any]) -> Any:
        """The function that a statement defines; for analysis only, never run.

        Parameters
        ----------
        statement : Make
            The statement.
        held : list
            The values of the free variables and defaults.
        namespace : dict
            The globals.

        Returns
        -------
        function
            One object for equal values.
        """
        parts = [h.value if type(h) is Captured else id(h) for h in held]
        key = id(statement), tuple(parts)
        if key not in self._made:
            self._made[key] = statement, held, self._make(statement, held, namespace)
        return self._made[key][2]

    def _make(self, statement: Make, held: list[Any], namespace: dict[str, Any]) -> Any:
        code, count = statement.code, len(statement.captured)
        cells = tuple(types.CellType(value) for value in held[:count])
        made = types.FunctionType(code, namespace, None, tuple(held[count:]), cells)
        if statement.named is not None:
            names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
            made.__kwdefaults__ = {name: Captured(self.domain.top) for name in names}
        return made

    def without_overlays(self, function: Any) -> Any:
        """``nonoverlay(function)``, cached so that it is one object."""
        known = self._bare.get(id(function))
        if known is None:
            known = self._bare[id(function)] = nonoverlay(function)
        return known

    def transfer(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Callable[..., Any] | None:
        """The domain's transfer function for a call.

        Parameters
        ----------
        function : callable
            The callee.
        args : sequence
            The abstract positional arguments.
        kwargs : mapping
            The abstract keyword arguments.

        Returns
        -------
        callable or None
            The transfer function; None if there is none.
        """
        chain = self._transfers.get(id(function))
        if chain is None:
            chain = MethodChain.of(function, self.domain.tables)
            self._transfers[id(function)] = chain
        method = chain.resolve(by_values(args, dict(kwargs)))
        return None if method is None else method.function

    # ---- runs ----

    def analyse(self, body: Body, args: tuple[Any, ...], setting: Setting) -> Run | None:
        """Analyse a body with these arguments, or return the cached run.

        Parameters
        ----------
        body : Body
            The code of the function.
        args : tuple
            An abstract value for each parameter.
        setting : Setting
            The tables in force.

        Returns
        -------
        Run or None
            The run; None if the limit of depth or of analyses is reached.
        """
        args = self._settled(body, args)
        key: Key = (_key(body), args, setting)
        known = self._runs.get(key)
        if known is not None:
            known.recursive = known.recursive or not known.finished
            return known
        if len(self._open) >= _DEEPEST or self._begun >= self.limit:
            return None
        run = self._runs[key] = Run(body.function, self.domain.bottom)
        self._open.append((key, run))
        try:
            self._iterate(body, args, run, setting)
        finally:
            self._open.pop()
        run.finished = True
        return run

    def _iterate(self, body: Body, args: tuple[Any, ...], run: Run, setting: Setting) -> None:
        count = len(self._runs)
        while True:
            self._begun += 1
            found = self._once(body, args, run, setting)
            if self.domain.is_below(found, run.result):
                return
            if not run.recursive:
                run.result = found
                return
            run.result = self.domain.widen(run.result, found)
            for other in list(self._runs)[count:]:  # they may have used the old result
                del self._runs[other]

    def _once(self, body: Body, args: tuple[Any, ...], run: Run, setting: Setting) -> Any:
        run.steps.clear()
        run.inner.clear()
        run.guarded.clear()
        execution = Execution(self, body, run, setting)
        entry = AbstractState(dict(zip(body.parameters, args, strict=True)))
        solver = FixedPoint(self.domain, body, entry, execution.execute)
        into = solver.find()
        run.edges = solver.on_edges()
        return execution.noted(into)

    def _settled(self, body: Body, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, widened by those of an active call of the same function, so that
        recursion terminates."""
        for (function, outer, _), _ in reversed(self._open):
            if function == _key(body) and len(outer) == len(args):
                if all(map(self.domain.is_below, args, outer)):
                    return outer
                return tuple(map(self.domain.widen, outer, args))
        return args


def misfit(
    body: Body, count: int, noun: str, help: str, by_name: Container[str] = ()
) -> OverlayError:
    """The error for a function that is given another number of arguments than it takes. noun: of
    an argument, as the caller calls it. by_name: the parameters that are given apart."""
    held = body.signature.parameters.values() if body.signature else ()
    parameters = [p for p in held if p.name not in by_name]
    every = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = [p.name for p in parameters if p.name in every and p.default is p.empty]
    if body.signature is None:
        every = needed = list(body.parameters)
    fewest, most = len(needed), len(every)
    takes = needed if count < fewest else every
    bound = "" if fewest == most else "at least " if takes is needed else "at most "
    names = f": {', '.join(takes)}" if takes else ""
    return OverlayError(
        f"{name_of(body.function)} was given {counted(count, noun)}, and takes "
        f"{bound}{len(takes)}{names}",
        where=location_of(body.function),
        help=help,
    )


def _is_dispatcher(function: Any) -> bool:
    return type(function) is not types.FunctionType and hasattr(type(function), "py_func")


def _key(body: Body) -> Any:
    return id(body.function) if body.key is None else body.key

"""Method tables: methods keyed by target and signature."""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from overlay.core import late_binding
from overlay.core.errors import MethodNotFound, OverlayError, closest
from overlay.core.fitting import refuse_misfit
from overlay.core.in_force import runs_natively
from overlay.core.location import caller, name_of
from overlay.core.logs import tell
from overlay.core.method import Method, Methods
from overlay.core.own_builtins import __builtins__
from overlay.core.pickling import home_of_caller, reduced_table, restore_table, table_of
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.core.signature import EMPTY
from overlay.core.target import (
    canonical,
    checked_name,
    describe,
    generic_state,
    key_of_target,
    lookup,
    nearest_names,
)

__all__ = ["LOCK", "Listener", "Method", "MethodTable"]

F = TypeVar("F", bound=Callable[..., Any])

# Changes of tables, and whatever an engine computes from tables, happen under this lock.
LOCK = threading.RLock()
_serials = itertools.count()


class Listener(Protocol):
    """A cache of results computed from tables, which is cleared when one of them changes."""

    def table_changed(self, target: Any) -> None:
        """Drop results that depend on ``target``: its methods were added, replaced or removed."""
        ...


@hides(
    *("add_later", "chosen", "chosen_compiled", "find", "has", "home", "identity", "interprets"),
    *("listen", "pending", "restore", "runs_python", "serial", "settle", "version"),
)
class MethodTable:
    """A table of methods keyed by target and signature.

    A table is a value: it is passed around and composed by contexts; there is no global one.
    Every change takes effect at the next call in every context that holds the table.

    Parameters
    ----------
    name
        The name of the table in messages.
    check
        Whether arguments and results of the methods are checked against their annotations, by
        typeguard, at every call; the call raises CheckFailed where one does not match.
    faithful
        Whether the methods compute the same mathematical functions as their targets, to another
        precision or by another algorithm. So known facts of a function, such as its derivative,
        its enclosure or its inverse, hold for them. For a method of any other table they do not:
        the method itself is differentiated, enclosed and inverted.
    interprets
        Whether the methods define functions for other kinds of values (dual numbers, intervals).
        They apply where no other table in force, further in or out, has a method for the plain
        values that these represent; where one has, its body is run with the other kind of values.

    Examples
    --------
    >>> import math
    >>> from overlay import Context, MethodTable
    >>> degrees = MethodTable("degrees")
    >>> @degrees.overlay(math.sin)
    ... def sin(x: float) -> float:
    ...     return call_next(x * math.pi / 180)
    >>> from overlay import call_next
    >>> round(Context(degrees)(math.sin, 30.0), 12)
    0.5
    """

    # whether functions compiled by numba are interpreted where the table is in force: its methods
    # are known to interpreted code only
    runs_python = False

    @runs_natively
    def __init__(
        self, name: str, check: bool = False, *, faithful: bool = False, interprets: bool = False
    ) -> None:
        self.name = name
        self.check = check
        self.faithful = faithful or interprets
        self.interprets = interprets
        self.serial = next(_serials)
        self.version = 0
        self.home = home_of_caller()
        self.identity: str | None = None
        self._methods: dict[Hashable, Methods] = {}
        self._targets: dict[Hashable, Any] = {}
        self._pending: dict[str, Methods] = {}
        self._later: dict[Hashable, tuple[Any, list[Callable[[], object]]]] = {}
        self._filled_now: set[Hashable] = set()
        self._is_filling = False
        self._listeners: weakref.WeakSet[Listener] = weakref.WeakSet()

    def __repr__(self) -> str:
        targets = counted(len(self._targets) + len(self._pending), "target")
        return f"<MethodTable {self.name!r}: {counted(len(self), 'method')} for {targets}>"

    def _repr_html_(self) -> str:
        return late_binding.drawing.load()(self)

    # ---- adding and removing ----

    def overlay(self, target: Any, *, precedence: int = 0) -> Callable[[F], F]:
        """Decorator: add a method for ``target``, or replace one with the same signature.

        Parameters
        ----------
        target : callable or str
            A Python function, builtin, class, ``Class.method``, ``operator.*`` function, numpy
            ufunc, numba dispatcher, plum function, or ``"module:name"`` of one that is not
            imported yet.
        precedence : int
            Breaks ties between equally specific methods; the higher one wins.

        Returns
        -------
        Callable
            The decorator, which returns the function unchanged.

        Raises
        ------
        OverlayError
            The target cannot be called, or the signature cannot be honoured.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("whole")
        >>> @table.overlay(math.sqrt)
        ... def root(x: int) -> int:
        ...     return math.isqrt(x)
        >>> Context(table)(math.sqrt, 10), Context(table)(math.sqrt, 6.25)
        (3, 2.5)
        """
        return self._adder(target, precedence, generated=False)

    def generated(self, target: Any, *, precedence: int = 0) -> Callable[[F], F]:
        """Decorator: add a generated method, a function from argument types to an implementation.

        The function is called once for each combination of types that reaches it, and its own
        calls are not dispatched.

        Parameters
        ----------
        target : callable or str
            As in ``overlay``.
        precedence : int
            As in ``overlay``.

        Returns
        -------
        Callable
            The decorator, which returns the function unchanged.

        Raises
        ------
        OverlayError
            The target cannot be called, or the signature cannot be honoured.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.generated(math.sin)
        ... def sin_of(kind):
        ...     return lambda x: kind(0)
        >>> Context(table)(math.sin, 3), Context(table)(math.sin, 3.0)
        (0, 0.0)
        """
        return self._adder(target, precedence, generated=True)

    @runs_natively
    def _adder(self, target: Any, precedence: int, *, generated: bool) -> Callable[[F], F]:
        target = self._settled(checked_name(target) if isinstance(target, str) else target)

        @runs_natively
        def add(function: F) -> F:
            if not callable(function):
                raise OverlayError(
                    f"the method of {describe(target)} is not callable: {function!r}",
                    where=caller(),
                    help="decorate a function",
                )
            method = Method(self, target, function, precedence, generated)
            refuse_misfit(method)
            self._add(method)
            return function

        return add

    @runs_natively
    def add_later(self, target: Any, add: Callable[[], object]) -> None:
        """Register methods of a target on first lookup: for large tables of which a program needs
        few methods.

        Parameters
        ----------
        target : callable
            The target, which counts as one of the table's at once. It must be imported.
        add : callable
            Called without arguments on first lookup; it registers the methods.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("large")
        >>> table.add_later(math.sin, lambda: table.overlay(math.sin)(lambda x: 0.0))
        >>> math.sin in table
        True
        """
        with LOCK:
            target = canonical(target)
            key = key_of_target(target)
            self._later.setdefault(key, (target, []))[1].append(add)
            self._methods.setdefault(key, Methods())  # its place in the order
            self._changed(target)
        tell(LOCK)

    def _fill(self, key: Hashable) -> None:
        """Register a target's deferred methods, without notifying listeners: they counted as
        present before. Other threads that look them up wait until all are registered.
        """
        with LOCK:
            if key in self._filled_now:
                return
            adders = self._later.get(key, (None, ()))[1]
            self._filled_now.add(key)
            self._is_filling, outer = True, self._is_filling
            try:
                for add in adders:
                    add()
            finally:
                self._is_filling = outer
                self._filled_now.discard(key)
                self._later.pop(key, None)

    def chosen(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any] | None:
        """Hook: called when either engine has resolved a call to a method of this table.

        A subclass may raise where the method is meaningless together with the other tables.

        Parameters
        ----------
        method
            The method of this table.
        after
            The methods that ``call_next`` has left behind.
        tables
            The tables in force, innermost first.

        Returns
        -------
        Callable or None
            The function that runs in place of the method's own, or None for the method's own.
        """

    def chosen_compiled(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any] | None:
        """Hook: called in place of ``chosen`` where the call is compiled; by default it calls
        ``chosen``, whose parameters and result it has.
        """
        return self.chosen(method, after, tables)

    @runs_natively
    def restore(
        self, target: Any, function: Callable[..., Any], precedence: int, generated: bool
    ) -> None:
        """Add a method that was pickled with this table in another process."""
        self._add(Method(self, self._settled(target), function, precedence, generated))

    def _settled(self, target: Any) -> Any:
        """The object of a target, or its name while the module is not imported."""
        if not isinstance(target, str):
            return canonical(target)
        found = lookup(target)
        module, _, path = target.partition(":")
        if found is None and module in sys.modules:
            holder, near = nearest_names(target)
            raise OverlayError(
                f"{holder} has no {path.rpartition('.')[2]!r} to overlay in {target!r}",
                where=caller(),
                notes=closest(near),
                help="check the spelling; the name is looked up when the module is imported",
            )
        return target if found is None else found

    def _add(self, method: Method) -> None:
        with LOCK:
            if isinstance(method.target, str):
                self.version += 1
                pending = self._pending.get(method.target, Methods())
                self._pending[method.target] = pending.adding(method)
                return
            key = key_of_target(method.target)
            self._targets[key] = method.target
            self._methods[key] = self._methods.get(key, Methods()).adding(method)
            generic = generic_state(method.target)
            if generic is not None:
                generic.accept(method.declared)
            self._changed(method.target)
        tell(LOCK)

    @runs_natively
    def remove(self, target: Any, *types: Any) -> None:
        """Remove methods of a target.

        Parameters
        ----------
        target : callable or str
            The target, as in ``overlay``.
        *types : type
            The annotations of the one method to remove; all methods of the target without them.

        Raises
        ------
        MethodNotFound
            There is no such method.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("table")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> table.remove(math.sin, float)
        >>> len(table)
        0
        """
        target = self._settled(target)
        if isinstance(target, str) and self._pending.pop(target, None):
            return
        with LOCK:
            key = key_of_target(target)
            old = self.find(target)
            kept = [m for m in old if types and not self._has_types(m, types)]
            if len(kept) == len(old):
                shown = f"({', '.join(map(name_of, types))})" if types else ""
                raise MethodNotFound(
                    f"table {self.name!r} has no method {describe(target)}{shown} to remove",
                    where=caller(),
                    notes=[("closest", str(m)) for m in old[:3]],
                    help="table.methods(target) lists what is there",
                )
            if kept:
                self._methods[key] = Methods(kept)
            else:
                del self._methods[key], self._targets[key]
            self._changed(target)
        tell(LOCK)

    @runs_natively
    def clear(self) -> None:
        """Remove all methods.

        Calls in contexts that hold the table then resolve to the tables below; so does
        ``call_next`` of a method that is running.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("table")
        >>> table.add_later(math.sin, lambda: table.overlay(math.sin)(lambda x: 0.0))
        >>> table.clear()
        >>> table.targets()
        ()
        """
        with LOCK:
            targets = self.targets()
            self._methods.clear()
            self._targets.clear()
            self._pending.clear()
            self._later.clear()
            self.version += 1
            for target in targets:
                self._changed(target)
        tell(LOCK)

    @staticmethod
    def _has_types(method: Method, types: Sequence[Any]) -> bool:
        """Whether the annotations of a method are these; a missing one counts as Any."""
        hints = [Any if p.hint is EMPTY else p.hint for p in method.parameters.positional]
        return hints == [Any if hint is EMPTY else hint for hint in types]

    # ---- looking ----

    @runs_natively
    def methods(self, target: Any = None) -> tuple[Method, ...]:
        """The methods of one target, or of all.

        Parameters
        ----------
        target : callable, str or None
            The target, as in ``overlay``; None for all targets.

        Returns
        -------
        tuple of Method
            The methods, in the order in which they were added.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("table")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> [method.function is sin for method in table.methods(math.sin)], table.methods(math.cos)
        ([True], ())
        """
        with LOCK:
            if target is None:
                for key in list(self._later):
                    self._fill(key)
                held: Iterable[Methods] = (*self._methods.values(), *self._pending.values())
                return tuple(itertools.chain.from_iterable(held))
            if isinstance(target, str):
                self.settle()
                target = lookup(target) or target
                if isinstance(target, str):
                    return tuple(self._pending.get(target, ()))
            return self.find(canonical(target))

    def find(self, target: Any) -> tuple[Method, ...]:
        """The methods of a target, which is compared by identity.

        Parameters
        ----------
        target : callable
            The target itself: neither a name nor a bound method, which ``methods`` takes.

        Returns
        -------
        tuple of Method
            The methods, in the order in which they were added.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> MethodTable("empty").find(math.sin)
        ()
        """
        key = key_of_target(target)
        if key in self._later:
            self._fill(key)
        return tuple(self._methods.get(key, ()))

    def has(self, target: Any) -> bool:
        """Return whether the table has methods of a target.

        Parameters
        ----------
        target : callable
            The target, compared by identity. Its deferred methods (``add_later``) are not
            registered.

        Returns
        -------
        bool
            Whether there are methods, deferred ones included.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("large")
        >>> table.add_later(math.sin, lambda: table.overlay(math.sin)(lambda x: 0.0))
        >>> table.has(math.sin), table.has(math.cos)
        (True, False)
        """
        key = key_of_target(target)
        return key in self._targets or key in self._later

    @runs_natively
    def targets(self) -> tuple[Any, ...]:
        """The targets of the table.

        Returns
        -------
        tuple of callable
            Every target whose module is imported.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("table")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> table.targets() == (math.sin,)
        True
        """
        self.settle()
        with LOCK:
            later = [target for target, _ in self._later.values()]
            return (*self._targets.values(), *later)

    def __contains__(self, target: Any) -> bool:
        return bool(self.methods(target))

    def __len__(self) -> int:
        return len(self.methods())

    # ---- changing ----

    @property
    def pending(self) -> bool:
        """Whether a target is given by name and its module is not imported yet."""
        return bool(self._pending)

    def settle(self) -> None:
        """Look up the targets that were named before their module was imported."""
        if not self._pending:
            return
        with LOCK:
            for name in list(self._pending):
                found = lookup(name)
                if found is None:
                    continue
                for method in self._pending.pop(name):
                    method.target = found
                    self._add(method)

    def listen(self, listener: Listener) -> None:
        """Notify ``listener`` of every change; it is held weakly."""
        with LOCK:
            self._listeners.add(listener)

    def _changed(self, target: Any) -> None:
        if self._is_filling:
            return
        self.version += 1
        for listener in list(self._listeners):
            listener.table_changed(target)

    # ---- in other processes ----

    def __reduce__(self) -> Any:
        return reduced_table(self, _restored)

    def __setstate__(self, state: Any) -> None:
        restore_table(self, state)


def _restored(
    identity: str, name: str, check: bool, faithful: bool, interprets: bool
) -> MethodTable:
    """The table with an identity, as unpickling makes it."""
    return table_of(
        identity,
        lambda: MethodTable(name, check=check, faithful=faithful, interprets=interprets),
    )

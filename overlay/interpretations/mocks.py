"""Mocks that are confined to one thread or task: no name that imports a mocked function is
patched.

>>> import email.utils, time
>>> from overlay.interpretations.mocks import Mocks
>>> mocks = Mocks()
>>> clock = mocks.replace(time.time, return_value=0.0)
>>> mocks(email.utils.formatdate, usegmt=True), clock.call_count
('Thu, 01 Jan 1970 00:00:00 GMT', 1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock, create_autospec

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.contexts.rules_alone import runs_alone
from overlay.core.interpreted_values import is_interpreted, stands_for_another, underlying
from overlay.core.location import caller
from overlay.core.markup import code, listed, sheet
from overlay.core.public_names import completes
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe, lookup

__all__ = ["Mocks"]
__dir__ = completes(__all__)


class Mocks:
    """Replacements of functions, in force only in code that runs with them.

    ``mocks(f, ...)`` runs ``f`` with them, ``mocks.wrap(f)`` is ``f`` with them, and ``with
    mocks:`` is for generic functions.

    Attributes
    ----------
    context : Context
        The context with the mocks, to be combined with others.

    Examples
    --------
    >>> import time
    >>> from overlay.interpretations.mocks import Mocks
    >>> mocks = Mocks()
    >>> clock = mocks.replace(time.time, return_value=5.0)
    >>> mocks(time.time), clock.call_count
    (5.0, 1)
    """

    @runs_alone
    def __init__(self) -> None:
        self._table = MethodTable("mocks")
        self.context = Context(self._table)

    def __repr__(self) -> str:
        calls = counted(sum(calls for _, calls in self._counts()), "call")
        return short_repr("Mocks", f"{calls} of {', '.join(map(describe, self._table.targets()))}")

    def _repr_html_(self) -> str:
        counts = self._counts()
        calls = listed(("target", "calls"), counts, lambda pair: (code(pair[0]), pair[1]))
        return sheet("mocks", "", counted(sum(calls for _, calls in counts), "call"), calls)

    def _counts(self) -> list[tuple[str, int]]:
        """The targets, and how often the mock of each was called."""
        methods = [(each.target, vars(each.function)["mock"]) for each in self._table.methods()]
        return [(describe(target), mock.call_count) for target, mock in methods]

    @runs_alone
    def replace(
        self,
        target: Any,
        implementation: Any = None,
        /,
        **configuration: Any,
    ) -> Any:
        """Replace calls of a target by calls of a mock.

        Parameters
        ----------
        target : callable or str
            A target, as in ``MethodTable.overlay``.
        implementation : callable or None
            A function to call instead.
        **configuration
            Configuration of the mock, such as ``return_value=5`` or ``side_effect=OSError``.

        Returns
        -------
        unittest.mock object
            A mock with the target's signature, which counts calls and has
            ``assert_called_once_with`` and so on.

        Raises
        ------
        OverlayError
            Both an implementation and a configuration are given, or the implementation is not
            callable.

        Examples
        --------
        >>> import random
        >>> from overlay.interpretations.mocks import Mocks
        >>> mocks = Mocks()
        >>> draw = mocks.replace(random.random, lambda: 0.5)
        >>> mocks(lambda: random.random() + random.random()), draw.call_count
        (1.0, 2)
        """
        if implementation is not None and (configuration or not callable(implementation)):
            raise _refused(target, implementation, configuration)
        mock = _mock_of(target, configuration)
        called = _called(mock)

        def replaced(*args: Any, **kwargs: Any) -> Any:
            result = called(*args, **kwargs)
            return result if implementation is None else implementation(*args, **kwargs)

        vars(replaced)["mock"] = mock
        self._table.overlay(target)(replaced)
        return mock

    @runs_alone
    def spy(self, target: Any) -> Any:
        """Count the calls of a target, which still run it.

        Parameters
        ----------
        target : callable or str
            A target, as in ``MethodTable.overlay``.

        Returns
        -------
        unittest.mock object
            The mock that counts, as for ``replace``.

        Examples
        --------
        >>> import math
        >>> from overlay.interpretations.mocks import Mocks
        >>> mocks = Mocks()
        >>> roots = mocks.spy(math.sqrt)
        >>> mocks(math.sqrt, 4.0), roots.call_count
        (2.0, 1)
        """
        mock = _mock_of(target, {})
        called = _called(mock)

        def spied(*args: Any, **kwargs: Any) -> Any:
            called(*args, **kwargs)
            return call_next(*args, **kwargs)

        vars(spied)["mock"] = mock
        self._table.overlay(target)(spied)
        return mock

    @runs_alone
    def restore(self, target: Any) -> None:
        """Stop replacing calls of a target.

        Parameters
        ----------
        target : callable or str
            A target that is replaced or spied on.

        Raises
        ------
        MethodNotFound
            The target is neither.
        """
        self._table.remove(target)

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function with the mocks in force.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.
        """
        return self.context(f, *args, **kwargs)

    @runs_alone
    def wrap(self, f: Callable[..., Any], /) -> Callable[..., Any]:
        """A function that runs with the mocks in force, in any thread.

        Parameters
        ----------
        f : callable
            The function.

        Returns
        -------
        callable
            ``f`` with the mocks.
        """
        return self.context.wrap(f)

    def __enter__(self) -> Mocks:
        self.context.__enter__()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.context.__exit__(kind, error, trace)


def _called(mock: Any) -> Callable[..., Any]:
    """A mock that records plain values where it is given active numbers, which must not outlive
    their derivative."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return mock(*args, **kwargs)
        finally:
            if _is_active(args) or _is_active(kwargs):
                _record_plain(getattr(mock, "mock", mock))

    return nonoverlay(call)


def _record_plain(mock: Any) -> None:
    """Replace the active numbers in the calls that a mock has recorded."""
    for calls in (mock.call_args_list, mock.mock_calls):
        found = False
        for place, call in reversed([*enumerate(calls)]):
            if _is_active(call[-2:]):
                parts = (*call[:-2], *map(_plain, call[-2:]))
                calls[place] = type(call)(parts, two=len(parts) == 2)
                found = True
            elif found:
                break  # those before are plain
    mock.call_args = mock.call_args_list[-1]


def _is_active(value: Any) -> bool:
    if stands_for_another(value):
        return is_interpreted(value)
    if isinstance(value, dict):
        return any(map(_is_active, value.values()))
    return isinstance(value, (tuple, list)) and any(map(_is_active, value))


def _plain(value: Any) -> Any:
    """A value without the active numbers in it."""
    if not _is_active(value):
        return value
    if stands_for_another(value):
        return underlying(value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    made = getattr(type(value), "_make", type(value))
    return made([_plain(part) for part in value])


def _refused(target: Any, implementation: Any, configuration: dict[str, Any]) -> OverlayError:
    what = f"{describe(target)} cannot be replaced by {implementation!r}"
    if not callable(implementation):
        return OverlayError(
            f"{what}, which is not callable",
            where=caller(),
            help=f"for a mock that returns it: return_value={implementation!r}",
        )
    return OverlayError(
        f"{what} and by a mock with {', '.join(configuration)}",
        where=caller(),
        help="pass a function that does all of it, or configure a mock, not both",
    )


def _mock_of(target: Any, configuration: dict[str, Any]) -> Any:
    """A mock with the signature of a target, or without one if the target is not imported."""
    found = lookup(target) if isinstance(target, str) else target
    if found is None:
        return MagicMock(name=target, **configuration)
    return create_autospec(found, **configuration)

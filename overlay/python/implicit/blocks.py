"""``with``, ``async with``, ``async for``, ``await`` and ``raise`` by Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    Given,
    bound,
    derives,
    in_python,
    invoke,
    lookup,
    python_function,
)

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Blocks"]

Managed = tuple[Callable[..., Any], Callable[..., Any]]


class Blocks:
    """What statements call at the ends of blocks."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit
        self.callees = implicit.callees

    def resolve(self, manager: Any) -> Any:
        """``managed``, or None where no function of the program takes part."""
        kind = type(manager)
        python = in_python(lookup(kind, "__enter__")) or in_python(lookup(kind, "__exit__"))
        return self.managed if python else None

    def resolve_async(self, manager: Any) -> Any:
        """The same for ``async with``."""
        kind = type(manager)
        python = in_python(lookup(kind, "__aenter__")) or in_python(lookup(kind, "__aexit__"))
        return self.managed_async if python else None

    def managed(self, manager: Any) -> Managed:
        """The functions that leave and enter a ``with`` block."""
        kind = type(manager)
        enter, leave = lookup(kind, "__enter__"), lookup(kind, "__exit__")
        if enter is MISSING or leave is MISSING:
            with manager:  # the native error
                pass
        entering = bound(self.callees, enter, manager)
        return entering, bound(self.callees, leave, manager)

    def managed_async(self, manager: Any) -> Managed:
        """The same for ``async with``."""
        kind = type(manager)
        enter, leave = lookup(kind, "__aenter__"), lookup(kind, "__aexit__")
        if enter is MISSING or leave is MISSING:
            _in_vain(manager).send(None)
        entering = bound(self.callees, enter, manager)
        return entering, bound(self.callees, leave, manager)

    def awaited(self, x: Any) -> Any:
        """``x``, or what ``await`` takes for it."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__await__")
        if found is MISSING:
            return x
        return _Awaited(self, found, x)

    def asynchronous(self, x: Any) -> Any:
        """``x``, or what ``async for`` takes for it."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__aiter__")
        if found is MISSING:
            return x
        result = invoke(self.callees, found, x)
        steps = python_function(type(result), "__anext__")
        return Given(result if steps is MISSING else _Steps(self, steps, result))

    def raised(self, x: Any) -> Any:
        """What ``raise x`` raises: an instance, where ``x`` is a class."""
        kind: Any = type(x)
        if not issubclass(kind, type) or not _is_exception(x):
            return x
        made = self.callees[x]()
        if not _is_exception(type(made)):
            raise TypeError(
                f"calling {x!r} should have returned an instance of BaseException, "
                f"not {type(made)!r}"
            )
        return made


def _is_exception(cls: Any) -> bool:
    return derives(cls, BaseException)


async def _in_vain(manager: Any) -> None:
    async with manager:
        pass


class _Awaited:
    """Stands for an object that is awaited."""

    __slots__ = ("blocks", "found", "of")

    def __init__(self, blocks: Blocks, found: Any, of: Any) -> None:
        self.blocks = blocks
        self.found = found
        self.of = of

    def __await__(self) -> Any:
        result = invoke(self.blocks.callees, self.found, self.of)
        return self.blocks.implicit.iteration.delegate(result)


class _Steps:
    """Stands for an asynchronous iterator."""

    __slots__ = ("blocks", "of", "steps")

    def __init__(self, blocks: Blocks, steps: Any, of: Any) -> None:
        self.blocks = blocks
        self.steps = steps
        self.of = of

    def __anext__(self) -> Any:
        return self.blocks.awaited(invoke(self.blocks.callees, self.steps, self.of))

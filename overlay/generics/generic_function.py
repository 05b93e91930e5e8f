"""The type of generic functions, for type checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from overlay.core.own_builtins import __builtins__

__all__ = ["GenericFunction"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Any_F = Callable[..., Any]


class GenericFunction(Protocol[P, R_co]):
    """Generic function, made by ``generic``: methods are added to it."""

    __name__: str
    __qualname__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the method for these arguments."""
        ...

    @overload
    def dispatch(self, method: Any_F, /) -> GenericFunction[..., Any]: ...
    @overload
    def dispatch(
        self, method: None = None, /, *, precedence: int = 0
    ) -> Callable[[Any_F], GenericFunction[..., Any]]: ...
    def dispatch(self, method: Any_F | None = None, /, *, precedence: int = 0) -> Any:
        """Add a base method (same signature: replace it), by its annotations."""
        ...

    def dispatch_multi(self, *signatures: Any) -> Callable[[Any_F], GenericFunction[..., Any]]:
        """Add a base method for each of these signatures, plum's or tuples of types."""
        ...

    def methods(self) -> tuple[Any, ...]:
        """The base methods, as plum's objects."""
        ...

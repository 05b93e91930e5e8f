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
        """Run the method for these arguments.

        Raises
        ------
        MethodNotFound, AmbiguousMethod
            There is no method for them, or no most specific one.
        """
        ...

    @overload
    def dispatch(self, method: Any_F, /) -> GenericFunction[..., Any]: ...
    @overload
    def dispatch(
        self, method: None = None, /, *, precedence: int = 0
    ) -> Callable[[Any_F], GenericFunction[..., Any]]: ...
    def dispatch(self, method: Any_F | None = None, /, *, precedence: int = 0) -> Any:
        """Add a base method, by its annotations; one with the same signature is replaced.

        Parameters
        ----------
        method : function or None
            The method; None to get a decorator.
        precedence : int
            Breaks ties between equally specific methods; the higher one wins.

        Returns
        -------
        GenericFunction or decorator
            The generic function, or a decorator that returns it.
        """
        ...

    def dispatch_multi(self, *signatures: Any) -> Callable[[Any_F], GenericFunction[..., Any]]:
        """Add a base method for each of several signatures.

        Parameters
        ----------
        *signatures : plum.Signature or tuple of type
            The signatures.

        Returns
        -------
        decorator
            Takes the method, and returns the generic function.
        """
        ...

    def methods(self) -> tuple[Any, ...]:
        """The base methods, as plum's objects."""
        ...

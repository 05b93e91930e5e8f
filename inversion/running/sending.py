"""Inverses in other processes: the request is sent, and the inverse is made again there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from overlay.core.bounded_store import Kept
from overlay.core.content_identity import content_of
from overlay.core.pickling import Shipped
from primitives.arrays.domain import Shape, element_of, is_array, shape_of

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["Request"]

MOST = 32
"""The number of inverses from other processes that are cached."""

_received: Kept[Inverse] = Kept(MOST)


@dataclass(frozen=True)
class Request:
    """The call that made an inverse: ``make(function, *types, **options)``."""

    make: Callable[..., Inverse]
    function: Callable[..., Any]
    types: tuple[Any, ...]
    options: Mapping[str, Any]

    def reduced(self) -> tuple[Any, ...]:
        """The reduction of the inverse for ``pickle``. Raises OverlayError if the function is in no
        module, and is not pickled by value, as by cloudpickle.
        """
        what = f"the inverse of {getattr(self.function, '__name__', self.function)!s}"
        function = Shipped(self.function, what)
        types = tuple(map(_told, self.types))
        parts = self.make, function, types, dict(self.options)
        return _made, (content_of(self, parts), *parts)


def _told(kind: Any) -> Any:
    """A type in a form that is equal in all processes: each process creates its own classes of
    arrays.
    """
    if not is_array(kind):
        return kind
    scalar = np.dtype(element_of(kind)).type
    return Annotated[NDArray[scalar], Shape(*shape_of(kind))]


def _made(
    content: str | None,
    make: Callable[..., Inverse],
    function: Callable[..., Any],
    types: tuple[Any, ...],
    options: dict[str, Any],
) -> Inverse:
    """The inverse for a request from another process; cached until it is out of date."""
    if content is None:
        return make(function, *types, **options)
    # compiled code belongs to an inverse, so inverses that arrive with each task are reused
    found = _received.found(content, lambda: make(function, *types, **options))
    return make(function, *types, **options) if found.is_out_of_date else found

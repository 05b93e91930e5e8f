"""What sorts, and looks for the smallest or the largest, by comparisons in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.arithmetic import compare
from overlay.python.implicit.protocols import PLAIN, in_python, lookup

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Ordering"]

_COLLECTIONS = (list, tuple, set, frozenset, dict)


class Ordering:
    """``sorted``, ``list.sort``, ``min`` and ``max``: the native functions, which are given a
    key that compares in the context."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit
        self.callees = implicit.callees
        self._less = compare(implicit, "lt")
        self._greater = compare(implicit, "gt")

    def table(self) -> dict[Any, Callable[..., Any]]:
        """What stands for builtin functions."""
        return {
            sorted: self.sorted,
            list.sort: self.sort,
            min: self._extreme(min),
            max: self._extreme(max),
        }

    def sorted(self, /, *args: Any, **kwargs: Any) -> Any:
        """``sorted(...)``."""
        if len(args) != 1:
            return sorted(*args, **kwargs)
        items = list(self.implicit.iteration.sized(args[0]))
        self.sort(items, **kwargs)
        return items

    def sort(self, /, *args: Any, **kwargs: Any) -> None:
        """``list.sort(...)``."""
        if len(args) == 1 and issubclass(type(args[0]), list):
            kwargs = self._keyed(kwargs, args[0])
        list.sort(*args, **kwargs)

    def _extreme(self, native: Callable[..., Any]) -> Callable[..., Any]:
        def extreme(*args: Any, **kwargs: Any) -> Any:
            if len(args) == 1:
                args = (self.implicit.iteration.entered(args[0]),)
                known = args[0] if type(args[0]) in _COLLECTIONS else None
            else:
                known = args
            return native(*args, **self._keyed(kwargs, known))

        return extreme

    def _keyed(self, kwargs: dict[str, Any], items: Iterable[Any] | None) -> dict[str, Any]:
        """The keywords with a key that compares in the context, where that may be needed.

        items: what is compared if there is no key; None where that is not known yet.
        """
        key = kwargs.get("key")
        if key is None and items is not None and not any(map(_compares, items)):
            return kwargs
        mapped: Any = self.callees[key] if callable(key) else key

        def compared(x: Any) -> _Compared:
            return _Compared(self, x if key is None else mapped(x))

        return {**kwargs, "key": compared}

    def less(self, a: Any, b: Any) -> bool:
        """``a < b``."""
        return self.implicit.numbers.truth(self._less(a, b))

    def greater(self, a: Any, b: Any) -> bool:
        """``a > b``."""
        return self.implicit.numbers.truth(self._greater(a, b))


class _Compared:
    """Stands for what is compared."""

    __slots__ = ("of", "ordering")

    def __init__(self, ordering: Ordering, of: Any) -> None:
        self.ordering = ordering
        self.of = of

    def __lt__(self, other: _Compared) -> bool:
        return self.ordering.less(self.of, other.of)

    def __gt__(self, other: _Compared) -> bool:
        return self.ordering.greater(self.of, other.of)


def _compares(x: Any) -> bool:
    """Whether a function of the program may compare it."""
    kind = type(x)
    if id(kind) in PLAIN:
        return False
    return in_python(lookup(kind, "__lt__")) or in_python(lookup(kind, "__gt__"))

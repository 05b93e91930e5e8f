"""Tables, contexts and functions in other processes.

An object that a module holds under a name is pickled as that name; the reading process imports
the module. Anything else is pickled by value. A table has an identity: if it reaches a process
twice, it is one table there.
"""

from __future__ import annotations

import importlib
import operator
import os
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from overlay.core.errors import OverlayError
from overlay.core.location import is_ours, location_of, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.target import lookup

if TYPE_CHECKING:
    from overlay.core.table import MethodTable

__all__ = [
    "Shipped",
    "home_of_caller",
    "name_at_home",
    "named",
    "pickler_by_value",
    "reduced_table",
    "restore_table",
    "table_of",
]

# picklers that ship functions by value, as packages of their own or parts of others
_BY_VALUE = frozenset({"cloudpickle", "dill"})
_tables: weakref.WeakValueDictionary[str, MethodTable] = weakref.WeakValueDictionary()


def home_of_caller() -> str | None:
    """The name of the module that runs in the innermost frame that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    name = None if frame is None else frame.f_globals.get("__name__")
    return name if isinstance(name, str) else None


def name_at_home(thing: Any, home: str | None) -> str | None:
    """The name under which the module holds this very object, if others can import it."""
    if home is None or home == "__main__" or home not in sys.modules:
        return None
    module = sys.modules[home]
    if getattr(module, "__spec__", None) is None:
        return None
    return next((name for name, value in list(vars(module).items()) if value is thing), None)


def named(home: str, name: str) -> Any:
    """The object that a module holds under a name; the module is imported if need be."""
    found = getattr(importlib.import_module(home), name, None)
    if found is None:
        raise OverlayError(
            f"module {home} has no {name!r}, which another process has pickled by that name",
            help="import the same version of the module in both processes",
        )
    return found


# ---- tables -------------------------------------------------------------------------------


def reduced_table(table: MethodTable, make: Callable[..., MethodTable]) -> tuple[Any, ...]:
    """The reduction of a table for ``pickle``. make: returns the table in the reading process, from
    its identity, name and flags.
    """
    name = name_at_home(table, table.home)
    if name is not None:
        return named, (table.home, name)
    if table.identity is None:
        table.identity = os.urandom(16).hex()
        _tables[table.identity] = table
    rows = [
        (_reference(m.target), Shipped(m.function, f"the method {m}"), m.precedence, m.generated)
        for m in table.methods()
    ]
    kind = table.check, table.faithful, table.interprets
    return make, (table.identity, table.name, *kind), (table.version, rows)


def table_of(identity: str, make: Callable[[], MethodTable]) -> MethodTable:
    """The table with an identity; where this process has none, ``make`` makes it."""
    found = _tables.get(identity)
    if found is None:
        found = make()
        found.identity, found.home, found.version = identity, None, -1
        found = _tables.setdefault(identity, found)
    return found


def restore_table(table: MethodTable, state: tuple[int, list[Any]]) -> None:
    """Set a table's methods to the pickled ones, unless it has this version or a later one."""
    version, rows = state
    if version <= table.version:
        return
    table.clear()
    for target, function, precedence, generated in rows:
        table.restore(target, function, precedence, generated)
    table.version = version


def _reference(target: Any) -> Any:
    """A target's ``"module:name"`` if that resolves to it, else the target itself."""
    if isinstance(target, str):
        return target
    return _name_of_function(target) or target


def _name_of_function(function: Any) -> str | None:
    owner = getattr(function, "__objclass__", None)
    module = getattr(function, "__module__", None) or getattr(owner, "__module__", None)
    path = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(module, str) or not isinstance(path, str) or module == "__main__":
        return None
    if not all(part.isidentifier() for part in path.split(".")):
        return None
    name = f"{module}:{path}"
    try:
        return name if lookup(name) is function else None
    except OverlayError:
        return None


def _same(function: Any) -> Any:
    return function


class Shipped:
    """Wrapper that pickles a function, and unpickles as the function itself. what: description of
    the function for the error where it cannot be pickled.
    """

    def __init__(self, function: Callable[..., Any], what: str) -> None:
        self.function = function
        self.what = what

    def __reduce__(self) -> Any:
        name = _name_of_function(self.function)
        if name is not None:
            module, _, path = name.partition(":")
            return _function_at, (module, path)
        if not _is_main(self.function) and pickler_by_value() is None:
            raise OverlayError(
                f"cannot pickle {self.what}: no module holds "
                f"{name_of(self.function)} under its name",
                where=location_of(self.function),
                help="use cloudpickle, or define it in a module",
            )
        return _same, (self.function,)


def _function_at(module: str, path: str) -> Any:
    return operator.attrgetter(path)(importlib.import_module(module))


def _is_main(function: Any) -> bool:
    """Whether ``__main__`` holds the function: processes that import the main module have it
    too.
    """
    path = getattr(function, "__qualname__", None)
    main = sys.modules.get("__main__")
    return isinstance(path, str) and getattr(main, path, None) is function


def pickler_by_value() -> Any:
    """The module of the active pickler, if that pickles functions by value."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if isinstance(module, str) and not _BY_VALUE.isdisjoint(module.split(".")):
            return sys.modules.get(module)
        frame = frame.f_back
    return None

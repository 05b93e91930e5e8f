"""Fingerprint of the contexts, tables and generic functions that a compilation reads."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Final, NamedTuple

from overlay.code.digest import Handler, NotHashable, tell_class
from overlay.code.fingerprint import Fingerprint
from overlay.contexts.context import Context, nonoverlay, wrapped_in
from overlay.contexts.wrapping import Wrapped
from overlay.core.errors import OverlayError
from overlay.core.location import name_of
from overlay.core.method import Method
from overlay.core.table import MethodTable
from overlay.core.target import describe, generic_state, is_below, mro_of, type_attribute
from overlay.plugins.known_functions import known_function, type_of_function
from overlay.plugins.plugin import Plugin, stored_key

__all__ = ["ContextReads"]


class FunctionNumber(NamedTuple):
    """The number of a function in the order in which a fingerprint encounters functions."""

    number: int


class ContextReads(Fingerprint):
    """The fingerprint of a program under contexts. tables: those encountered, in order; asked: for
    each result of a generated method, the method's place and its types; made: the method, its
    types, and the result.

    type_of: returns the type of a value in compiled code, or None.
    """

    def __init__(
        self,
        how: Callable[[FunctionType, int], int],
        kinds: Mapping[type, Handler],
        holds: Callable[[Any], bool],
        type_of: Callable[[Any], Any],
    ) -> None:
        plum: Any = sys.modules.get("plum")
        generic: dict[type, Handler] = {}
        if plum is not None:
            generic[plum.Function] = lambda fp, v: typing.cast(ContextReads, fp)._plum_function(v)
        super().__init__(how, {**_KINDS, **generic, **kinds}, holds)
        self.type_of = type_of
        self.tables: list[MethodTable] = []
        self.asked: list[tuple[tuple[int, int], tuple[Any, ...]]] = []
        self.made: list[tuple[Method, tuple[Any, ...], Any]] = []
        self._identities: dict[int, tuple[int, Any]] = {}
        self._methods: dict[int, list[Method]] = {}

    def function(self, function: FunctionType, deep: bool = False, enters: bool = False) -> None:
        """Add a function; a generic one by its methods."""
        state = generic_state(function)
        if state is None:
            super().function(function, deep, enters)
            return
        self.write("generic")
        super().function(state.declaration)
        self._plum_function(state.plum_function)

    def _plum_function(self, function: Any) -> None:
        methods = list(function.methods)
        self.write("plum", str(function.__module__), function.__qualname__, len(methods))
        for method in methods:
            self.write(repr(method.signature), repr(method.return_type))
            self.value(method.implementation)

    # ---- contexts ----

    def context(self, context: Context) -> None:
        """Add a context: its tables, metadata and plugins."""
        self.write("context", len(context.tables))
        self.value(None if context.state is None else self.type_of(context.state))
        for table in context.tables:
            self.table(table)
        self._metadata(context.metadata)
        self.plugins(context.plugins)

    def plugins(self, plugins: tuple[Plugin, ...]) -> None:
        """Add plugins, by their cache tokens."""
        try:
            keys = stored_key(plugins)
        except OverlayError as error:
            raise NotHashable("a plugin", f"stands in the way: {error.asked}", "") from error
        self._metadata(keys)

    def _metadata(self, value: Any) -> None:
        place, self._place = self._place, "the metadata of a context"
        self.value(value)
        self._place = place

    def table(self, table: MethodTable) -> None:
        """Add a table: all its methods, in their order."""
        if any(table is known for known in self.tables):
            self.write("table", [t is table for t in self.tables].index(True))
            return
        table.settle()
        methods = list(table.methods())
        self.tables.append(table)
        self._methods[id(table)] = methods
        self.write("methods", table.name, int(table.check), len(methods))
        for method in methods:
            self._place = f"the method {method}"
            self._target(method.target)
            self.write("method", method.precedence, int(method.generated))
            self._parameters(method)
            self.value(method.function)

    def holds_method(self, method: Method) -> bool:
        """Whether a table encountered so far has this method."""
        return any(method is each for rows in self._methods.values() for each in rows)

    def value(self, value: Any) -> None:
        """Add a value; for a possible target also whether it is identical to an earlier one."""
        kind = type(value)
        if kind is not FunctionType and type_attribute(kind, "__call__") is not None:
            self._identity(value)
        super().value(value)

    def _identity(self, value: Any) -> None:
        number, _ = self._identities.setdefault(id(value), (len(self._identities), value))
        self.write("identity", number)

    def place_of(self, method: Method) -> tuple[int, int]:
        """The position of a method: the number of its table, and its row."""
        for number, table in enumerate(self.tables):
            for place, each in enumerate(self._methods[id(table)]):
                if each is method:
                    return number, place
        raise LookupError(method)

    def method_at(self, place: tuple[int, int]) -> Method:
        """The method at a place of ``place_of``; a LookupError where there is none."""
        number, row = place
        return self._methods[id(self.tables[number])][row]

    def generated(self, method: Method, hints: tuple[Any, ...], made: Any) -> None:
        """Add the result of a generated method for these types."""
        place = self.place_of(method)
        self.made.append((method, hints, made))
        self.asked.append((place, tuple(map(self._by_number, hints))))
        self.write("generated", *place, len(hints))
        for hint in hints:
            self._hint(hint)
        self.value(made)
        self.read()

    def _by_number(self, hint: Any) -> Any:
        """A type that a generated method is given, in a form for other processes: of a function
        that has been encountered, its number."""
        function = known_function(hint)
        numbers = (n for n, each in enumerate(self.functions) if each is function)
        number = next(numbers, None)
        return hint if number is None else FunctionNumber(number)

    def hint_of(self, hint: Any) -> Any:
        """The type that ``asked`` holds in this form."""
        if not isinstance(hint, FunctionNumber):
            return hint
        return type_of_function(self.functions[hint.number])

    def _target(self, target: Any) -> None:
        """Add the target of a method: it may be of any kind, and is identified by its name."""
        self.write("target", str(getattr(target, "__module__", None)), describe(target))
        if type(target) is FunctionType:
            self.function(target)
        else:
            self._identity(target)

    def _parameters(self, method: Method) -> None:
        parameters = method.parameters
        named = list(parameters.keyword_only.values())
        self.write("parameters", len(parameters.positional), len(named))
        for each in (*parameters.positional, *named):
            self.write(each.name, int(each.required))
            self._hint(each.hint)
        self._hint(parameters.varargs)
        self._hint(parameters.var_keyword)

    def _hint(self, hint: Any) -> None:
        """Add an annotation; for a class also its bases."""
        if isinstance(hint, list):
            for part in hint:  # the parameters of a Callable
                self._hint(part)
        elif typing.get_origin(hint) is not None:
            self.write("hint", repr(typing.get_origin(hint)), len(typing.get_args(hint)))
            for part in typing.get_args(hint):
                self._hint(part)
        elif issubclass(type(hint), type):
            for base in mro_of(hint):
                self.class_named(base)
        elif type(hint).__module__ in ("typing", "overlay.core.signature"):
            self.write("hint", repr(hint).partition(" at 0x")[0])
        else:
            self.value(hint)


# ---- handlers of this package's own values ------------------------------------------------


def _wrapped(fp: Any, value: Wrapped) -> None:
    found = wrapped_in(value)
    assert found is not None
    fp.write("wrapped")
    fp.context(found[0])
    fp.value(found[1])


def _without_overlay(fp: Any, value: Any) -> None:
    fp.write("nonoverlay")
    fp.value(value.function)


def _plugin(fp: Any, value: Plugin) -> None:
    fp.write("plugin")
    fp.plugins((value,))


def _class(fp: Any, value: Any) -> None:
    if is_below(value, Plugin) and value is not Plugin:
        raise NotHashable(
            f"the plugin {name_of(value)}",
            "is made where it is used, and has a token only then",
            "make the plugin outside, as a global",
        )
    tell_class(fp, value)


_KINDS: Final[dict[type, Handler]] = {
    Context: lambda fp, v: typing.cast(ContextReads, fp).context(v),
    MethodTable: lambda fp, v: typing.cast(ContextReads, fp).table(v),
    Wrapped: _wrapped,
    nonoverlay: _without_overlay,
    Plugin: _plugin,
    type: _class,
}

"""Protocols of the language, such as iteration and ``with``, in the checker's type domain."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overlay.analysis import protocol_checks
from overlay.analysis.abstract_values import BOTTOM, TOP
from overlay.analysis.generator_managers import function_of_manager, passes_exceptions
from overlay.analysis.keyword_names import HeldNames
from overlay.analysis.kind_functions import Kinds
from overlay.analysis.kinds import Types
from overlay.analysis.object_contents import ObjectContents
from overlay.code.body import Body

__all__ = ["ProtocolTypes"]


class ProtocolTypes(Types):
    """Type domain that knows calls, ``with``, ``await`` and keywords that are unpacked.

    contents: of what the analysed code makes. names: the keys that dicts certainly hold. body: the
    one that is analysed.
    """

    contents: ObjectContents
    names: HeldNames
    body: Body | None

    def made(self, cls: type, site: Any, item: Any, key: Any) -> Any:
        """A new container of a class, made at a site, with these items and keys."""
        raise NotImplementedError

    def called(self, value: Any) -> None:
        protocol_checks.check_called(value)

    def manager(self, value: Any, instruction: str) -> tuple[Callable[..., Any] | None, bool]:
        method, may_end = protocol_checks.manager_of(value, instruction)
        function = function_of_manager(self.contents, value)
        if function is not None:  # its generator goes on, whose code is analysed
            return method, not passes_exceptions(function)
        self.handed((value,))  # its __exit__ has it, too
        return method, may_end

    def awaited(self, result: Any) -> Any:
        function: Any = None if self.body is None else self.body.function
        code = getattr(function, "__code__", None)
        if code is None or not code.co_flags & inspect.CO_COROUTINE:
            return TOP  # an asynchronous generator
        return self.made(types.CoroutineType, ("awaited", id(function)), result, BOTTOM)

    def result_of(self, value: Any) -> Any:
        """The result of a coroutine."""
        if isinstance(value, Kinds) and value.types == frozenset({types.CoroutineType}):
            return self.contents.read(value.sites, "item")
        return TOP

    def keywords(self, given: Mapping[str, Any]) -> Any:
        key = self._all(map(self.constant, given))
        made = self.made(dict, ("keywords", tuple(given)), self._all(given.values()), key)
        self.names.add(made, given)
        return made

    def _all(self, values: Iterable[Any]) -> Any:
        found: Any = BOTTOM
        for value in values:
            found = self.join(found, value)
        return found

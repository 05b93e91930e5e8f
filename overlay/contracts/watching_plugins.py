"""Plugins around the one that is checked: they change nothing, and note what they see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from overlay.ir import IR, UNKNOWN, Call
from overlay.plugins.plugin import Plugin, identity

__all__ = ["CountsCalls", "WatchesCode", "same_plugin"]


class WatchesCode(Plugin):
    """Notes the calls and types of each function that is compiled, and its module as text.

    checked: the plugin whose ``enter`` is asked twice; None to ask none.
    """

    def __init__(self, checked: Plugin | None = None) -> None:
        self.checked = checked
        self.calls: dict[tuple[str, str], Counter[str]] = {}
        self.types: dict[str, dict[str, str]] = {}
        self.inlined: list[Call] = []
        self.modules: dict[str, Counter[str]] = {}
        self.wavering: list[tuple[Any, Any, Any, Any]] = []

    def enter(self, callee: Any, types: tuple[Any, ...] | None) -> Plugin | None:
        if self.checked is not None:
            first, second = (self.checked.enter(callee, types) for _ in range(2))
            if not same_plugin(first, second):
                self.wavering.append((callee, types, first, second))
        return self

    def before_inference(self, ir: IR) -> None:
        self.calls["before_inference", ir.name] = Counter(map(_target, ir.calls()))

    def inline(self, call: Call) -> bool | None:
        if call.inlined:
            self.inlined.append(call)
        return None

    def after_inference(self, ir: IR) -> None:
        calls = ir.calls()
        self.calls["after_inference", ir.name] = Counter(map(_target, calls))
        types = {call.result.name: repr(call.result_type) for call in calls}
        self.types[ir.name] = {**types, "return": repr(ir.result_type)}

    def after_codegen(self, module: Any) -> None:
        self._note("after_codegen", module)

    def before_optimisation(self, module: Any) -> None:
        self._note("before_optimisation", module)

    def after_optimisation(self, module: Any) -> None:
        self._note("after_optimisation", module)

    def _note(self, stage: str, module: Any) -> None:
        self.modules.setdefault(stage, Counter())[str(module)] += 1


class CountsCalls(Plugin):
    """Counts the calls that interpreted code makes: those that get through the plugins after it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any]:
        name, counts = _shown(callee), self.counts

        def counted(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return run(*args, **kwargs)

        return counted


def same_plugin(one: Plugin | None, other: Plugin | None) -> bool:
    """Whether two answers of ``enter`` are the same to caches of code."""
    if one is None or other is None:
        return one is other
    return identity(one) == identity(other)


def _target(call: Call) -> str:
    return "unknown" if call.target is UNKNOWN else _shown(call.target)


def _shown(target: Any) -> str:
    module = getattr(target, "__module__", None) or ""
    name = getattr(target, "__qualname__", None) or re.sub(r" at 0x\w+", "", repr(target))
    return f"{module}.{name}"

"""``pytest --overlay package.module:ctx``: a test suite under a context."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import unittest
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from overlay.contexts.context import Context
from overlay.contexts.report import Report
from overlay.core.outline import Rows
from overlay.core.short_repr import counted
from overlay.tools.named import named_context
from overlay.tools.terminal import drawn, find_modules_in_working_folder, told

__all__ = ["OverlayPlugin", "under"]

# Methods of a test case that unittest calls besides the test itself.
_CASE_METHODS = ("setUp", "tearDown", "asyncSetUp", "asyncTearDown")
# Name prefixes of pytest's own fixtures that only call setup_method, setUpClass and the like.
_XUNIT = ("_xunit_", "_unittest_")
_SENT = "overlay_report"


def under(context: Context, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` run in ``context``, wrapped in a function of the same kind, as pytest and its
    plugins expect."""

    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return await context(function, *args, **kwargs)

    async def async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        __tracebackhide__ = True
        async with contextlib.aclosing(context(function, *args, **kwargs)) as made:
            async for item in made:
                yield item

    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        __tracebackhide__ = True
        return (yield from context(function, *args, **kwargs))

    def plain(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return context(function, *args, **kwargs)

    wrapper: Callable[..., Any] = plain
    if inspect.iscoroutinefunction(function):
        wrapper = coroutine
    elif inspect.isasyncgenfunction(function):
        wrapper = async_generator
    elif inspect.isgeneratorfunction(function):
        wrapper = generator
    return functools.wraps(function)(wrapper)


class OverlayPlugin:
    """Runs test functions, unittest's test cases, doctests and the test suite's own fixtures under
    a context, and prints its ``ctx.report()``."""

    def __init__(self, config: pytest.Config, name: str) -> None:
        self.name = name
        self.config = config
        find_modules_in_working_folder()
        try:
            self.context = named_context(name)
        except Exception as error:  # of the module that is named, too
            raise pytest.UsageError(f"--overlay: {told(error)}") from error
        self._of_plugins: set[str] | None = None
        # reports of the workers of pytest-xdist: shown method -> number of calls, or None
        self._hits: dict[str, int | None] = {}
        self._left: Counter[str] = Counter()
        self._methods: list[str] | None = None

    # ---- tests ----

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run the test, but not pytest itself, in the context."""
        _hide_our_frames()
        with contextlib.ExitStack() as changes:
            if isinstance(item, pytest.Function):
                self._replace(changes, item, "obj")
                case = item.instance
                if isinstance(case, unittest.TestCase) and inspect.iscoroutinefunction(item.obj):
                    self._replace(changes, case, item.name)  # unittest looks it up itself
            elif isinstance(item, pytest.DoctestItem):
                self._replace(changes, item.runner, "run")
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run unittest's ``setUp`` and ``tearDown`` in the context, too."""
        result = yield
        case = getattr(item, "instance", None)
        if isinstance(case, unittest.TestCase):
            for name in _CASE_METHODS:
                if hasattr(case, name):
                    setattr(case, name, under(self.context, getattr(case, name)))
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Run fixtures of the test suite, but not those of plugins, in the context."""
        with contextlib.ExitStack() as changes:
            if fixturedef.argname.startswith(_XUNIT) or not self._is_of_plugin(fixturedef.func):
                self._replace(changes, fixturedef, "func")
            return (yield)

    def _replace(self, changes: contextlib.ExitStack, holder: Any, name: str) -> None:
        """Replace a function by one that runs in the context, until ``changes`` is closed."""
        own, function = name in vars(holder), getattr(holder, name)
        setattr(holder, name, under(self.context, function))
        if own or name not in vars(holder):
            changes.callback(setattr, holder, name, function)
        else:
            changes.callback(delattr, holder, name)

    def _is_of_plugin(self, function: Callable[..., Any]) -> bool:
        if self._of_plugins is None:
            known = (plugin for plugin, _ in self.config.pluginmanager.list_plugin_distinfo())
            names = {str(getattr(plugin, "__name__", "")).partition(".")[0] for plugin in known}
            self._of_plugins = {"_pytest", "pytest"} | names - {""}
        return function.__module__.partition(".")[0] in self._of_plugins

    # ---- the report ----

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the report of a pytest-xdist worker to the controller."""
        sent = getattr(session.config, "workeroutput", None)
        if sent is not None:
            sent[_SENT] = _packed(self.context.report())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Merge the report of a pytest-xdist worker."""
        packed = getattr(node, "workeroutput", {}).get(_SENT)
        if packed is not None:
            self._join(packed)

    def _join(self, packed: dict[str, Any]) -> None:
        for shown, calls in packed["hits"].items():
            before = self._hits.get(shown)
            self._hits[shown] = calls if calls is None or before is None else before + calls
        self._left.update(packed["left"])
        self._methods = packed["methods"]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the report."""
        if self._methods is None:
            self._join(_packed(self.context.report()))
        methods = self._methods or []
        terminalreporter.section(f"overlay {self.name}")
        rows = [
            ("hit", shown, "" if calls is None else counted(calls, "call"))
            for shown, calls in self._hits.items()
        ]
        rows += [("never hit", shown, "") for shown in methods if shown not in self._hits]
        rows += [
            ("left the context", place, counted(times, "time"))
            for place, times in self._left.most_common()
        ]
        if rows:
            width = terminalreporter._tw.fullwidth if terminalreporter.isatty else None
            table = Rows("", ("", "method", "calls"), tuple(rows))
            terminalreporter.write_line(drawn(table, width, colours=terminalreporter.hasmarkup))
        hit = sum(shown in self._hits for shown in methods)
        terminalreporter.write_line(f"{hit} of {counted(len(methods), 'method')} hit")


def _packed(report: Report) -> dict[str, Any]:
    """A report as plain values, which a worker can send."""
    hits = {str(hit.method): hit.calls for hit in report.hits}
    return {
        "hits": hits,
        "methods": [*hits, *(str(m) for m in report.never if str(m) not in hits)],
        "left": {f"{p.handed} handed to {p.to}   {p.where}": p.times for p in report.left},
    }


def _hide_our_frames() -> None:
    """Have pytest omit frames of ``overlay`` from its tracebacks."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "overlay":
            vars(module)["__tracebackhide__"] = True

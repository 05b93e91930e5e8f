"""Late binding: hooks and names of packages whose modules are imported on first use.

``Context.jit`` needs the compiled engine, ``_repr_html_`` needs the drawings. The modules that
offer these lie below those layers and load them through the hooks here; ``overlay/__init__.py``,
the only module that knows all layers, binds each hook to a loader. A module that needs a lower
one that is slow to import, such as numba, for some calls only has a hook of its own,
``LateBound(loader)``, and a package whose modules are slow to import has ``lazy_names``.

What is loaded late is imported outside of all contexts, also of installed ones: what a module
computes while it is imported is then the same, wherever it is first needed. An import that is
interrupted leaves modules half imported, so what interrupts a thread asks ``is_importing`` before.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from _thread import get_ident
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from overlay.core.in_force import current_stack, outside
from overlay.core.own_builtins import __builtins__
from overlay.core.public_names import completes

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
    from overlay.compiled.failures import Failure
    from overlay.compiled.world import World
    from overlay.contexts.context import Context
    from overlay.contexts.stack import Stack
    from overlay.core.dispatch import MethodChain
    from overlay.inspect.explanation import Explanation
    from overlay.ir import IR
    from overlay.python.interception import InterceptingEngine

__all__ = [
    "LateBound",
    "can_intercept",
    "compiled_context",
    "compiled_method",
    "drawing",
    "explain",
    "failure_in",
    "is_importing",
    "is_kernel",
    "lazy_names",
    "misses_methods",
    "python_engine",
    "read_ir",
]


_importing: dict[int, int] = {}  # by thread: how many loaders run inside one another


def is_importing(thread: int) -> bool:
    """Whether a thread, by its identifier, runs a loader, and is not to be interrupted."""
    return thread in _importing


def _imported[T](load: Callable[[], T]) -> T:
    """The result of a function that imports, called outside of all contexts."""
    thread = get_ident()
    depth = _importing.get(thread, 0)
    _importing[thread] = depth + 1
    try:
        return _imported_outside(load)
    finally:
        if depth:
            _importing[thread] = depth
        else:
            del _importing[thread]


def _imported_outside[T](load: Callable[[], T]) -> T:
    """The result of a function that imports. Targets in the modules that it imports are found at
    once, as they are after an import statement.
    """
    stack = current_stack()
    if stack is None:
        return load()
    try:
        return outside(load)
    finally:
        engine: InterceptingEngine | None = vars(stack).get("python")
        if engine is not None:
            engine.settle()


class LateBound[T]:
    """Hook for an object whose modules are imported on first use: ``load()`` returns it. The loader
    runs once, or once in each thread of those that ask at the same time for the first time; it is
    given here or, by a higher layer, to ``bind``.
    """

    load: Callable[[], T]

    def __init__(self, load: Callable[[], T] | None = None) -> None:
        if load is not None:
            self.bind(load)

    def bind(self, load: Callable[[], T]) -> Callable[[], T]:
        """Decorator: this function is the loader."""

        def first() -> T:
            try:
                found = _imported(load)
            except BaseException:
                self.load = first  # what was found while this import lasted is not to be kept
                raise
            self.load = lambda: found
            return found

        self.load = first
        return load


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]], *, modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names are imported on first access.

    homes: the names by the modules, below the package, that have them. The same imports stand under
    ``if TYPE_CHECKING:`` for type checkers. Modules of the package that nothing has imported yet
    are attributes, too. No name may be that of a module: an import of the module would take its
    place. modules: the public ones, which tab completion shows with the names of ``__all__``.
    """
    module = sys.modules[package]
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names}

    def found(name: str) -> Any:
        home = home_of.get(name)
        if home is not None:
            value = vars(module)[name] = getattr(importlib.import_module(home), name)
            return value
        path = f"{package}.{name}"
        is_module = name.isidentifier() and not name.startswith("_")
        if not is_module or importlib.util.find_spec(path) is None:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=module
            )
        return importlib.import_module(path)

    shown = completes((*vars(module).get("__all__", ()), *modules))
    return lambda name: _imported(lambda: found(name)), shown


class _Explain(Protocol):
    def __call__(
        self, context: Context, function: Callable[..., Any], *types: Any, depth: int | None = None
    ) -> Explanation: ...


# the Python engine of a stack, and whether this Python has one
python_engine: LateBound[Callable[[Stack], InterceptingEngine]] = LateBound()
can_intercept: LateBound[Callable[[], bool]] = LateBound()
# the compiled engine; loading it raises NotCompilable where it cannot work
compiled_context: LateBound[type[CompiledContext]] = LateBound()
is_kernel: LateBound[Callable[[Any], bool]] = LateBound()
failure_in: LateBound[Callable[[str], Failure | None]] = LateBound()
misses_methods: LateBound[Callable[[World, Any, tuple[Any, ...]], bool]] = LateBound()
compiled_method: LateBound[Callable[[Any, MethodChain], Any]] = LateBound()
# inspection
explain: LateBound[_Explain] = LateBound()
drawing: LateBound[Callable[[Any], str]] = LateBound()
read_ir: LateBound[Callable[[Callable[..., Any], tuple[Any, ...]], IR]] = LateBound()

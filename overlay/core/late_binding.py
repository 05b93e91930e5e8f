"""Late binding: hooks through which lower modules use higher layers, imported on first use.

``Context.jit`` needs the compiled engine, ``_repr_html_`` needs the drawings. The modules that
offer these lie below those layers and load them through the hooks here; ``overlay/__init__.py``,
the only module that knows all layers, binds each hook to a loader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
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
    "is_kernel",
    "python_engine",
    "read_ir",
]


class LateBound[T]:
    """Hook for an object of a higher layer: ``load()`` returns it, and imports the layer if need
    be.
    """

    load: Callable[[], T]

    def bind(self, load: Callable[[], T]) -> Callable[[], T]:
        """Decorator: this function is the loader."""
        self.load = load
        return load


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
compiled_method: LateBound[Callable[[Any, MethodChain], Any]] = LateBound()
# inspection
explain: LateBound[_Explain] = LateBound()
drawing: LateBound[Callable[[Any], str]] = LateBound()
read_ir: LateBound[Callable[[Callable[..., Any], tuple[Any, ...]], IR]] = LateBound()

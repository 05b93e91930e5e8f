"""What numba made, as the Python engine sees it: with no need to know numba's internals."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from overlay.core import late_binding
from overlay.core.errors import NotCompilable, OverlayWarning
from overlay.core.location import location_of, name_of
from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.target import module_of

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

__all__ = [
    "Compiled",
    "can_compile",
    "compiled_classes",
    "give_options",
    "is_dispatcher",
    "is_kernel",
    "own_options",
    "without_compiling",
]

_OPTIONS = "__overlay_options__"


def give_options(function: Any, **options: Any) -> None:
    """Have a Python function compiled with these of numba's options, whoever calls it, as one that
    ``@njit`` has made is."""
    setattr(function, _OPTIONS, options)


def own_options(function: Any) -> dict[str, Any]:
    """The options that a Python function was given."""
    return getattr(function, "__dict__", {}).get(_OPTIONS, {})


class Compiled(Protocol[P, R_co]):
    """What ``Context.jit`` gives: the function, compiled, and what there is to know of it. It is a
    numba dispatcher, so that numba's own functions for looking at code work on it, too."""

    py_func: Any
    functions_compiled: int

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def barriers(self) -> list[BarrierInfo]:
        """What calls in contexts that only the running program knows have done so far."""
        ...

    def recompile(self) -> None:
        """Compile again all that was compiled."""
        ...

    @property
    def stats(self) -> Any:
        """What was read from disk."""
        ...

    def inspect_llvm(self, signature: Any = None) -> Any:
        """The LLVM code."""
        ...

    def inspect_asm(self, signature: Any = None) -> Any:
        """The machine code."""
        ...


def is_dispatcher(value: Any) -> bool:
    """Whether it is a function compiled by numba (``@njit``)."""
    if not _is_numbas(value):
        return False
    from numba.extending import is_jitted

    return is_jitted(value)


def is_kernel(value: Any) -> bool:
    """Whether it is what numba's ``@vectorize`` or ``@guvectorize`` made, to be compiled anew."""
    if not _is_numbas(value) or not can_compile():
        return False
    return late_binding.is_kernel.load()(value)


def compiled_classes() -> tuple[type, ...]:
    """The classes of which the objects are functions compiled by numba, but for kernels."""
    import numba

    return (type(numba.njit(_nothing)),)


def _nothing(x: Any) -> Any:
    return x


@functools.cache
def can_compile() -> bool:
    """Whether the compiled engine works with the numba that is installed."""
    try:
        late_binding.compiled_context.load()
    except NotCompilable:
        return False
    return True


def without_compiling(dispatcher: Any) -> Any:
    """The Python function to interpret in place of one compiled by numba, for want of a numba
    whose internals are known; the user is warned.

    Raises NotCompilable for one that declares types, by which its calls are converted.
    """
    function = dispatcher.py_func
    if not dispatcher._can_compile or dispatcher.locals:
        raise NotCompilable(
            f"{name_of(function)} declares types, by which compiled code converts, and cannot be "
            "compiled in a context: the internals of the numba that is installed are not known",
            where=location_of(function),
            help="install a version of numba that ctx.jit works with",
        )
    warnings.warn(
        f"{name_of(function)} is interpreted in a context, and not compiled: the internals of "
        "the numba that is installed are not known",
        OverlayWarning,
        stacklevel=3,
    )
    return function


def _is_numbas(value: Any) -> bool:
    # by its class: isinstance would run code of the value
    if "numba" not in sys.modules:
        return False
    modules = map(module_of, type(value).__mro__)
    return any(type(module) is str and module.startswith("numba.") for module in modules)

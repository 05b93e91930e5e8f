"""Functions made by numba, as the Python engine sees them, without numba's internals."""

from __future__ import annotations

import functools
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from overlay.core import late_binding
from overlay.core.errors import NotCompilable, OverlayWarning
from overlay.core.location import RULES, location_of, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.target import module_of

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo
    from overlay.contexts.context import Context

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

__all__ = [
    "Compiled",
    "can_compile",
    "compiled_classes",
    "converts",
    "derive_from",
    "give_options",
    "is_dispatcher",
    "is_kernel",
    "is_of_numba",
    "is_rule",
    "is_sealed",
    "mark_rule",
    "misses_methods",
    "own_options",
    "seal",
    "sources_of",
    "without_compiling",
]

_NUMBERS = re.compile(r"(u?int|float|complex)\d+|bool(ean)?")
_OPTIONS = "__overlay_options__"
_SOURCES = "__overlay_sources__"
_TARGETS = "__overlay_targets__"
_SEALED = "__overlay_sealed__"
_RULE = "__overlay_rule__"


def give_options(function: Any, **options: Any) -> None:
    """Set the numba options with which a Python function is compiled, whoever calls it, as
    ``@njit`` does for its function.
    """
    setattr(function, _OPTIONS, options)


def own_options(function: Any) -> dict[str, Any]:
    """The options that a Python function was given."""
    return getattr(function, "__dict__", {}).get(_OPTIONS, {})


def derive_from(function: Any, sources: Iterable[Any], targets: Iterable[Any] = ()) -> None:
    """Declare that a generated function was made from these functions, as they are now, and from
    the methods that they resolve to in the present context.

    The compiled code of the function is out of date once one of the sources would read something
    else, or the methods of one of the targets change. It is used in no other context.
    """
    setattr(function, _SOURCES, tuple(sources))
    setattr(function, _TARGETS, tuple(targets))


def sources_of(function: Any) -> tuple[Any, ...]:
    """The functions that a generated function was made from."""
    return getattr(function, "__dict__", {}).get(_SOURCES, ())


def targets_of(function: Any) -> tuple[Any, ...]:
    """The targets whose methods a generated function was made from."""
    return getattr(function, "__dict__", {}).get(_TARGETS, ())


def seal[F: Callable[..., Any]](function: F) -> F:
    """Declare that a function of the library is never changed, and its globals are never rebound.
    Compiled code that contains it does not check for such changes before each call.
    """
    setattr(function, _SEALED, getattr(function, "__code__", None))
    return function


def is_sealed(function: Any) -> bool:
    """Whether a function is never changed, and its globals are never rebound. A wrapper that has
    taken over its attributes, as ``functools.wraps`` does, is another function."""
    code = getattr(function, "__dict__", {}).get(_SEALED)
    return code is not None and code is getattr(function, "__code__", None)


def mark_rule[F: Callable[..., Any]](function: F, *, is_rule: bool = True) -> F:
    """Declare that a function is a rule of an interpretation, whose body compiler plugins do not
    edit; or, of one of this library that calls the program's functions, that it is none."""
    setattr(function, _RULE, is_rule)
    return function


def is_rule(function: Any) -> bool:
    """Whether a function is a rule of an interpretation, which computes with unmodified functions:
    declared as one, or in the catalogue, or of derivatives, intervals or batches."""
    declared = getattr(function, "__dict__", {}).get(_RULE)
    if declared is not None:
        return declared
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(RULES)


class Compiled(Protocol[P, R_co]):
    """Compiled function that ``Context.jit`` returns, with its statistics. It is a numba
    dispatcher, so numba's own inspection functions accept it, too.

    Examples
    --------
    >>> from overlay import Context
    >>> hot = Context().jit(lambda x: x + 1)
    >>> hot(1)
    2
    >>> len(hot.inspect_llvm())
    1
    """

    py_func: Any
    functions_compiled: int

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def barriers(self) -> list[BarrierInfo]:
        """Statistics of the calls so far in contexts that are only known at run time."""
        ...

    def recompile(self) -> None:
        """Compile again all signatures that were compiled."""
        ...

    @property
    def stats(self) -> Any:
        """Hits and misses of the disk cache."""
        ...

    def inspect_llvm(self, signature: Any = None) -> Any:
        """The LLVM code of each signature, or of one."""
        ...

    def inspect_asm(self, signature: Any = None) -> Any:
        """The machine code of each signature, or of one."""
        ...


def is_dispatcher(value: Any) -> bool:
    """Whether a value is a function compiled by numba (``@njit``)."""
    if not is_of_numba(value):
        return False
    from numba.extending import is_jitted

    return is_jitted(value)


def is_kernel(value: Any) -> bool:
    """Whether a value was made by numba's ``@vectorize`` or ``@guvectorize`` and can be compiled
    again.
    """
    if not is_of_numba(value) or not can_compile():
        return False
    return late_binding.is_kernel.load()(value)


def misses_methods(context: Context, value: Any, args: tuple[Any, ...]) -> bool:
    """Whether machine code that numba made of a ``@cfunc`` or ``@stencil`` function, called with
    these arguments, may miss a method of a context."""
    if not can_compile():
        return True
    return late_binding.misses_methods.load()(context.compiled.world({}), value, args)


def converts(dispatcher: Any, args: Sequence[Any]) -> bool:
    """Whether an ``@njit`` function declares types by which it may convert these arguments, its
    result or variables to other numbers. Doubles are numbers as they are."""
    if dispatcher.locals:
        return True
    return not dispatcher._can_compile and not any(
        len(declared.args) == len(args)
        and all(map(_keeps, declared.args, args))
        and _keeps(declared.return_type, None)
        for declared in dispatcher.nopython_signatures
    )


def _keeps(declared: Any, value: Any) -> bool:
    """Whether conversion to a declared type keeps a value as a number."""
    name = str(declared)
    # .value: of a default, and of an argument that is known before
    is_whole = type(getattr(value, "value", value)).__name__ in ("int", "int64")
    return (
        not _NUMBERS.fullmatch(name)
        or name in ("float64", "complex128")
        or (is_whole and name == "int64")
    )


def compiled_classes() -> tuple[type, ...]:
    """The classes of functions compiled by numba, kernels excepted."""
    import numba

    return (type(numba.njit(_nothing)),)


def _nothing(x: Any) -> Any:
    return x


@functools.cache
def can_compile() -> bool:
    """Whether the compiled engine works with the installed numba."""
    try:
        late_binding.compiled_context.load()
    except NotCompilable:
        return False
    return True


def without_compiling(dispatcher: Any) -> Any:
    """The Python function of a numba dispatcher, to be interpreted because the installed numba is
    unsupported; the user is warned.

    Raises NotCompilable for a dispatcher with declared types, since these convert arguments.
    """
    function = dispatcher.py_func
    if not dispatcher._can_compile or dispatcher.locals:
        raise NotCompilable(
            f"{name_of(function)} declares types, to which compiled code converts, and cannot be "
            "compiled in a context: the installed numba is not supported",
            where=location_of(function),
            help="install a supported version of numba: python -m overlay doctor names them",
        )
    warnings.warn(
        f"{name_of(function)} is interpreted in a context, and not compiled: the installed numba "
        "is not supported",
        OverlayWarning,
        stacklevel=3,
    )
    return function


def is_of_numba(value: Any) -> bool:
    """Whether a value is an instance of a class of numba's."""
    # by its class: isinstance would run code of the value
    if "numba" not in sys.modules:
        return False
    modules = map(module_of, type(value).__mro__)
    return any(type(module) is str and module.startswith("numba.") for module in modules)

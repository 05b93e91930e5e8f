"""Lifting of what numba-cuda itself defines, in programs that are differentiated in kernels.

The indices of threads are whole numbers, and have no derivative; a barrier runs in the forward
pass. What exchanges numbers between threads is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, call_text, kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    Effect,
    KnownBefore,
    ReverseValue,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.kernels import local_array

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["added_at_once", "is_of_device", "kernel_call", "thread_number", "thread_place"]

NONE = KnownBefore(None)
AXES = "x", "y", "z"


def thread_number(lifter: Calling, value: Any) -> Any:
    """The operand for an object that is a number in kernels, ``cuda.laneid``; None for others."""
    if _role(lifter, value) != "number":
        return None
    return lifter.emit(Pullback(value, INT, _text(lifter, value)), [])


def thread_place(lifter: Calling, owner: Any, axis: str) -> Any:
    """The operand for a part of the place of a thread or of the shape of a launch,
    ``cuda.threadIdx.x``; None for other attributes."""
    if _role(lifter, owner) != "place" or axis not in AXES:
        return None
    return lifter.emit(Pullback((owner, axis), INT, f"{_text(lifter, owner)}.{axis}"), [])


def is_of_device(lifter: Calling, function: Any) -> bool:
    """Whether a function is one of numba-cuda's own, in a program for a kernel."""
    return _role(lifter, function) is not None


def kernel_call(
    lifter: Calling, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of a call of one of numba-cuda's own functions."""
    role = _role(lifter, function)
    if role == "local":
        return _local_array(lifter, *args, **kwargs)
    if kwargs:
        return _refuse(function)
    if role == "grid" and len(args) == 1 and args[0] in map(KnownBefore, (1, 2, 3)):
        return _of_grid(lifter, function, args[0].value)
    if role == "whole" and all(kind_of(arg) == INT for arg in args):
        text = call_text(_text(lifter, function), len(args))
        return lifter.emit(Pullback(function, INT, text), args)
    if role == "barrier" and all(isinstance(arg, KnownBefore) for arg in args):
        given = ", ".join(repr(arg.value) for arg in args)
        lifter.region.ops.append(Effect(f"{_text(lifter, function)}({given})"))
        return NONE
    if role == "sum" and len(args) == 3:
        return added_at_once(lifter, *args, name="cuda.atomic.add")
    return _refuse(function)


def added_at_once(
    lifter: Calling, array: Any, index: Any, value: Any, name: str = "atomic_add"
) -> Any:
    """The result of an atomic sum into an array that the program makes: no other thread has it."""
    memory = array.memory if isinstance(array, ReverseValue) else None
    if memory is None or not memory.is_own:
        raise Unreadable(
            f"it calls {name}, which adds to an array that it did not create",
            help="return the number, and add it outside of the function that is differentiated: "
            f"{name}(array, index, f(w, x)); add_shared_gradient adds the gradient atomically",
        )
    return lifter.enter_own(_added_in_turn, [array, index, value], {})


def _added_in_turn(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = before + value
    return before


def _of_grid(lifter: Calling, function: Any, count: int) -> Any:
    text = f"{_text(lifter, function)}({count})"
    if count == 1:
        return lifter.emit(Pullback(function, INT, text), [])
    pulled = (Pullback((function, count, k), INT, f"{text}[{k}]") for k in range(count))
    return tuple(lifter.emit(each, []) for each in pulled)


def _local_array(lifter: Calling, shape: Any, dtype: Any) -> Any:
    """A local array, as that of ``overlay.kernels``."""
    value = dtype.value if isinstance(dtype, KnownBefore) else None
    if getattr(value, "__name__", str(value)) not in ("float64", "float"):
        raise Unreadable(
            "it makes a local array of other numbers than float64",
            help="make one of float64, or pass the array as an argument",
        )
    return lifter.call(local_array, [shape], {})


_REMEDIES = {
    "cuda.shared.": "make the shared array in the kernel, and pass it, or its elements, as an "
    "argument; overlay.kernels.local_array is an array of each thread's own",
    "cuda.atomic.": "return the number, and call {name} outside of the function that is "
    "differentiated",
    "cuda.libdevice.": "call the function of math of this name, which is that of libdevice in a "
    "kernel, or add a method of partials_of({name}) to a table that is passed as rules=",
}
_OUTSIDE = "call {name} before the derivative is taken, and pass the result as an argument"
_BY_RULE = ", or add a method of partials_of({name}) to a table that is passed as rules="


def _refuse(function: Any) -> Any:
    from overlay.compiled.cuda.thread_values import name_in_cuda

    name = name_in_cuda(function)
    found = (text for start, text in _REMEDIES.items() if name.startswith(start))
    meets = "sync" in name or name.startswith("cuda.cg.")  # other threads
    remedy = next(found, _OUTSIDE if meets else _OUTSIDE + _BY_RULE)
    short = name.replace("cuda.libdevice", "libdevice")
    raise Unreadable(f"it calls {short}, which has no adjoint", help=remedy.format(name=short))


def _text(lifter: Calling, value: Any) -> str:
    """The expression for an object of numba-cuda, which only the module's name gives a type."""
    from overlay.compiled.cuda.thread_values import MODULE, name_in_cuda

    return lifter.hold(MODULE, "cuda") + name_in_cuda(value).removeprefix("cuda")


def _role(lifter: Calling, value: Any) -> str | None:
    return _roles()(value) if lifter.is_for_kernel else None


@functools.cache
def _roles() -> Callable[[Any], str | None]:
    """The function that gives the roles; none has one where numba-cuda is not installed."""
    try:
        from overlay.compiled.cuda.thread_values import role_of
    except ImportError:
        return lambda _: None
    return role_of

"""Methods that pass a stack on with work: to threads, executors and pools, and to functions that
numba compiled. Imports run outside.

They are ordinary methods in a table below the tables of each stack.
"""

from __future__ import annotations

import _thread
import gc
import sys
import threading
from contextvars import Context as Variables
from types import BuiltinFunctionType, MethodType
from typing import Any

import overlay_dispatch
from overlay import _native
from overlay.code.versions import ENTERS_INIT
from overlay.contexts.current import call_next
from overlay.contexts.report import tell_left
from overlay.contexts.stack import entered
from overlay.core import late_binding
from overlay.core.in_force import put_in_force, stack_in_force
from overlay.core.jitted import misses_methods
from overlay.core.own_builtins import __builtins__
from overlay.core.table import MethodTable
from overlay.core.target import LRU_CACHE, describe

__all__ = ["OTHERWISE", "TABLE", "carried"]

TABLE = MethodTable("carried by overlay")


def carried(function: Any) -> Any:
    """Bind a function to the stack in force; without one, return the function itself."""
    stack = stack_in_force.get()
    intercept: Any = _native.intercept
    if stack is None:
        return function
    calls = stack.calls
    if calls is not None:
        function = calls.stand_in(function)
    return intercept.Carried(function, stack, stack.key)


def imports(native: Any, args: tuple[Any, ...]) -> tuple[Any, bool]:
    """Return a callable that imports a module outside, or in the stack of the whole program; our
    own modules run outside of that, too: they compute what they hold as if there were no context.

    native: the native import function. args: what it is called with. No frame of ours stands
    between, since warnings look for the frame that imports.
    """
    intercept: Any = _native.intercept
    stack = stack_in_force.get()
    if stack is None:
        return native, False
    of_modules = None if overlay_dispatch.is_ours(args[0]) else stack.of_modules
    key = None if of_modules is None else of_modules.key
    carried = intercept.Carried(native, of_modules, key)
    return intercept.Noting(carried, None, stack.python.settle), False


def _itself(native: Any, args: tuple[Any, ...]) -> tuple[Any, bool]:
    return native, True


# Targets that are called differently in a stack; each with the function that gives the callable for
# a call of its own code, and whether the types of the arguments alone decide it.
_find_and_load: Any = vars(sys.modules["importlib._bootstrap"])["_find_and_load"]
OTHERWISE: dict[int, tuple[Any, Any]] = {id(_find_and_load): (_find_and_load, imports)}
if ENTERS_INIT:
    # new classes, which may define targets: reported in a stack or not, and created natively
    _class_made: Any = vars(object)["__init_subclass__"]
    OTHERWISE[id(_class_made)] = _class_made, _itself


# ---- threads ----------------------------------------------------------------------------------


def _starter(name: str) -> Any:
    """The builtin function that starts threads. A debugger may have replaced it by a bound method
    of its own that calls the builtin: then it is looked up among all objects."""
    found = vars(_thread)[name]
    if not isinstance(found, MethodType):
        return found
    functions = (each for each in gc.get_objects() if type(each) is BuiltinFunctionType)
    return next(each for each in functions if each.__self__ is _thread and each.__name__ == name)


def _begun(function: Any, *rest: Any, **named: Any) -> Any:
    return call_next(carried(function), *rest, **named)


TABLE.overlay(_starter("start_new_thread"))(_begun)
if hasattr(_thread, "start_joinable_thread"):
    TABLE.overlay(_starter("start_joinable_thread"))(_begun)

_flags: Any = sys.flags
if hasattr(_flags, "thread_inherit_context"):  # a thread runs in variables of its own

    @TABLE.overlay(threading.Thread.start)
    def _started(self: Any) -> Any:
        stack = stack_in_force.get()
        if getattr(self, "_context", 0) is None and not _flags.thread_inherit_context:
            self._context = Variables()
            self._context.run(put_in_force, stack)
        return call_next(self)


@TABLE.overlay("unittest.async_case:IsolatedAsyncioTestCase._setupAsyncioRunner")
def _set_up(self: Any) -> Any:
    # its context variables were copied when the tests were collected
    self._asyncioTestContext.run(put_in_force, stack_in_force.get())
    return call_next(self)


@TABLE.overlay("unittest.async_case:IsolatedAsyncioTestCase._tearDownAsyncioRunner")
def _torn_down(self: Any) -> Any:
    self._asyncioTestContext.run(put_in_force, None)
    return call_next(self)


# ---- executors: their threads serve other callers, too -----------------------------------------


def _is_of_interpreters(executor: Any) -> bool:
    module = sys.modules.get("concurrent.futures.interpreter")  # 3.14 and later
    return module is not None and isinstance(executor, module.InterpreterPoolExecutor)


@TABLE.overlay("concurrent.futures.thread:ThreadPoolExecutor.submit")
def _submitted(self: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    if not _is_of_interpreters(self):  # work for another interpreter runs without the stack
        function = carried(function)
    with entered(None):
        return call_next(self, function, *args, **kwargs)


@TABLE.overlay("concurrent.futures._base:Future.add_done_callback")
def _called_back(self: Any, function: Any) -> Any:
    return call_next(self, carried(function))


def _is_of_threads(pool: Any) -> bool:
    module = sys.modules["multiprocessing.pool"]
    return isinstance(pool, module.ThreadPool)


def _pooled(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
    return call_next(self, carried(func) if _is_of_threads(self) else func, *args, **kwargs)


for _name in ("apply_async", "_map_async", "imap", "imap_unordered"):
    TABLE.overlay(f"multiprocessing.pool:Pool.{_name}")(_pooled)


@TABLE.overlay("multiprocessing.pool:Pool._repopulate_pool_static")
def _repopulated(*args: Any) -> Any:
    with entered(None):
        return call_next(*args)


# ---- functions that cache results: each stack has its own cache --------------------------------


def _of_stack(self: Any) -> Any:
    stack = stack_in_force.get()
    with entered(None):
        return self if stack is None else stack.python.own.of(self)


@TABLE.overlay(LRU_CACHE.cache_info)
def _cache_info(self: Any) -> Any:
    return call_next(_of_stack(self))


@TABLE.overlay(LRU_CACHE.cache_clear)
def _cache_clear(self: Any) -> Any:
    call_next(_of_stack(self))
    return call_next(self)


# ---- kernels of numba: the stack's own takes the place of each ---------------------------------


def _own_kernel(self: Any) -> Any:
    """The stack's own kernel, compiled for all types that the program's has been compiled for by
    now: numpy casts arguments to these."""
    own = _of_stack(self)
    if own is self or self._frozen:
        return own
    present = own._dispatcher.overloads
    missing = [c.signature for args, c in self._dispatcher.overloads.items() if args not in present]
    for signature in missing:
        own.add(signature if own.signature else signature.args)
    if missing and own.signature:  # a kernel of @guvectorize
        own.build_ufunc()
    return own


def _kernel(name: str) -> Any:
    """The method for calls of a kernel, or of a method of it."""

    def applied(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = _own_kernel(self)
        if name == "__call__":
            # numba asks for the classes of the arguments, which the program may see as others
            default = sys.modules["numpy"].ndarray.__array_ufunc__
            for each in (*args, *kwargs.values()):
                takes = getattr(type(each), "__array_ufunc__", default)
                if takes is not default:
                    found = takes(each, own, name, *args, **kwargs)
                    if found is not NotImplemented:
                        return found
        if own is self:
            return call_next(self, *args, **kwargs)
        return getattr(own, name)(*args, **kwargs)

    return applied


def _attribute(name: str) -> Any:
    """The method for the getter of an attribute of a kernel."""

    def read(self: Any) -> Any:
        own = _own_kernel(self)
        return call_next(self) if own is self else getattr(own, name)

    return read


_DUFUNC, _GUFUNC = "numba.np.ufunc.dufunc:DUFunc", "numba.np.ufunc.gufunc:GUFunc"
TABLE.overlay(f"{_DUFUNC}.__call__")(_kernel("__call__"))
TABLE.overlay(f"{_GUFUNC}.__call__")(_kernel("__call__"))
for _name in ("accumulate", "at", "outer", "reduce", "reduceat"):
    TABLE.overlay(f"{_DUFUNC}.{_name}")(_kernel(_name))
    TABLE.overlay(f"{_GUFUNC}.{_name}.fget")(_attribute(_name))


# ---- machine code of numba that nothing takes the place of ------------------------------------


def _note_unseen(value: Any, function: Any, args: tuple[Any, ...], remedy: str) -> None:
    """Tell the stack in force, if it watches, that machine code which numba made of a function
    misses methods of the stack. args: those of the call, if it is one."""
    stack = stack_in_force.get()
    if stack is None or not stack.python.watches:
        return
    with entered(None):
        misses = misses_methods(stack.joined, value, args)
    if misses:
        name = describe(function)
        why = (
            f"{name} runs as machine code that numba compiled outside the context, and may lead to "
            "a method of the context, which it misses"
        )
        to, through = "machine code of numba", ("numba", "functools")
        tell_left(stack.records, to, name, why, remedy, through)


@TABLE.overlay("numba.stencils.stencil:StencilFunc.__call__")
def _stencil(self: Any, *args: Any, **kwargs: Any) -> Any:
    remedy = (
        "write the loop over the array in a Python or @njit function, which runs in the context"
    )
    _note_unseen(self, self.kernel_ir.func_id.func, args, remedy)
    with entered(None):
        return call_next(self, *args, **kwargs)


@TABLE.overlay("numba.core.ccallback:CFunc.address.fget")
def _address(self: Any) -> Any:  # its attributes ctypes and cffi read it once
    remedy = (
        "hand on the @cfunc object itself, or a callback of ctypes.CFUNCTYPE around its function, "
        "which runs in the context"
    )
    _note_unseen(self, self.__wrapped__, (), remedy)
    return call_next(self)


# ---- calls that run outside -------------------------------------------------------------------


def _compiled(self: Any, *args: Any, **kwargs: Any) -> Any:
    with entered(None):
        return call_next(self, *args, **kwargs)


for _name in ("_compile_for_args", "compile", "typeof_pyval"):
    TABLE.overlay(f"numba.core.dispatcher:Dispatcher.{_name}")(_compiled)


def _compiled_kernel(self: Any, *args: Any, **kwargs: Any) -> Any:
    with entered(None):
        try:
            return call_next(self, *args, **kwargs)
        except Exception as error:
            failure = late_binding.failure_in.load()(str(error))
            if failure is None:  # as outside
                raise
            raise failure.raised() from failure.error.__cause__


for _name in ("_compile_for_args", "add"):
    TABLE.overlay(f"{_DUFUNC}.{_name}")(_compiled_kernel)
TABLE.overlay(f"{_DUFUNC}.find_ewise_function")(_compiled)
TABLE.overlay(f"{_GUFUNC}.add")(_compiled_kernel)
for _name in (
    *("_get_ewise_dtypes", "_get_function_type", "_num_args_match"),
    *("build_ufunc", "find_ewise_function"),
):
    TABLE.overlay(f"{_GUFUNC}.{_name}")(_compiled)
for _name in (
    "core.typing.typeof:typeof",
    "np.numpy_support:ufunc_find_matching_loop",
    "np.ufunc.gufunc:_is_array_wrapper",
):
    TABLE.overlay(f"numba.{_name}")(_compiled)

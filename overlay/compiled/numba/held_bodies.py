"""Bodies that numba holds in its own forms, and that are compiled, or run, under a world.

These are implementations that another library registered with ``@overload``, and the constructors
and operators of a ``jitclass``; with ``enter_numba=True`` also numba's own implementations in
Python of builtins and numpy functions. A ``@vectorize`` or ``@guvectorize`` kernel is rebuilt
around its Python function compiled in the world. The interpreter runs the block of ``with
objmode(...)``: each call and each overlaid operator in it becomes a call through ``ctx(f, ...)``.
"""

from __future__ import annotations

import inspect
import operator
import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba import njit
from numba.core import cgutils, errors, ir, types
from numba.core.dispatcher import ObjModeLiftedWith
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.experimental.jitclass.base import imp_dtor
from numba.extending import intrinsic
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from overlay.compiled import failures
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.container_values import read_by_operator
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.ir_edits import STATEMENTS, operands_of
from overlay.compiled.numba.numba_types import StandIn, Type, numba_typing, refused
from overlay.compiled.sharing import frame
from overlay.contexts.stack import entered
from overlay.core.errors import OverlayError
from overlay.core.target import is_below, type_attribute

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.world import World

__all__ = [
    "compiled_of_kernel",
    "enter_block",
    "implementation",
    "interpreted_of_jitclass",
    "is_kernel",
    "kernel_in",
]

# ---- implementations ----------------------------------------------------------------------


def implementation(
    world: World, function: Any, args: Sequence[Type], kws: Mapping[str, Type]
) -> Any | None:
    """The Python function, as a numba dispatcher, that implements a call of one of numba's own
    functions in a world; None to use numba's. function: its type, or the callable."""
    if isinstance(function, types.ClassType):
        return constructor(function.instance_type)
    found = subscript_of(function, args) or read_by_operator(world, function, args)
    if found is not None:
        return found
    if not isinstance(function, Type):
        function = numba_typing()._lookup_global(function)
    if not isinstance(function, types.Function):
        return None
    if function.typing_key is bool and args and isinstance(args[0], types.BaseNamedTuple):
        return type_attribute(args[0].instance_class, "__bool__")
    for template in function.templates:
        if not issubclass(template, _OverloadFunctionTemplate):
            if world.enters_numba and _accepts(template, args, kws):
                return None
        elif _is_entered(world, template, args):
            found = _chosen(template, args, kws)
            if found is not None:
                return found
    return None


def _is_entered(world: World, template: Any, args: Sequence[Type]) -> bool:
    """Whether the implementations of an ``@overload`` are compiled in the world, like the
    program's."""
    if world.enters_numba:
        return True
    module = template._overload_func.__globals__.get("__name__", "")
    if module.startswith("numba.experimental.jitclass"):
        return bool(args) and isinstance(args[0], types.ClassInstanceType)
    return not f"{module}.".startswith("numba.")


def _accepts(template: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> bool:
    try:
        return template(numba_typing()).apply(tuple(args), dict(kws)) is not None
    except errors.NumbaError:
        return False


def _chosen(template: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any | None:
    """The implementation that an ``@overload`` chooses for these types, or None."""
    plain = [types.unliteral(a) for a in args], {n: types.unliteral(a) for n, a in kws.items()}
    readings = [(args, kws), plain] if template.prefer_literal else [plain, (args, kws)]
    for given, named in readings:
        try:
            found = template._overload_func(*given, **named)
        except (TypeError, errors.NumbaError):
            continue  # it rejects these types
        if inspect.isfunction(found):
            options = {k: v for k, v in template._jit_options.items() if k != "nopython"}
            return njit(**options)(found)
    return None


# ---- jitclasses ---------------------------------------------------------------------------


SUBSCRIPTS: Final = {operator.getitem: "__getitem__", operator.setitem: "__setitem__"}


def subscript_of(function: Any, args: Sequence[Type]) -> Any | None:
    """The method of a ``jitclass`` that a subscript calls, or None for anything else."""
    if not (args and isinstance(args[0], types.ClassInstanceType)):
        return None
    function = getattr(function, "typing_key", function)
    name = next((name for fn, name in SUBSCRIPTS.items() if fn is function), "")
    return args[0].jit_methods.get(name)


def interpreted_of_jitclass(function: Any, args: Sequence[Any]) -> Any:
    """The Python function that runs, for arguments that compiled code cannot handle, in place of
    one that numba generates for a ``jitclass``: a method's own. Refuses to store such arguments.
    """
    code = function.__code__
    names = (*code.co_varnames[:1], *code.co_names[:1])
    if code.co_filename != "<string>" or not _GENERATED.intersection(names):
        return function
    if code.co_name == "method":
        return args[0]._numba_type_.jit_methods[code.co_names[0]].py_func
    of = getattr(function.__globals__.get("__numba_cls_"), "class_type", None)
    raise failures.of_jitclass(type(args[0]).__name__ if of is None else of.class_name)


_GENERATED: Final = frozenset({"__numba_self_", "__numba_cls_"})


def constructor(instance: types.ClassInstanceType) -> Any:
    """A function that makes an instance of a ``jitclass``."""
    init = instance.jit_methods["__init__"]
    parameters = list(inspect.signature(init.py_func).parameters.values())[1:]
    defaults = {f"_{p.name}": p.default for p in parameters if p.default is not p.empty}
    taken = [p.name + (f"=_{p.name}" if f"_{p.name}" in defaults else "") for p in parameters]
    given = [p.name for p in parameters]
    source = (
        f"def make({', '.join(taken)}):\n"
        "    made_ = allocate_()\n"
        f"    init_({', '.join(['made_', *given])})\n"
        "    return made_\n"
    )
    namespace: dict[str, Any] = {"allocate_": _allocator(instance), "init_": init, **defaults}
    exec(compile(source, GLUE, "exec"), namespace)
    return njit(namespace["make"])


def _allocator(instance: types.ClassInstanceType) -> Any:
    """A function for compiled code that allocates an instance, without ``__init__``."""

    @intrinsic
    def allocate(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            data = context.get_data_type(instance.get_data_type())
            size = context.get_constant(types.uintp, context.get_abi_sizeof(data))
            destructor = imp_dtor(context, builder.module, instance)
            meminfo = context.nrt.meminfo_alloc_dtor(builder, size, destructor)
            memory = builder.bitcast(context.nrt.meminfo_data(builder, meminfo), data.as_pointer())
            builder.store(cgutils.get_null_value(data), memory)
            made = context.make_helper(builder, instance)
            made.meminfo = meminfo
            made.data = memory
            return made._getvalue()

        return instance(), generate

    return allocate


# ---- kernels ------------------------------------------------------------------------------


# The options that affect the results of the function that a kernel applies.
OPTIONS = ("fastmath", "boundscheck")


def is_kernel(value: Any) -> bool:
    """Whether a value is a kernel of ``@vectorize`` or ``@guvectorize`` for one core."""
    kind = type(value)  # isinstance would run code of the value
    return is_below(kind, DUFunc) or is_below(kind, GUFunc)


def compiled_of_kernel(kernel: Any) -> list[Any]:
    """The compiled code of a kernel's function."""
    found = getattr(kernel, "_dispatcher", None)
    return [] if found is None else list(found.overloads.values())


def kernel_in(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    """The kernel rebuilt with its function compiled in a world; and the dispatcher of that."""
    make = _vectorized if is_below(type(kernel), DUFunc) else _generalized
    made, inner = make(world, kernel)
    made.of_program = kernel
    return made, inner


def _vectorized(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    function, inner = _around(world, kernel._dispatcher.py_func, kernel._dispatcher.targetoptions)
    identity = "reorderable" if kernel.identity is None and kernel.reorderable else kernel.identity
    made = DUFunc(function, identity=identity)
    for code in kernel._dispatcher.overloads.values():  # numpy casts to the types that it has
        made.add(code.signature if kernel._frozen else code.signature.args)
    if kernel._frozen:
        made.disable_compile()
    return made, inner


def _generalized(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    states = kernel._reduce_states()
    states["py_func"], inner = _around(world, states["py_func"], states["targetoptions"])
    states["cache"] = False
    return GUFunc._rebuild(**states), inner


def _around(world: World, function: Any, options: Any) -> tuple[Any, InnerDispatcher]:
    """A function of these parameters that calls ``function`` in a world, and its dispatcher."""
    kept = {name: options[name] for name in OPTIONS if options.get(name)}
    inner = world.dispatcher(njit(error_model="numpy", **kept)(function))
    world.keep(inner)
    names = ", ".join(inspect.signature(function).parameters)
    namespace: dict[str, Any] = {"inner": inner, "__name__": function.__module__}
    source = f"def kernel({names}): return inner({names})"
    exec(compile(source, GLUE, "exec"), namespace)
    made = namespace["kernel"]
    made.__name__ = made.__qualname__ = function.__name__
    return made, inner


# ---- object-mode blocks -------------------------------------------------------------------


def enter_block(world: World, lifted: Any) -> None:
    """Make a block that numba has lifted for the interpreter run in the context."""
    if not is_below(type(lifted), ObjModeLiftedWith):
        return
    innermost = frame()
    if innermost is not None:
        innermost.is_private()  # the block contains the context
    if hasattr(lifted, "overlay_entered"):
        return
    lifted.overlay_entered = True
    block = _Block(world)
    for each in lifted.func_ir.blocks.values():
        each.body = [new for old in each.body for new in block.rewritten(old)]


class _Block:
    """Rewrites the statements of one lifted block."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.run = Runner(world)

    def rewritten(self, statement: Any) -> list[Any]:
        if type(statement) in STATEMENTS:
            fn, operands = STATEMENTS[type(statement)]
            return self._statement(statement, fn, operands(statement))
        if not isinstance(statement, ir.Assign):
            return [statement]
        value = statement.value
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return [self._mentioned(statement, value)]
        if not isinstance(value, ir.Expr):
            return [statement]
        if value.op == "call":
            made = self._made("run", self.run, statement)
            args = [value.func, *value.args]
            call = ir.Expr.call(made.target, args, value.kws, value.loc, vararg=value.vararg)
            return [made, ir.Assign(call, statement.target, statement.loc)]
        operands = operands_of(value)
        if operands and self.world.overlays(value.fn):
            return self._operator(statement, value.fn, operands)
        return [statement]

    def _mentioned(self, assign: Any, value: Any) -> Any:
        if not isinstance(value.value, StandIn) and not value.name.startswith("overlay."):
            return assign
        try:
            meant = in_python(value.value)
        except OverlayError as error:
            raise refused(self.world, error) from error
        return ir.Assign(ir.Const(meant, assign.loc), assign.target, assign.loc)

    def _statement(self, statement: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any]:
        if not self.world.overlays(fn) or None in operands:
            return [statement]
        unused = statement.target.scope.redefine("$overlay_unused", statement.loc)
        assign = ir.Assign(ir.Const(None, statement.loc), unused, statement.loc)
        return self._operator(assign, fn, operands)

    def _operator(self, assign: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any]:
        run, function = (self._made("run", f, assign) for f in (self.run, fn))
        args = [function.target, *operands]
        call = ir.Expr.call(run.target, args, (), assign.loc)
        return [run, function, ir.Assign(call, assign.target, assign.loc)]

    def _made(self, name: str, value: Any, assign: Any) -> Any:
        target = assign.target.scope.redefine(f"$overlay_{name}", assign.loc)
        return ir.Assign(ir.Const(value, assign.loc), target, assign.loc)


def in_python(value: Any) -> Any:
    """The interpreter's object for one that compiled code holds."""
    if isinstance(value, InnerDispatcher):
        return value.function
    if not isinstance(value, StandIn):
        return value
    return value.in_python()


class Runner:
    """Calls functions in the context of a world, and in no other."""

    def __init__(self, world: World) -> None:
        self._context = None if world.is_bare else world.engine.context

    def __call__(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        with entered(None):
            if self._context is None:
                return function(*args, **kwargs)
            return self._context(function, *args, **kwargs)

    def __reduce__(self) -> Any:
        # numba would run a block that can be pickled from a copy, in a copy of the context
        raise pickle.PicklingError("an object-mode block belongs to its context")

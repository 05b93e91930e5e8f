"""Functions and kernels that numba-cuda compiles, from programs resolved in a world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.cuda.api import get_current_device
from numba.cuda.compiler import compile_ir, kernel_fixup
from numba.cuda.core.callconv import CUDACallConv
from numba.cuda.core.sigutils import normalize_signature
from numba.cuda.descriptor import cuda_target
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.flags import CUDAFlags

from overlay.compiled import failures
from overlay.compiled.cache.canonical import Names, in_order
from overlay.compiled.cuda.cuda_attempts import end_well, on_device
from overlay.compiled.cuda.cuda_ir import in_cuda
from overlay.compiled.cuda.cuda_typing import Capability, as_compiler
from overlay.compiled.cuda.optimiser import (
    atomic_sums_as_assembly,
    optimise_with,
    refuse_plugins,
)
from overlay.compiled.numba.dispatchers import RESOLVED, InnerDispatcher
from overlay.compiled.numba.lowering import keep_calls
from overlay.compiled.numba.marked_calls import hand_marked
from overlay.compiled.numba.numba_types import Native, refused
from overlay.compiled.sharing import report_of
from overlay.core.errors import OverlayError
from overlay.core.location import name_of
from overlay.plugins.markers import MarkedFunction
from overlay.plugins.plugin import run_stage

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Entry", "KernelCode", "KernelFunction", "Launched", "compiled"]

# Returns the function of the program that a kernel runs, for arguments of these types.
Entry = Callable[[Sequence[Any]], InnerDispatcher]


class KernelFunction(NamedTuple):
    """A function of the program in compiled code. types: of its arguments, then of its result."""

    symbol: str
    function: Any
    types: tuple[Any, ...]

    @property
    def marked(self) -> MarkedFunction:
        """The function in the form that plugins get."""
        return MarkedFunction(self.function, self.types)


class KernelCode(NamedTuple):
    """A compiled kernel. symbol: its name in the code. functions: all functions in it."""

    symbol: str
    ptx: str
    llvm: tuple[str, ...]
    functions: tuple[KernelFunction, ...]


class DeviceFunction(CUDADispatcher):
    """A function on a GPU: a function of the program, resolved in a world, that numba-cuda compiles
    for the types that it is called with."""

    def __init__(self, making: Making, inner: InnerDispatcher) -> None:
        super().__init__(inner.py_func, {"device": True, "opt": True})
        self.making = making
        self.inner = inner

    def __repr__(self) -> str:
        return f"device({name_of(self.inner.original)})"  # part of symbols: equal in every process

    def compile_device(self, args: tuple[Any, ...], return_type: Any = None) -> Any:
        if args not in self.overloads:
            with self._compiling_counter:
                result = self.making.compile(self.inner, args)
            self.overloads[args] = result
            result.target_context.insert_user_function(
                result.entry_point, result.fndesc, [result.library]
            )
        return self.overloads[args]


class Making:
    """State of the compilation of one kernel. world: the one that its function is compiled in."""

    def __init__(self, world: World, capability: Capability, options: dict[str, Any]) -> None:
        self.world = world
        self.capability = capability
        self.options = options
        self.functions: list[KernelFunction] = []
        self._devices: dict[int, DeviceFunction] = {}

    def compile(self, inner: InnerDispatcher, args: tuple[Any, ...], returned: Any = None) -> Any:
        """Compile a function of the program with numba-cuda for arguments of these types."""
        of_world = tuple(map(_in_world, args))
        inner.compile(of_world)
        resolved, converted = inner.overloads[of_world].metadata[RESOLVED]
        func_ir = in_cuda(resolved.copy(), inner.py_func, self._of_program)
        context = cuda_target.target_context
        made = compile_ir(
            cuda_target.typing_context, context, func_ir, args, returned, self._flags(), converted,
            call_conv=CUDACallConv(context), abi_info={},
        )  # fmt: skip
        (module, *_) = made.library.modules
        keep_calls(module, {self._symbol(*each) for each in inner.kept_on_device})
        refuse_plugins(inner.world, self.world, self.capability)
        _show_plugins(inner, module)
        hand_marked(inner, module, self._symbol, {f.symbol: f.marked for f in self.functions})
        if inner.original is on_device:
            end_well(module, made.fndesc.llvm_func_name)
        for each in made.library.modules:
            atomic_sums_as_assembly(each, self.capability)
        made.library.finalize()
        signature = (*args, made.signature.return_type)
        symbol = made.fndesc.llvm_func_name
        self.functions.append(KernelFunction(symbol, inner.original, signature))
        return made

    def _symbol(self, callee: InnerDispatcher, args: tuple[Any, ...]) -> str:
        """The name in LLVM of a function compiled for these types."""
        for given, made in self._device(callee).overloads.items():
            if tuple(map(_in_world, given)) == args:
                return made.fndesc.llvm_func_name
        return ""

    def _flags(self) -> Any:
        flags = CUDAFlags()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.error_model = "numpy"
        flags.fastmath = bool(self.options.get("fastmath"))
        flags.nvvm_options = {"opt": 3, "fastmath": flags.fastmath}
        flags.max_registers = self.options.get("max_registers")
        flags.compute_capability = self.capability
        return flags

    def _device(self, inner: InnerDispatcher) -> DeviceFunction:
        found = self._devices.get(id(inner))
        if found is None:
            found = self._devices[id(inner)] = DeviceFunction(self, inner)
        return found

    def _of_program(self, value: Any, loc: Any) -> Any:
        """The value on the GPU for a value in resolved code."""
        if isinstance(value, InnerDispatcher):
            return self._device(value)
        return value.value if isinstance(value, Native) else value


def _in_world(ty: Any) -> Any:
    """A type in which functions are replaced by those of the world that resolved the program."""
    if isinstance(ty, types.Dispatcher) and isinstance(ty.dispatcher, DeviceFunction):
        return types.Dispatcher(ty.dispatcher.inner)
    if isinstance(ty, types.BaseTuple):
        parts = [_in_world(part) for part in ty.types]
        if parts != list(ty.types):
            if isinstance(ty, (types.StarArgTuple, types.StarArgUniTuple)):
                return types.StarArgTuple(parts)
            return types.BaseTuple.from_types(parts, getattr(ty, "instance_class", None))
    return ty


def _show_plugins(inner: InnerDispatcher, module: Any) -> None:
    """Pass the LLVM module of a function to the plugins that are active in it."""
    given = run_stage(inner.world.plugins, "after_codegen", module, inner.function)
    if given is not module:
        error = OverlayError(
            f"after_codegen of {name_of(inner.function)} returned {given!r}",
            help="edit the module in place: other code for the GPU refers to it",
        )
        raise refused(inner.world, error)


# ---- kernels ------------------------------------------------------------------------------


def compiled(
    entry: Entry, args: Sequence[Any], capability: Capability, options: dict[str, Any]
) -> KernelCode:
    """Compile the kernel whose function ``entry`` finds, for GPUs of this capability, with or
    without a GPU in this machine."""
    with global_compiler_lock, as_compiler(capability):
        making, result = _kernel(entry, tuple(args), capability, options)
        library, symbol = result.library, result.fndesc.llvm_func_name
        library._entry_name = symbol
        kernel_fixup(library.get_function(symbol), False)
        names = Names()
        llvm = [names.numbered(text) for text in in_order(library.llvm_strs, symbol)]
        library._llvm_strs = llvm  # the input of NVIDIA's compiler
        ptx = library.get_asm_str(cc=capability)
    text = "\n".join(llvm)
    functions = [f._replace(symbol=names.numbered(f.symbol)) for f in making.functions]
    there = sorted((f for f in functions if f.symbol in text), key=lambda f: text.index(f.symbol))
    return KernelCode(names.numbered(symbol), ptx, tuple(llvm), tuple(there))


def _kernel(
    entry: Entry, args: tuple[Any, ...], capability: Capability, options: dict[str, Any]
) -> tuple[Making, Any]:
    """A kernel, as numba-cuda compiles it, and the state of its compilation."""
    inner = entry(args)
    making = Making(inner.world, capability, options)
    with report_of(inner, args, "compiled for a GPU"):
        inner.compile(args)
        returned = inner.overloads[args].signature.return_type
        if returned != types.none:
            raise refused(inner.world, failures.kernel_returns(inner.original, str(returned)))
        made = making.compile(inner, args, types.void)
    optimise_with(made.library, inner.world, inner.function, capability)
    return making, made


class Launched(CUDADispatcher):
    """A kernel on the GPU of this machine, which numba-cuda launches."""

    def __init__(self, function: Any, entry: Entry, options: dict[str, Any]) -> None:
        limits = {k: v for k, v in options.items() if k == "max_registers"}
        super().__init__(function, {"opt": True, **limits})
        self.entry = entry
        self.own_options = options

    def compile(self, sig: Any) -> Any:
        args, _ = normalize_signature(sig)
        capability = get_current_device().compute_capability

        def kernel() -> Any:
            return _kernel(self.entry, tuple(args), capability, self.own_options)[1]

        with global_compiler_lock, as_compiler(capability, self.py_func, kernel):
            return super().compile(args)

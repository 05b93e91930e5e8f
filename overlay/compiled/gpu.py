"""Kernels: functions that ``Context.jit`` compiles with ``target="cuda"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled.cuda.found import cuda_target, is_simulated
from overlay.compiled.failures import refuse_options
from overlay.compiled.glue import BY_POSITION
from overlay.compiled.numba.hints import types_of_signature
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import caller, location_of, name_of
from overlay.core.table import LOCK
from overlay.kernels import CompiledFunction, CompiledKernel

if TYPE_CHECKING:
    from overlay.compiled.cuda.compiling import KernelFunction
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = ["OPTIONS", "Kernel", "SimulatedKernel", "kernel_of"]

# The options that a kernel accepts.
OPTIONS: Final = ("fastmath", "max_registers")
Capability = tuple[int, int]


class Kernel:
    """A function compiled for GPUs under a context.

    ``kernel[blocks, threads](*arguments)`` launches it as numba-cuda launches kernels; called in
    another kernel it is an ordinary function that runs in its context.
    """

    def __init__(
        self, engine: CompiledContext, function: Callable[..., Any], options: Mapping[str, Any]
    ) -> None:
        self.engine = engine
        self.function = function
        self.given = dict(options)
        # those of its functions, which numba compiles for the host first
        self.options = {k: v for k, v in options.items() if k != "max_registers"}
        self.chain = None
        self.looks_up = True  # methods of the function itself
        self.__name__ = getattr(function, "__name__", "kernel")
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._of_world: tuple[World, dict[Any, Any]] | None = None

    def __repr__(self) -> str:
        return f"<kernel {name_of(self.function)} in {self.engine.context!r}>"

    # ---- as text ----

    def compile(self, types: Any, capability: Sequence[int] | None = None) -> CompiledKernel:
        """Compile the kernel for arguments of these types and GPUs of this compute capability.

        Parameters
        ----------
        types : sequence or str
            The types of the arguments, numba's or Python's (``float``, ``int``); or a signature
            as text.
        capability : (int, int) or None
            The compute capability, such as ``(8, 0)``; None: that of the GPU of this machine.

        Returns
        -------
        CompiledKernel
            The kernel as text.

        Raises
        ------
        NotCompilable
            The code cannot run on a GPU, NVIDIA's compiler does not know the capability, or it is
            not installed.
        """
        args, given = types_of_signature(types), _capability(capability)
        world, known = self._present()
        key = args, given
        if key not in known:
            known[key] = self._compiled(world, args, given)
        return known[key]

    def ptx(self, types: Any, capability: Sequence[int] | None = None) -> str:
        """The kernel in PTX, NVIDIA's assembly; arguments and errors as in ``compile``."""
        return self.compile(types, capability).ptx

    def llvm(self, types: Any, capability: Sequence[int] | None = None) -> str:
        """The LLVM modules given to NVIDIA's compiler; arguments and errors as in ``compile``."""
        return "\n".join(self.compile(types, capability).llvm)

    def _compiled(self, world: World, args: tuple[Any, ...], given: Capability) -> CompiledKernel:
        from overlay.compiled.cuda.compiling import compiled
        from overlay.compiled.cuda.cuda_errors import explained

        with explained(self.function):
            code = compiled(self._entry_in(world), args, given, self.given)
        functions = tuple(map(_shown, code.functions))
        types = tuple(map(str, args))
        return CompiledKernel(
            self.__name__, code.symbol, types, given, code.ptx, code.llvm, functions
        )

    # ---- on a GPU ----

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        """The launcher for a number of blocks, and of threads in each; as in numba-cuda, also a
        stream and the bytes of dynamic shared memory."""

        def launch(*args: Any) -> None:
            self._launch(lambda kernel: kernel[configuration](*args))

        return launch

    def forall(self, tasks: int, *configuration: Any) -> Callable[..., None]:
        """The launcher for a number of tasks, in as many blocks as fit the GPU."""

        def launch(*args: Any) -> None:
            self._launch(lambda kernel: kernel.forall(tasks, *configuration)(*args))

        return launch

    def __call__(self, *args: Any) -> Any:
        raise OverlayError(
            f"{self.__name__} is a kernel, which is launched and not called",
            where=caller(),
            help=f"give the numbers of blocks and threads: {self.__name__}[blocks, threads](...)",
        )

    def _launch(self, launch: Callable[[Any], None]) -> None:
        from overlay.compiled.cuda.compiling import Launched
        from overlay.compiled.cuda.cuda_errors import explained
        from overlay.compiled.cuda.cuda_typing import capability_at_hand

        if capability_at_hand() is None:
            raise OverlayError(
                f"cannot launch {self.__name__}: this machine has no GPU",
                where=caller(),
                help="set NUMBA_ENABLE_CUDASIM=1 to run kernels in the interpreter, or inspect "
                f"the code: {self.__name__}.ptx(types, capability=(8, 0))",
            )
        world, known = self._present()
        if None not in known:
            known[None] = Launched(self.function, self._entry_in(world), self.given)
        with explained(self.function, launches=True):
            launch(known[None])

    # ---- compilation ----

    def recompile(self) -> None:
        """Drop all compiled code, so that the whole program is read again."""
        self.engine.recompile()

    def _present(self) -> tuple[World, dict[Any, Any]]:
        """The current world, and the code compiled in it so far."""
        with LOCK:
            if self.engine.rebound():
                self.engine.begin_anew()
        world = self.engine.world(self.options)
        if self._of_world is None or self._of_world[0] is not world:
            self._of_world = world, {}
        return self._of_world

    def _entry_in(self, world: World) -> Callable[[Sequence[Any]], Any]:
        return lambda args: world.entry(self, (BY_POSITION,) * len(args), args)


class SimulatedKernel(Kernel):
    """A kernel that the interpreter runs in numba's GPU simulator; it has no code."""

    def compile(self, types: Any, capability: Sequence[int] | None = None) -> CompiledKernel:
        raise NotCompilable(
            f"cannot compile {name_of(self.function)} for a GPU: kernels are simulated here",
            where=caller(),
            help="leave NUMBA_ENABLE_CUDASIM unset to compile; no GPU is needed for it",
        )

    def _launch(self, launch: Callable[[Any], None]) -> None:
        from overlay.compiled.cuda.simulated import simulated

        launch(simulated(self.engine.context, self.function))


def kernel_of(
    engine: CompiledContext, function: Callable[..., Any], options: Mapping[str, Any]
) -> Kernel:
    """Make the kernel of a function in a context. Raises NotCompilable for an option that kernels
    do not have, and where no compiler for kernels is installed."""
    refuse_options(function, {**options}, OPTIONS, "a GPU")
    if is_simulated():
        return SimulatedKernel(engine, function, options)
    target = cuda_target()
    return Kernel(engine.linked.on(target), target.function_of(function) or function, options)


def _shown(made: KernelFunction) -> CompiledFunction:
    where = location_of(made.function) or ""
    types = tuple(map(str, made.types))
    return CompiledFunction(made.symbol, name_of(made.function), where, types)


def _capability(given: Sequence[int] | None) -> Capability:
    from overlay.compiled.cuda.cuda_typing import capabilities, capability_at_hand, nvvm_is_there

    if not nvvm_is_there():
        raise NotCompilable(
            "cannot compile for a GPU: NVIDIA's compiler, libNVVM, is not installed",
            where=caller(),
            help="pip install 'overlay-dispatch[cuda]' brings it, or install a CUDA toolkit",
        )
    found = capability_at_hand() if given is None else given
    known = capabilities()
    if found is None:
        raise NotCompilable(
            "cannot tell which GPU to compile for: this machine has none",
            where=caller(),
            help=f"name a compute capability, such as capability={known[len(known) // 2]}",
        )
    if tuple(found) not in known:
        raise NotCompilable(
            f"cannot compile for the compute capability {found!r}, which libNVVM does not know",
            where=caller(),
            notes=[("known", ", ".join(map(str, known)))],
            help="give one of these, as two whole numbers; code for one runs on later ones too",
        )
    major, minor = found
    return major, minor

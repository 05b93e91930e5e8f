"""The stages of plugins around optimisation, in kernels; and LLVM IR as NVIDIA's compiler reads it.

NVIDIA's compiler optimises kernels, and accepts no passes. For GPUs from ``FIRST`` on it reads
LLVM IR in its present form. There the functions of a kernel are linked, optimised by numba's
LLVM, with the stages before and after, and given to NVIDIA's compiler as one module. For earlier
GPUs it reads the form of LLVM 7, which numba's LLVM cannot write.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from llvmlite import binding
from llvmlite import ir as llvm
from numba.cuda.codegen import CUDACodeLibrary

from overlay.compiled import failures
from overlay.compiled.numba.hooks import has_stage
from overlay.compiled.numba.lowering import handed_on
from overlay.compiled.numba.numba_types import refused
from overlay.plugins.plugin import stages_of

if TYPE_CHECKING:
    from overlay.compiled.cuda.cuda_typing import Capability
    from overlay.compiled.world import World

__all__ = ["atomic_sums_as_assembly", "optimise_with", "refuse_plugins"]

FIRST: Final[Capability] = (10, 0)
STAGES: Final = ("before_optimisation", "after_optimisation")
# Text that numba's LLVM writes and NVIDIA's compiler does not read: attributes of arguments,
# which only allow optimisations, and the markers of the lifetime of a function's memory.
NEWER: Final = re.compile(
    r" (?:(?:captures|initializes)\((?:[^()]|\([^()]*\))*\)|dead_on_return|nocreateundeforpoison)"
)
LIFETIMES: Final = re.compile(r"^.*@llvm\.lifetime\.(?:start|end)\..*\n", re.MULTILINE)
# numba-cuda reads groups of attributes that are plain words; the others only allow optimisations.
GROUPS: Final = re.compile(r"^(attributes #[0-9]+ = \{)(.*)\}$", re.MULTILINE)
# The atomic sums of floats that numba-cuda calls, with the PTX of each. libNVVM reads them for GPUs
# from FIRST on as ``atomicrmw fadd``, which it then refuses.
SUMS: Final = {
    "llvm.nvvm.atomic.load.add.f32.p0f32": ("atom.add.f32 $0, [$1], $2;", "=f,l,f,~{memory}"),
    "llvm.nvvm.atomic.load.add.f64.p0f64": ("atom.add.f64 $0, [$1], $2;", "=d,l,d,~{memory}"),
}
# Each module states the version of its form; the linked module has to state it once.
VERSIONS: Final = re.compile(r"^(!nvvmir\.version = !\{![0-9]+)[^}]*", re.MULTILINE)


def refuse_plugins(world: World, entry: World, capability: Capability) -> None:
    """Raise NotCompilable where a plugin that is active in a function has a stage that code for
    these GPUs does not pass through, or that the kernel does not have: the kernel and the functions
    that it calls are one module."""
    for plugin in world.plugins:
        for stage in STAGES:
            if stage in stages_of(plugin) and (capability < FIRST or plugin not in entry.plugins):
                raise refused(world, failures.no_stage_on_device(plugin, stage, FIRST))


def atomic_sums_as_assembly(module: Any, capability: Capability) -> None:
    """Write the atomic sums of floats in a module as PTX, for GPUs for which libNVVM refuses the
    intrinsics."""
    found = SUMS.keys() & module.globals.keys() if capability >= FIRST else ()
    for name in found:
        intrinsic = module.globals.pop(name)
        text, constraints = SUMS[name]
        written = llvm.InlineAsm(intrinsic.function_type, text, constraints, side_effect=True)
        for function in module.functions:
            for block in function.blocks:
                for call in block.instructions:
                    if getattr(call, "callee", None) is intrinsic:
                        call.callee = written


class _Optimised(CUDACodeLibrary):
    """Code of a kernel that is optimised before NVIDIA's compiler is given it."""

    optimise: Callable[[Sequence[str]], str]

    @property
    def llvm_strs(self) -> list[str]:
        if self._llvm_strs is None:
            self._llvm_strs = [self.optimise([str(module) for module in self.modules])]
        return self._llvm_strs


def optimise_with(library: Any, world: World, function: Any, capability: Capability) -> None:
    """Pass the code of a kernel through the stages of the plugins that are active in it. It is
    done when numba-cuda asks for the code: it marks the kernel before that.
    """
    if any(has_stage(world, stage) for stage in STAGES):
        library.__class__ = _Optimised
        library.optimise = functools.partial(_optimised, world, function, capability)


def _optimised(world: World, function: Any, capability: Capability, texts: Sequence[str]) -> str:
    """The code of a kernel as one optimised module, from its own module and those it calls."""
    module, *others = map(binding.parse_assembly, texts)
    for other in others:
        module.link_in(other)
    module = handed_on(world, function, module, STAGES[0])
    machine = _machine(capability)
    # NVIDIA's compiler decides on vectors by itself
    tuning = binding.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    module = handed_on(world, function, module, STAGES[1])
    return _as_nvidia_reads(str(module))


def _as_nvidia_reads(text: str) -> str:
    text = LIFETIMES.sub("", NEWER.sub("", text))
    return VERSIONS.sub(r"\1", GROUPS.sub(_words_alone, text))


def _words_alone(group: re.Match[str]) -> str:
    words = " ".join(word for word in group[2].split() if word.isalpha())
    return f"{group[1]} {words or 'noprofile'} }}"


@functools.cache
def _machine(capability: Capability) -> Any:
    """LLVM's description of these GPUs."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple("nvptx64-nvidia-cuda")
    return target.create_target_machine(cpu="sm_{}{}".format(*capability), opt=2)

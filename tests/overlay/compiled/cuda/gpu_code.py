"""Runs the code of kernels on the CPU, one thread after the other: what NVIDIA's compiler is given
is LLVM IR, which becomes machine code of any processor."""

import ctypes
import ctypes.util
import math
import re

from llvmlite import binding

LIBDEVICE = re.compile(r"\b__nv_(\w+)\b")
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
OF_DOUBLE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double)
TESTS = {
    "isnand": OF_DOUBLE(math.isnan),
    "isinfd": OF_DOUBLE(math.isinf),
    "isfinited": OF_DOUBLE(math.isfinite),
}
REGISTERS = "tid", "ntid", "ctaid", "nctaid"
# An atomic sum as it is written for GPUs from compute capability 10.0 on.
SUM = re.compile(r'call (\w+) asm sideeffect "atom\.add[^(]*\((\S+ \S+), (\w+ \S+)\)')
BARRIER = re.compile(r'^ *call void @"llvm\.nvvm\.barrier.*$', re.MULTILINE)
TARGET = re.compile(r"^target (triple|datalayout) = .*$", re.MULTILINE)


def run(kernel, blocks, threads, *args):
    """Run a compiled kernel as a launch would, where barriers do nothing: arguments are contiguous
    one-dimensional arrays, floats and ints."""
    values = {name: ctypes.c_int32() for name in REGISTERS}
    readers = {
        name: ctypes.CFUNCTYPE(ctypes.c_int32)(lambda value=value: value.value)
        for name, value in values.items()
    }
    for name, reader in readers.items():
        binding.add_symbol(f"read_{name}", ctypes.cast(reader, ctypes.c_void_p).value)
    engine = _engine(kernel)
    given = [value for arg in args for value in _passed(arg)]
    address = engine.get_function_address(kernel.symbol)
    function = ctypes.CFUNCTYPE(None, *map(type, given))(address)
    values["ntid"].value, values["nctaid"].value = threads, blocks
    for values["ctaid"].value in range(blocks):
        for values["tid"].value in range(threads):
            function(*given)


def _engine(kernel):
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    first, *others = (binding.parse_assembly(_for_cpu(text)) for text in kernel.llvm)
    for other in others:
        first.link_in(other)
    first.verify()
    machine = binding.Target.from_default_triple().create_target_machine(opt=1)
    engine = binding.create_mcjit_compiler(first, machine)
    engine.finalize_object()
    return engine


def _for_cpu(text):
    """The same module for this processor, with the C library's functions in libdevice's place."""
    for name in LIBDEVICE.findall(text):
        function = TESTS[name] if name in TESTS else getattr(LIBM, name)
        binding.add_symbol(f"__nv_{name}", ctypes.cast(function, ctypes.c_void_p).value)
    text = text.replace("define ptx_kernel ", "define ")
    text = BARRIER.sub("", text)
    text = SUM.sub(r"atomicrmw fadd \2, \3 monotonic", text)
    return TARGET.sub("", re.sub(r"llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x", r"read_\1", text))


def _passed(arg):
    """An argument as a kernel takes it."""
    if isinstance(arg, float):
        return (ctypes.c_double(arg),)
    if isinstance(arg, int):
        return (ctypes.c_int64(arg),)
    data = ctypes.c_void_p(arg.ctypes.data)
    nowhere = ctypes.c_void_p(None)
    size, itemsize = ctypes.c_int64(arg.size), ctypes.c_int64(arg.itemsize)
    return nowhere, nowhere, size, itemsize, data, size, itemsize

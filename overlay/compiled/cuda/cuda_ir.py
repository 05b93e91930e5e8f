"""Conversion of a function's IR from numba's classes to numba-cuda's.

numba-cuda brings a copy of numba's compiler, whose classes have the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from numba.core import ir as core
from numba.core.ir_utils import build_definitions
from numba.cuda.core import ir
from numba.cuda.core.bytecode import FunctionIdentity

__all__ = ["in_cuda"]

# Classes whose attribute ``value`` is a value of the program.
HOLDS_VALUE: Final = (core.Const, core.Global, core.FreeVar)
# Classes without an effect: dropped if unused.
MENTIONS: Final = (core.Global, core.FreeVar)


def in_cuda(func_ir: Any, function: Any, of_program: Callable[[Any, Any], Any]) -> Any:
    """Convert numba's IR of a function whose calls are resolved to numba-cuda's.

    function: its identity to numba-cuda. of_program: maps a value in the code, and its line, to the
    value on the GPU.
    """
    _leave_out_unused(func_ir)
    copy = _Copy(of_program)
    blocks = {label: copy.of(block) for label, block in func_ir.blocks.items()}
    made = ir.FunctionIR(
        blocks,
        func_ir.is_generator,
        FunctionIdentity.from_function(function),
        copy.of(func_ir.loc),
        {},
        func_ir.arg_count,
        func_ir.arg_names,
    )
    made._definitions = copy.of(build_definitions(func_ir.blocks))
    return made


def _leave_out_unused(func_ir: Any) -> None:
    """Remove unused values: callees that were replaced by their resolutions."""
    while True:
        used = {v.name for block in func_ir.blocks.values() for v in _read(block)}
        found = False
        for block in func_ir.blocks.values():
            body = [each for each in block.body if not _is_unused(each, used)]
            found = found or len(body) < len(block.body)
            block.body = body
        if not found:
            return


def _read(block: Any) -> Iterator[Any]:
    for each in block.body:
        reader = each.value if isinstance(each, core.Assign) else each
        if isinstance(reader, core.Var):
            yield reader
        elif isinstance(reader, core.Inst):
            yield from reader.list_vars()


def _is_unused(statement: Any, used: set[str]) -> bool:
    if isinstance(statement, core.Del):
        return True
    if not isinstance(statement, core.Assign) or statement.target.name in used:
        return False
    value = statement.value
    is_attribute = isinstance(value, core.Expr) and value.op == "getattr"
    return isinstance(value, (*MENTIONS, core.Const)) or is_attribute


class _Copy:
    """Copies objects of numba's IR, each once, into numba-cuda's classes."""

    def __init__(self, of_program: Callable[[Any, Any], Any]) -> None:
        self.of_program = of_program
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in (list, tuple, set):
            return kind(map(self.of, value))
        if isinstance(value, dict):
            made = value.copy()  # a defaultdict stays one
            made.update((name, self.of(each)) for name, each in value.items())
            return made
        if value is core.UNDEFINED:
            return ir.UNDEFINED
        if kind.__module__ != core.__name__:
            return value
        known = self._made.get(id(value))
        if known is None:
            made = object.__new__(getattr(ir, kind.__name__))
            known = self._made[id(value)] = value, made  # keeps the original, and so its id
            for name, each in _attributes(value):
                setattr(made, name, self._attribute(value, name, each))
        return known[1]

    def _attribute(self, owner: Any, name: str, value: Any) -> Any:
        if name == "value" and isinstance(owner, HOLDS_VALUE):
            return self.of_program(value, owner.loc)
        return self.of(value)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    yield from vars(value).items() if hasattr(value, "__dict__") else ()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield name, getattr(value, name)

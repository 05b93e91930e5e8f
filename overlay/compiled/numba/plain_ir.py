"""The IR of functions in no context, to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import errors
from numba.core.compiler import run_frontend
from numba.core.ir_utils import build_definitions
from numba.core.registry import cpu_target
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import PreLowerStripPhis, type_inference_stage

from overlay.compiled import failures
from overlay.compiled.numba.hints import numba_type
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.contexts.context import Context
from overlay.core.errors import NotCompilable
from overlay.core.location import location_of, name_of

__all__ = ["read"]


def read(function: Any, types_: Sequence[Any]) -> NumbaIR:
    """The IR of a function as numba alone reads it."""
    plain = getattr(function, "py_func", function)
    try:
        func_ir = run_frontend(plain, inline_closures=True)
        if not types_:
            return NumbaIR(func_ir, plain)
        func_ir = reconstruct_ssa(func_ir)
        func_ir._definitions = build_definitions(func_ir.blocks)
        typing = Context().compiled.world({}).typing
        typemap, _, calltypes, _ = type_inference_stage(
            typing, cpu_target.target_context, func_ir, tuple(map(numba_type, types_)), None
        )
    except (errors.NumbaError, errors.UnsupportedBytecodeError, NotImplementedError) as error:
        raise NotCompilable(
            f"numba cannot read {name_of(plain)}",
            where=location_of(plain),
            notes=[("numba", line) for line in failures.shortened(str(error))],
            help="read a function of the Python that numba knows",
        ) from error
    func_ir = PreLowerStripPhis()._strip_phi_nodes(func_ir)
    func_ir._definitions = build_definitions(func_ir.blocks)
    return NumbaIR(func_ir, plain, typing=typing, typemap=typemap, calltypes=calltypes)

"""Kernels that are compiled again see what has changed since."""

import pytest

from overlay import Context
from tests.laws import edits

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")

NINE = "0d4022000000000000"  # the number in PTX
TYPES, AMPERE = "float64[::1], float64[::1]", (8, 0)
KINDS = [
    *(
        edits.of_class,
        edits.inherited,
        edits.static_method,
        edits.of_module,
        edits.a_global_function,
    ),
    *(edits.closure, edits.default, edits.code, edits.element_of_array, edits.method_of_generic),
    edits.method_of_table,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_edit_is_seen(kind):
    context, program, edit = made if len(made := kind()) == 3 else (Context(), *made)

    def kernel(x, out):
        out[0] = program(x[0])

    compiled = context.jit(kernel, target="cuda")
    assert NINE not in compiled.compile(TYPES, AMPERE).ptx
    edit()
    assert NINE in compiled.compile(TYPES, AMPERE).ptx

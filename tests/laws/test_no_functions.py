"""Public functions that take a function refuse an object that is not callable, at once."""

from __future__ import annotations

import functools

import pytest

import overlay.ir
from inversion import choose, contract, invert, pave, solve
from overlay import Context, MethodTable, OverlayError, nonoverlay
from overlay.analysis import check
from overlay.interpretations.autodiff import (
    checkpoint,
    derivative,
    gradient,
    hessian,
    inactive,
    jacobian,
    jvp,
    partials_of,
    rule,
    vjp,
)
from overlay.interpretations.batching import batched, sample_loop
from overlay.interpretations.intervals import rule as interval_rule
from overlay.interpretations.parallel import parallel
from overlay.interpretations.printing import silenced
from overlay.interpretations.probabilistic import condition
from primitives import Reals, relation_of

UNIT = Reals(0.0, 1.0)
CONTEXT = Context(MethodTable("empty"))
TAKERS = {
    "Context.explain": CONTEXT.explain,
    "Context.wrap": CONTEXT.wrap,
    "Context.jit": CONTEXT.jit,
    "MethodTable.overlay": MethodTable("other").overlay,
    "invert": lambda f: invert(f, float),
    "choose": lambda f: choose(f, float, known=("return",)),
    "contract": lambda f: contract(f, UNIT, returns=UNIT),
    "pave": lambda f: pave(f, UNIT, returns=UNIT),
    "solve": lambda f: solve(f, UNIT, returns=1.0),
    "check": lambda f: check(f, float),
    "ir.read": lambda f: overlay.ir.read(f, float),
    "relation_of": relation_of,
    "derivative": derivative,
    "gradient": gradient,
    "jacobian": jacobian,
    "hessian": hessian,
    "jvp": lambda f: jvp(f, (1.0,), (1.0,)),
    "vjp": lambda f: vjp(f, 1.0),
    "partials_of": partials_of,
    "nonoverlay": nonoverlay,
    "checkpoint": checkpoint,
    "inactive": inactive,
    "rule": functools.partial(rule, partials=lambda x: (1.0,)),
    "intervals.rule": lambda f: interval_rule(f, lambda a: a),
    "batched": batched,
    "sample_loop": sample_loop,
    "parallel": parallel,
    "silenced": silenced,
    "condition": lambda f: condition(f, {}),
}


@pytest.mark.parametrize(
    "value", [3, 2.5, None, [abs], object()], ids=["int", "float", "None", "list", "object"]
)
@pytest.mark.parametrize("name", TAKERS)
def test_what_is_no_function_is_refused_with_a_remedy(name, value):
    with pytest.raises(OverlayError) as caught:
        TAKERS[name](value)
    shown = "a list" if isinstance(value, list) else repr(value)  # its contents may be long
    assert shown in caught.value.asked
    assert caught.value.help

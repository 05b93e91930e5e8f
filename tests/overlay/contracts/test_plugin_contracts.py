"""The project's own plugins keep their contracts; of wrong ones each breaks one, and is caught."""

import ctypes
import itertools
import math
import operator

import pytest
from llvmlite import ir

from overlay import Context, Plugin
from overlay.contracts import BrokenContract, check_plugin
from overlay.interpretations.first_nan.in_compiled_code import ChecksFloats
from overlay.interpretations.printing import Slicer
from overlay.interpretations.printing.slicer import _SlicesFunctions, _SlicesIR
from overlay.interpretations.profiling import Profiler
from overlay.interpretations.tagging import Tagging
from overlay.interpretations.tracing import Tracer
from primitives.solver_forms import NaNForRaise


def wave(x):
    return math.sin(x) + 1.0


def line(x):
    return 2.0 * x


def says(x):
    print("x is", x)
    print("and twice that", 2 * x)
    return math.sin(x)


PROGRAMS = (wave, 0.5), (says, 3)

# ---- the project's own ----------------------------------------------------------------------

OWN = {
    "Tracer": Tracer,
    "Profiler": Profiler,
    "Tagging": Tagging,
    "ChecksFloats": lambda: ChecksFloats(True),
    "NaNForRaise": NaNForRaise,
    "slices of functions": lambda: _SlicesFunctions(Slicer()),
    "slices of IR": lambda: _SlicesIR(Slicer()),
}


@pytest.mark.parametrize("name", OWN)
def test_plugins_of_the_project_keep_their_contracts(name):
    found = check_plugin(OWN[name], *PROGRAMS)
    assert found.interpreted + found.compiled >= len(PROGRAMS)
    assert {"declarations", "runs", "deterministic", "outside"} <= set(found.contracts)


# ---- a right one, and what it declares ------------------------------------------------------


class Edits(Plugin):
    """Calls another function in place of the sine."""

    preserves = frozenset({"effects", "types"})
    target = math.sin

    def __init__(self, other=math.cos):
        self.other = other

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, self.other, *call.args)


def test_what_is_declared_and_asked_for_is_tried():
    found = check_plugin(
        Edits, *PROGRAMS, leaves=[(line, 0.5)], beside=[Slices()], commutes_with=[Slices()],
        idempotent=True, samples=False,
    )  # fmt: skip
    assert found.compiled == 3
    assert found.interpreted == 0
    assert {"effects", "types", "leaves", "composition", "commutes", "idempotent"} <= set(
        found.contracts
    )
    assert not {"values", "calls"} & set(found.contracts)


class Slices(Plugin):
    preserves = frozenset({"values", "types"})

    def before_inference(self, ir):
        for call in ir.calls(print):
            ir.delete(call)


# ---- wrong ones: what each breaks, and the options that show it -----------------------------


class ChangesValues(Edits):
    preserves = frozenset({"effects", "types", "values"})


class LosesEffects(Slices):
    preserves = frozenset({"values", "types", "effects"})


class SwapsEffects(Plugin):
    """The prints of a function are in the other order."""

    preserves = frozenset({"values", "types", "effects"})

    def before_inference(self, ir):
        calls = ir.calls(print)
        for call, other in zip(calls, [*reversed(calls)], strict=True):
            ir.replace(call, print, *other.args[:1])


class LosesCalls(Edits):
    preserves = frozenset({"calls", "effects", "types"})


class InlinesCalls(Plugin):
    def inline(self, call):
        return call.target is line


class ChangesTypes(Plugin):
    preserves = frozenset({"effects", "calls", "types"})

    def infer(self, call):
        return complex if call.target is math.sin else None


class Fails(Plugin):
    def after_inference(self, ir):
        return ir.calls()[77]


class Counts(Plugin):
    """The result depends on how many were compiled before."""

    preserves = frozenset()
    numbers = itertools.count()

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.set_result(call, float(next(self.numbers)))


class MadeEachTime(Plugin):
    def enter(self, callee, types):
        return Slices()


class TokenOfObject(Edits):
    def __init__(self):
        super().__init__()
        self.cache_token = object()


class TokenThatGrows(Edits):
    cache_token = 0

    def before_inference(self, ir):
        super().before_inference(ir)
        self.cache_token += 1


class TokenOfLess(Edits):
    """Does not say which function is called."""

    cache_token = "edits"


class KeepsPointers(Plugin):
    """Adds a pointer that lives in this process alone."""

    cache_token = "pointers"
    preserves = frozenset({"values", "effects", "types"})

    cell = ctypes.c_int64()

    def after_codegen(self, module):
        word = ir.IntType(64)
        for function in module.functions:
            if function.blocks and "wave" in function.name:
                builder = ir.IRBuilder(function.entry_basic_block)
                builder.position_at_start(function.entry_basic_block)
                kept = word(ctypes.addressof(self.cell)).inttoptr(word.as_pointer())
                builder.store(word(1), kept)


class SharesWrongly(Edits):
    shares_native_cache = True


class Leaks(Plugin):
    """Changes the program's own module."""

    preserves = frozenset()

    def around(self, callee, run):
        if callee is reads:
            SETTING[0] += 1
        return


SETTING = [0]


def reads():
    return SETTING[0]


def asks():
    return reads()


class TouchesAll(Plugin):
    preserves = frozenset()

    def before_inference(self, ir):
        for call in ir.calls(operator.mul):
            ir.replace(call, operator.add, *call.args)


class Doubles(Plugin):
    """Not idempotent, as it finds the sine that it puts in."""

    preserves = frozenset({"effects", "types"})

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            sine = ir.insert_before(call, math.sin, *call.args)
            ir.replace(call, operator.mul, 2.0, sine)


class TextForPreserves(Plugin):
    preserves = "values"


class TextForRequires(Plugin):
    requires = "effects"


class Misspelt(Plugin):
    def after_infrence(self, ir):
        return ir


class NoHash(Plugin):
    def __init__(self):
        self.cache_token = ["a list"]


class AroundChanges(Plugin):
    """In interpreted code: the result of a function is another."""

    def around(self, callee, run):
        return (lambda *args: run(*args) + 1) if callee is line else None


class AroundLeavesOut(Plugin):
    preserves = frozenset({"calls"})

    def around(self, callee, run):
        return (lambda *args: 0.0) if callee is line else None


def calls_line(x):
    return line(x) + 1.0


WRONG = {
    ChangesValues: ("values", {}),
    LosesEffects: ("effects", {}),
    SwapsEffects: ("effects", {}),
    LosesCalls: ("calls", {}),
    InlinesCalls: ("calls", {}),
    ChangesTypes: ("types", {}),
    Fails: ("runs", {}),
    Counts: ("deterministic", {}),
    MadeEachTime: ("enter", {}),
    TokenOfObject: ("cache_token", {}),
    TokenThatGrows: ("cache_token", {}),
    TokenOfLess: ("cache_token", {"beside": [TokenOfLess(math.exp)]}),
    KeepsPointers: ("cache_token", {}),
    SharesWrongly: ("shares_native_cache", {}),
    Leaks: ("deterministic", {}),
    TouchesAll: ("leaves", {"leaves": [(line, 0.5)]}),
    Doubles: ("idempotent", {"idempotent": True}),
    TextForPreserves: ("declarations", {}),
    TextForRequires: ("declarations", {}),
    Misspelt: ("declarations", {}),
    NoHash: ("declarations", {}),
    AroundChanges: ("values", {}),
    AroundLeavesOut: ("calls", {}),
}


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_a_wrong_plugin_is_caught_with_the_contract_that_it_breaks(kind):
    contract, options = WRONG[kind]
    programs = (wave, 0.5), (says, 3), (calls_line, 0.5), (asks,)
    with pytest.raises(BrokenContract, match=kind.__name__) as caught:
        check_plugin(kind, *programs, samples=False, **options)
    assert caught.value.contract == contract
    assert f"breaks the contract {contract!r}" in str(caught.value)
    assert caught.value.help


def test_the_error_has_the_program_both_values_and_what_to_change():
    with pytest.raises(BrokenContract) as caught:
        check_plugin(ChangesValues, (wave, 0.5), samples=False)
    shown = str(caught.value)
    assert repr(math.cos(0.5) + 1.0) in shown
    assert repr(math.sin(0.5) + 1.0) in shown
    assert "program: wave(0.5)" in shown
    assert "test_plugin_contracts.py" in shown
    assert "remove 'values' from preserves" in shown


def test_two_orders_that_differ_do_not_commute_and_those_that_are_refused_need_not():
    with pytest.raises(BrokenContract, match="before <plugin Doubles>") as caught:
        check_plugin(Edits, (wave, 0.5), commutes_with=[Doubles()], samples=False)
    assert caught.value.contract == "commutes"

    class First(Edits):
        requires = ("calls",)

    check_plugin(First, (wave, 0.5), beside=[Edits(math.exp)], samples=False)


def test_what_a_run_leaves_outside_is_seen():
    with pytest.raises(BrokenContract) as caught:
        check_plugin(Keeps, (reads_given, 1.0), samples=False)
    assert caught.value.contract == "outside"


GIVEN = [0.0]


def reads_given(x):
    return x + GIVEN[0]


class Keeps(Plugin):
    """Around a call it changes what the program reads, the first time alone."""

    preserves = frozenset()

    def around(self, callee, run):
        GIVEN[0] = 7.0
        return


def test_a_plugin_that_no_program_can_be_run_with_is_not_passed():
    def cannot(x):
        return {str(x): [x]}[str(x)]

    class Compiles(Plugin):
        def before_inference(self, ir):
            return ir

    with pytest.raises(BrokenContract, match="no program could be tried"):
        check_plugin(Compiles, (cannot, open), samples=False)
    assert Context().plugins == ()

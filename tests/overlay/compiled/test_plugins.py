"""Plugins in compiled code: each stage takes part, where the plugin is active and nowhere else."""

import gc
import math
import operator
import weakref

import llvmlite.ir
import numba
import numpy as np
import pytest

from overlay import (
    Context,
    MethodTable,
    NotCompilable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
    recurse,
)
from overlay.ir import UNKNOWN


def fast_sin(x):
    return x - x**3 / 6 + 0.0 * math.sin(x)


class FastSin(Plugin):
    """sin becomes fast_sin everywhere but in fast_sin."""

    cache_token = "fast sin"

    def enter(self, callee, types):
        return None if callee is fast_sin else self

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            if call.types == (float,):
                ir.replace(call, fast_sin, *call.args)


class Sees(Plugin):
    """Notes what each hook that it has is given."""

    def __init__(self):
        self.seen = []


class SeesFunctions(Sees):
    def before_inference(self, ir):
        self.seen.append(ir.name)


def sine(x):
    return math.sin(x)


def get_sin():
    return math.sin


def identity(x):
    return x


def apply(f, x):
    return f(x)


# ---- enter -------------------------------------------------------------------------------------


class SeesEntering(Sees):
    def enter(self, callee, types):
        self.seen.append((callee, types))
        return self


njitted = numba.njit(identity)


def enters(x):
    return apply(sine, x) + njitted(2)


def test_enter_is_asked_at_each_resolved_call_with_the_types():
    plugin = SeesEntering()
    assert Context(plugins=(plugin,)).jit(enters)(0.5) == math.sin(0.5) + 2
    assert plugin.seen[0] == (enters, (float,))
    for row in (
        (sine, (float,)),
        (njitted, (int,)),
        (math.sin, (float,)),
        (operator.add, (float, int)),
        (apply, (None, float)),
    ):
        assert plugin.seen.count(row) == 1, row


def test_enter_is_asked_with_the_method_that_a_call_resolves_to():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return x

    plugin = SeesEntering()
    assert Context(table, plugins=(plugin,)).jit(sine)(0.5) == 0.5
    assert (method, (float,)) in plugin.seen
    assert not any(callee is math.sin for callee, _ in plugin.seen)


def outer_function(x):
    return sine(x) + middle(x)


def middle(x):
    return sine(x) * 10


class NotBelowMiddle(SeesFunctions):
    def enter(self, callee, types):
        return None if callee is middle else self


def test_a_plugin_that_bails_out_is_not_active_below():
    plugin = NotBelowMiddle()
    bare = Context()
    plain = bare.jit(middle)
    plain(0.5)
    (code,) = bare.compiled.world({}).dispatcher(sine).overloads.values()
    assert Context(plugins=(plugin,)).jit(outer_function)(0.5) == outer_function(0.5)
    assert plugin.seen == ["outer_function", "sine"]
    # what is compiled without plugins is used
    assert list(bare.compiled.world({}).dispatcher(sine).overloads.values()) == [code]


def test_a_plugin_may_put_another_in_its_place():
    class Level(SeesFunctions):
        def __init__(self, level, seen):
            self.cache_token, self.seen = level, seen

        def enter(self, callee, types):
            return Level(self.cache_token + 1, self.seen) if callee in (middle, sine) else self

        def before_inference(self, ir):
            self.seen.append((ir.name, self.cache_token))

    seen = []
    Context(plugins=(Level(0, seen),)).jit(outer_function)(0.5)
    assert sorted(seen) == [("middle", 1), ("outer_function", 0), ("sine", 1), ("sine", 2)]


# ---- before_inference --------------------------------------------------------------------------


class Slicer(Plugin):
    """Takes calls of print out."""

    def before_inference(self, ir):
        for call in ir.calls(print):
            ir.delete(call)


def speaks(x):
    print("x is", x)

    def inner(y):
        print("inside")
        return y * 2

    return inner(x)


def test_before_inference_edits_the_function_and_its_closures(capfd):
    assert Context(plugins=(Slicer(),)).jit(speaks)(2.0) == 4.0
    assert capfd.readouterr().out == ""
    assert Context().jit(speaks)(2.0) == 4.0
    assert "inside" in capfd.readouterr().out


def test_types_are_not_known_before_inference_and_an_edit_decides_them():
    class Halves(Sees):
        def before_inference(self, ir):
            self.seen.append(ir.is_typed)
            for call in ir.calls(operator.floordiv):
                ir.replace(call, operator.truediv, *call.args)

    def divides(x):
        return x // 2

    plugin = Halves()
    assert Context(plugins=(plugin,)).jit(divides)(3) == 1.5
    assert plugin.seen == [False]


# ---- infer -------------------------------------------------------------------------------------


def count(x, kind):
    return x + kind


def counts(x):
    first = count(x, 1)
    return first / 2, count(x, 2)


class Infers(Sees):
    def infer(self, call):
        if call.target is count:
            self.seen.append((call.types, call.constants, call.result_type))
            return np.float32 if call.constants[1] == 2 else None
        return None


def test_infer_gives_a_call_another_type_by_its_literal_arguments():
    plugin = Infers()
    hot = Context(plugins=(plugin,)).jit(counts)
    assert hot(3) == (2.0, 5.0)
    (sig,) = hot.nopython_signatures
    assert sig.return_type == numba.types.Tuple((numba.float64, numba.float32))
    assert plugin.seen == [((int, int), (UNKNOWN, 1), int), ((int, int), (UNKNOWN, 2), int)]
    assert str(Context().jit(counts)(3)) == "(2.0, 5)"


def test_the_last_answer_of_infer_wins_and_sees_the_earlier_one():
    class Second(Infers):
        def infer(self, call):
            if call.target is count:
                self.seen.append(call.result_type)
                return numba.types.complex128
            return None

    second = Second()
    hot = Context(plugins=(Infers(), second)).jit(lambda x: count(x, 2))
    assert hot(3) == 5 + 0j
    assert isinstance(hot(3), complex)
    assert second.seen == [np.float32]


def test_a_type_that_the_result_cannot_be_converted_to_is_refused():
    class Wrong(Plugin):
        def infer(self, call):
            return str if call.target is count else None

    with pytest.raises(OverlayError, match="cannot be converted") as info:
        Context(plugins=(Wrong(),)).jit(counts)(3)
    assert "Wrong" in str(info.value)


def test_a_type_that_is_no_one_type_of_numba_is_refused_with_the_plugin_and_the_call():
    class Vague(Plugin):
        def infer(self, call):
            return object if call.target is count else None

    with pytest.raises(
        OverlayError, match=r"Vague.* infers count as .*object.* not one type"
    ) as info:
        Context(plugins=(Vague(),)).jit(counts)(3)
    assert "test_plugins.py" in info.value.where


# ---- inline ------------------------------------------------------------------------------------


def power(x, n):
    if n == 3:
        return x * x * x
    return x**n


def powers(x):
    return power(x, 3) + power(x, 2)


class Inlines(Sees):
    def inline(self, call):
        self.seen.append(call.constants)
        return call.constants[1] == 3 if call.target is power else None

    def after_inference(self, ir):
        if ir.function is powers:
            self.seen.append([call.constants for call in ir.calls(power)])
            self.seen.append(len(ir.calls(operator.mul)))

    def after_codegen(self, module):
        self.module = str(module)


def test_inline_decides_by_literal_arguments_and_keeps_a_call_that_it_refuses():
    plugin = Inlines()
    hot = Context(plugins=(plugin,)).jit(powers)
    assert hot(2.0) == 12.0
    assert plugin.seen == [(UNKNOWN, 3), (UNKNOWN, 2), [(UNKNOWN, 2)], 2]
    assert "noinline" in plugin.module
    assert hot(3) == 36


def test_inlined_bodies_are_asked_about_and_recursion_ends():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    def twice(n):
        return factorial(n) * 2

    class All(SeesFunctions):
        def inline(self, call):
            self.seen.append(call.target.__name__)
            return True

    plugin = All()
    assert Context(plugins=(plugin,)).jit(lambda n: twice(n) + 1)(5) == 241
    assert {"twice", "factorial"} <= set(plugin.seen)


def loops(n, step=2):
    total = 0
    for i in range(n):
        if i % step == 0:
            continue
        total += i
    return total


def branches(x):
    if x > 1:
        return x * 2
    if x > 0.5:
        return x * 3
    return 0.0


def raises(x):
    if x > 100:
        raise ValueError("too large")
    return x


def makes_closure(k):
    return lambda x: x * k


closure = makes_closure(5.0)


def with_keywords(x):
    return loops(5), loops(5, step=3), loops(n=4, step=1)


def with_loops(x):
    total = 0.0
    while branches(total) < 5 and raises(total) >= 0:
        total += 0.7
    for i in range(4):
        total += branches(loops(3) + closure(x + i))
    return total


def with_method(x):
    return math.sin(x) + raises(x)


class InlinesAll(Sees):
    def inline(self, call):
        return True

    def after_inference(self, ir):
        own = (loops, branches, raises, closure, math.sin)
        self.seen += [call.target for call in ir.calls(*own) if ir.function is self.program]


@pytest.mark.parametrize("program", [with_keywords, with_loops, with_method])
def test_bodies_of_any_shape_are_inlined(program):
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return call_next(x) + 1

    plugin = InlinesAll()
    plugin.program = program
    assert Context(table, plugins=(plugin,)).jit(program)(0.7) == Context(table)(program, 0.7)
    assert plugin.seen == []


def test_inlined_bodies_raise():
    with pytest.raises(ValueError, match="too large"):
        Context(plugins=(InlinesEverything(),)).jit(lambda x: raises(x))(1000.0)


class InlinesEverything(Plugin):
    def inline(self, call):
        return True


@numba.njit(inline="always")
def always(x):
    return math.sin(x)


def uses_always(x):
    return always(x)


def test_what_is_always_inlined_is_seen_by_plugins_and_may_be_kept():
    assert Context(plugins=(FastSin(),)).jit(uses_always)(0.5) == fast_sin(0.5)

    class Keeps(Sees):
        def inline(self, call):
            self.seen.append(call.inlined)
            return False

        def after_inference(self, ir):
            self.seen.append([call.target for call in ir.calls()])

    plugin = Keeps()
    assert Context(plugins=(plugin,)).jit(uses_always)(0.5) == math.sin(0.5)
    assert plugin.seen == [[math.sin], True, [always]]


def test_what_cannot_be_inlined_is_refused_with_the_plugin():
    def rest(*args):
        return len(args)

    def calls_rest(x):
        return rest(x, x)

    class All(Plugin):
        def inline(self, call):
            return True

    with pytest.raises(NotCompilable, match=r"All.* inlines .*rest.*\*arguments"):
        Context(plugins=(All(),)).jit(calls_rest)(1)

    class Bails(All):
        def enter(self, callee, types):
            return None if callee is sine else self

    with pytest.raises(NotCompilable, match="other plugins are active"):
        Context(plugins=(Bails(),)).jit(outer_function)(1.0)


# ---- after_inference ---------------------------------------------------------------------------


def sines(x):
    return math.sin(x) + get_sin()(x) * 10 + apply(math.sin, x) * 100 + identity(math.sin)(x) * 1000


def test_fast_sin_is_everywhere_but_in_fast_sin():
    with_plugin = Context(plugins=(FastSin(),))
    fast = fast_sin(0.5)
    assert with_plugin.jit(sines)(0.5) == fast + fast * 10 + fast * 100 + fast * 1000
    assert with_plugin.jit(fast_sin)(0.5) == fast
    # nothing of it is in code without the plugin
    slow = math.sin(0.5)
    assert sines(0.5) == slow + slow * 10 + slow * 100 + slow * 1000
    assert Context().jit(sine)(0.5) == slow
    assert numba.njit(sine)(0.5) == slow
    assert nonoverlay(sine)(0.5) == slow


def test_types_are_known_after_inference_and_overlays_are_still_calls_of_their_target():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return call_next(x) + 1

    class Types(Sees):
        def after_inference(self, ir):
            for call in ir.calls():
                self.seen.append((ir.name, call.target, call.types, call.result_type))

    plugin = Types()
    assert Context(table, plugins=(plugin,)).jit(sine)(0.5) == math.sin(0.5) + 1
    assert ("sine", math.sin, (float,), float) in plugin.seen
    assert any(target is call_next for _, target, _, _ in plugin.seen)


def test_what_is_put_in_is_resolved_like_any_other_call():
    table = MethodTable("table")

    @table.overlay(fast_sin)
    def method(x: float):
        return 7.0

    assert Context(table, plugins=(FastSin(),)).jit(sine)(0.5) == 7.0


# ---- LLVM --------------------------------------------------------------------------------------


def polynomial(x, y):
    return x * y + y + helper_of_polynomial(x)


def helper_of_polynomial(x):
    return x * 3.0 + x


class FastMath(SeesFunctions):
    """Changes the options of optimisation for a function and what is below it."""

    def after_codegen(self, module):
        self.seen.append(module.name)
        for function in module.functions:
            for block in function.blocks:
                for instruction in block.instructions:
                    if instruction.opname in ("fadd", "fmul"):
                        instruction.flags.append("fast")


class BelowHelper(Plugin):
    def enter(self, callee, types):
        return FastMath() if callee is helper_of_polynomial else self


def test_after_codegen_edits_the_module_of_each_function():
    plugin = FastMath()
    hot = Context(plugins=(plugin,)).jit(polynomial)
    assert hot(2.0, 3.0) == polynomial(2.0, 3.0)
    assert len([name for name in plugin.seen if "polynomial" in name]) == 4
    (ll,) = hot.inspect_llvm().values()
    assert "fmul fast" in ll
    (plain,) = compiled(Context().jit(polynomial)).inspect_llvm().values()
    assert "fmul fast" not in plain


def compiled(hot):
    hot(2.0, 3.0)
    return hot


def test_options_of_optimisation_change_for_a_subtree():
    hot = compiled(Context(plugins=(BelowHelper(),)).jit(polynomial))
    (ll,) = hot.inspect_llvm().values()
    assert ll.count("fmul fast") == 1
    assert "fmul double" in ll


class SeesOptimised(Sees):
    def before_optimisation(self, module):
        self.seen.append(("before", str(module)))

    def after_optimisation(self, module):
        self.seen.append(("after", str(module)))


def four():
    total = 0
    for i in range(5):
        total += i
    return total - 6


def calls_four(x):
    return x + four()


def test_llvm_is_seen_with_what_is_linked_before_it_is_optimised_and_after():
    plugin = SeesOptimised()
    hot = Context(plugins=(plugin,)).jit(calls_four)
    assert hot(1) == 5
    (_, before), (_, after) = plugin.seen[-2:]
    assert [when for when, _ in plugin.seen] == ["before", "after"] * 2
    assert "four" in before
    assert len(before) > len(after)
    calls = [line for line in after.splitlines() if "call" in line and "four" in line]
    assert not any("_ZN" in line and "4four" in line for line in calls)


def test_llvm_that_a_plugin_gives_back_is_what_runs():
    class Eight(Plugin):
        def after_optimisation(self, module):
            return str(module).replace("store i64 4,", "store i64 8,")

    assert Context(plugins=(Eight(),)).jit(four)() == 8

    class Wrong(Plugin):
        def before_optimisation(self, module):
            return "no LLVM"

    with pytest.raises(OverlayError, match="LLVM IR that cannot be read"):
        Context(plugins=(Wrong(),)).jit(four)()


def of_nothing(module):
    """LLVM with functions of the same names, which take and give nothing."""
    defined = [function.name for function in module.functions if not function.is_declaration]
    return "\n".join(f'define void @"{name}"() {{\n  ret void\n}}' for name in defined)


@pytest.mark.parametrize(
    ("stage", "given", "why"),
    [
        ("after_codegen", lambda _: llvmlite.ir.Module(), "no longer"),
        ("before_optimisation", lambda _: "", "no longer"),
        ("after_optimisation", lambda _: "", "no longer"),
        ("after_optimisation", lambda m: of_nothing(m), "as void"),
        ("after_optimisation", lambda m: str(m).replace("common", "internal"), "no longer"),
    ],
)
def test_llvm_without_what_is_called_by_its_address_is_refused(stage, given, why):
    plugin = type("Loses", (Plugin,), {stage: lambda self, module: given(module)})()
    with pytest.raises(
        OverlayError, match=f"{stage} of four returned LLVM IR that defines .* {why}"
    ):
        Context(plugins=(plugin,)).jit(four)()


def test_code_for_several_cores_is_refused_where_a_plugin_is_to_see_llvm():
    def parallel(xs):
        total = 0.0
        for i in numba.prange(len(xs)):
            total += math.sin(xs[i])
        return total

    xs = np.ones(3)
    with pytest.raises(NotCompilable, match=r"FastMath.*after_codegen.*several"):
        Context(plugins=(FastMath(),)).jit(parallel, parallel=True)(xs)
    hot = Context(plugins=(FastSin(),)).jit(parallel, parallel=True)
    assert hot(xs) == pytest.approx(3 * fast_sin(1.0))


# ---- several plugins ---------------------------------------------------------------------------


class Doubles(Plugin):
    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, operator.mul, 2.0, ir.insert_before(call, math.sin, *call.args))


class CosineForSine(Plugin):
    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, math.cos, *call.args)


def test_plugins_work_in_declared_order():
    doubles, cosine = Doubles(), CosineForSine()
    assert Context(plugins=(doubles, cosine)).jit(sine)(0.5) == 2 * math.cos(0.5)
    assert Context(plugins=(cosine, doubles)).jit(sine)(0.5) == math.cos(0.5)
    # entered twice, a plugin works once
    outer = Context(plugins=(doubles,))
    inner = Context(plugins=(doubles,))
    assert (outer | inner).jit(sine)(0.5) == 2 * math.sin(0.5)


inner_context = Context(plugins=(CosineForSine(),))


def nests(x):
    return inner_context(sine, x) + math.sin(x)


def test_contexts_nested_in_compiled_code_have_the_plugins_of_both():
    hot = Context(plugins=(Doubles(),)).jit(nests)
    assert hot(0.5) == pytest.approx(2 * math.cos(0.5) + 2 * math.sin(0.5))
    assert Context().jit(nests)(0.5) == math.cos(0.5) + math.sin(0.5)


def test_stages_are_entered_again_while_one_of_them_runs():
    class Nested(Sees):
        def enter(self, callee, types):
            return None if callee is sine else self

        def after_inference(self, ir):
            self.seen.append(("begin", ir.name))
            for call in ir.calls(identity):
                ir.replace(call, middle, *call.args)
            self.seen.append(("end", ir.name))

    def program(x):
        return identity(x)

    plugin = Nested()
    assert Context(plugins=(plugin,)).jit(program)(0.5) == middle(0.5)
    names = [(when, name.rpartition(".")[2]) for when, name in plugin.seen]
    at = names.index(("begin", "program"))
    assert names[at:] == [
        ("begin", "program"),
        ("begin", "middle"),
        ("end", "middle"),
        ("end", "program"),
    ]


class Pure(Plugin):
    requires = ("effects",)


def test_a_contract_that_enter_breaks_names_both_parties_and_the_function():
    class Changes(Plugin):
        preserves = frozenset()

        def enter(self, callee, types):
            return self

    class Becomes(Plugin):
        def enter(self, callee, types):
            return Pure() if callee is sine else self

    context = Context(plugins=(Changes(), Becomes()))
    for run in (lambda: context.jit(middle)(0.5), lambda: context(middle, 0.5)):
        with pytest.raises(OverlayError, match=r"Pure.* requires 'effects'.*Changes") as info:
            run()
        assert "test_plugins.py" in info.value.where


# ---- identity ----------------------------------------------------------------------------------


def test_equal_tokens_share_code_and_others_do_not():
    class Tokened(SeesFunctions):
        def __init__(self, token):
            self.seen, self.cache_token = [], token

    first, same, other = Tokened(1), Tokened(1), Tokened(2)
    one, two, three = (Context(plugins=(plugin,)) for plugin in (first, same, other))
    for context in (one, two, three):
        context.jit(outer_function)(0.5)
    assert first.seen == other.seen == ["outer_function", "sine", "middle"]
    assert same.seen == []


class Shares(SeesFunctions):
    shares_native_cache = True


def test_code_of_a_plugin_that_shares_the_native_cache_serves_without_it_and_the_other_way():
    def one(x):
        return two(x) + 1

    def two(x):
        return x * 2

    plain, plugin = Context(), Shares()
    sharing = Context(plugins=(plugin,))
    native = plain.compiled.world({}).dispatcher
    plain.jit(lambda x: two(x))(1.0)
    (code,) = native(two).overloads.values()
    assert sharing.jit(one)(1.0) == 3.0
    assert [name.rpartition(".")[2] for name in plugin.seen] == ["one"]
    assert list(native(two).overloads.values()) == [code]
    # what is compiled first with the plugin serves without it
    assert sharing.jit(lambda x: one(x))(1.0) == 3.0
    (code,) = native(one).overloads.values()
    assert plain.jit(lambda x: one(x))(1.0) == 3.0
    assert list(native(one).overloads.values()) == [code]


def test_shared_code_is_compiled_anew_where_a_table_changes():
    table = MethodTable("table")

    @table.overlay(identity)
    def method(x: float):
        return x + 1

    hot = Context(table, plugins=(Shares(),)).jit(lambda x: middle(identity(x)))
    plain = Context(table).jit(lambda x: middle(identity(x)))
    assert hot(1.0) == plain(1.0) == middle(2.0)

    @table.overlay(identity)
    def again(x: float):
        return x + 2

    assert hot(1.0) == plain(1.0) == middle(3.0)


def test_replacing_a_plugin_compiles_anew():
    context = Context(plugins=(Doubles(),))
    assert context.jit(sine)(0.5) == 2 * math.sin(0.5)
    assert context.replace(plugins=(CosineForSine(),)).jit(sine)(0.5) == math.cos(0.5)
    assert context.replace(plugins=()).jit(sine)(0.5) == math.sin(0.5)
    assert context.jit(sine)(0.5) == 2 * math.sin(0.5)


def test_redefinition_is_seen_below_a_call_where_plugins_have_changed():
    table = MethodTable("table")

    @table.overlay(identity)
    def method(x: float):
        return x + 1

    class Bails(Plugin):
        def enter(self, callee, types):
            return None if callee in (through, through_again) else self

    def through(x):
        return identity(x)

    def through_again(x):
        return through(x)

    hot = Context(table, plugins=(Bails(),)).jit(through_again)
    assert hot(1.0) == 2.0

    @table.overlay(identity)
    def again(x: float):
        return x + 2

    assert hot(1.0) == 3.0


def scale():
    return 1.0


def scaled(x):
    return x * scale()


def calls_scaled(x):
    return scaled(x) + 0.5


class NotBelowScaled(Plugin):
    def enter(self, callee, types):
        return None if callee is scaled else self

    def before_inference(self, ir):
        return ir


@pytest.mark.parametrize("plugin", [NotBelowScaled(), Shares()], ids=["bails", "shares"])
def test_a_function_bound_anew_is_seen_below_plugins(plugin, monkeypatch):
    hot = Context(plugins=(plugin,)).jit(calls_scaled)
    plain = Context().jit(calls_scaled)
    assert hot(2.0) == plain(2.0) == 2.5
    monkeypatch.setitem(globals(), "scale", lambda: 10.0)
    assert hot(2.0) == plain(2.0) == 20.5
    monkeypatch.setitem(globals(), "scale", lambda: 100.0)
    assert plain(2.0) == hot(2.0) == 200.5


def test_a_function_bound_anew_is_seen_where_a_context_is_entered_for_the_first_time(monkeypatch):
    inner = Context(MethodTable("inner"))
    assert inner.jit(calls_scaled)(2.0) == 2.5
    monkeypatch.setitem(globals(), "scale", lambda: 10.0)
    assert Context(plugins=(FastSin(),)).jit(lambda x: inner(calls_scaled, x))(2.0) == 20.5


def test_a_context_with_plugins_is_collected_with_all_that_it_compiled():
    def run():
        plugin = Inlines()
        context = Context(MethodTable("table"), plugins=(plugin, FastSin(), FastMath()))
        hot = context.jit(powers)
        hot(2.0), context.jit(sine)(0.5)
        world = context.compiled.world({})
        return [weakref.ref(thing) for thing in (plugin, context, hot, world)]

    references = run()
    gc.collect()
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


def test_a_plugin_widens_what_functions_are_compiled_for():
    class Widens(SeesFunctions):
        def before_inference(self, ir):
            super().before_inference(ir)
            for call in ir.calls(wide):
                ir.replace(call, wide, ir.insert_before(call, float, *call.args))

    def wide(x):
        return x * 2

    def program(i, x):
        return wide(i) + wide(x) + wide(3)

    plugin = Widens()
    assert Context(plugins=(plugin,)).jit(program)(1, 2.0) == 12.0
    assert [name.rpartition(".")[2] for name in plugin.seen] == ["program", "wide"]


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stage", ["enter", "before_inference", "infer", "inline", "after_inference"]
)
def test_an_error_in_a_hook_names_the_plugin_the_stage_and_the_function(stage):
    check_error_is_named(stage)


@pytest.mark.parametrize("stage", ["after_codegen", "before_optimisation", "after_optimisation"])
def test_an_error_in_a_stage_of_llvm_is_named_too(stage):
    check_error_is_named(stage)


def check_error_is_named(stage):
    def hook(self, *args):
        raise KeyError("lost")

    plugin = type("Broken", (Plugin,), {stage: hook})()
    with pytest.raises(OverlayError) as info:
        Context(plugins=(plugin,)).jit(middle)(0.5)
    message = str(info.value)
    for word in ("Broken", f"failed in {stage} of", "KeyError", "lost", "correct Broken"):
        assert word in message
    assert isinstance(info.value.__cause__, KeyError)


def test_what_a_stage_gives_back_is_checked():
    class Wrong(Plugin):
        def before_inference(self, ir):
            return 5

    with pytest.raises(OverlayError, match="before_inference of sine returned 5"):
        Context(plugins=(Wrong(),)).jit(sine)(0.5)


# ---- interpreter -------------------------------------------------------------------------------


def test_an_interpretation_is_put_in_force_at_entry_and_is_seen_below():
    class Interpretation:
        pass

    class Substitutes(Sees):
        def interpreter(self, current):
            self.seen.append(current)
            return current if isinstance(current, Interpretation) else Interpretation()

        def before_inference(self, ir):
            self.seen.append((ir.name, ir.interpretation))

    plugin = Substitutes()
    Context(plugins=(plugin,)).jit(middle)(0.5)
    assert plugin.seen[0] is None
    (first, one), (second, two) = [row for row in plugin.seen if isinstance(row, tuple)]
    assert (first, second) == ("middle", "sine")
    assert isinstance(one, Interpretation)
    assert one is two
    assert all(row is one for row in plugin.seen[1:] if not isinstance(row, tuple))


# ---- metadata and plugins inside a call --------------------------------------------------------


class SineIs(Plugin):
    def __init__(self, value, *, times=1):
        self.cache_token = value, times

    def before_inference(self, ir):
        value, times = self.cache_token
        for call in ir.calls(math.sin):
            ir.set_result(call, float(value * times))


five = SineIs(5)
context_of_two = Context(plugins=(SineIs(2),), metadata=2)


def enters_another(x):
    return recurse(context_of_two, sine, x) + current_context().metadata


def replaces_plugins(x):
    return recurse(current_context().replace(plugins=(five,)), sine, x) + math.sin(x)


def makes_a_plugin(x):
    order = current_context().metadata
    other = current_context().replace(metadata=4, plugins=(SineIs(order, times=10),))
    return recurse(other, by_metadata, x) + math.sin(x)


def by_metadata(x):
    return math.sin(x) + current_context().metadata


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (enters_another, 2.0 + 7),
        (replaces_plugins, 5.0 + math.sin(0.5)),
        (makes_a_plugin, 70.0 + 4 + math.sin(0.5)),
    ],
)
def test_metadata_and_plugins_change_inside_a_call(program, expected):
    context = Context(metadata=7)
    assert context.jit(program)(0.5) == expected
    with pytest.raises(OverlayError, match=r"cannot interpret .* with <plugin SineIs"):
        context(program, 0.5)


def test_a_plugin_that_cannot_be_made_is_named_with_its_place():
    def makes(x):
        return recurse(current_context().replace(plugins=(SineIs(),)), sine, x)

    with pytest.raises(OverlayError, match="SineIs cannot be made when code is compiled"):
        Context().jit(makes)(0.5)


# ---- a plugin that does nothing ----------------------------------------------------------------


class DoesNothing(Plugin):
    """Has every hook, so that every stage and every call goes through it."""

    def enter(self, callee, types):
        return self

    def before_inference(self, ir):
        return ir

    def infer(self, call):
        return None

    def inline(self, call):
        return None

    def after_inference(self, ir):
        return ir

    def after_codegen(self, module):
        return module

    def before_optimisation(self, module):
        return module

    def after_optimisation(self, module):
        return module


class Wave:
    def __init__(self, x):
        self.x = x

    @staticmethod
    def of(x):
        return math.sin(x)

    def times(self, n):
        return self.of(self.x) * n


Jitted = numba.experimental.jitclass([("x", numba.float64)])(Wave)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def generates(n):
    for i in range(n):
        yield i * 2


def many_things(x, f):
    total = 0.0
    for i, value in enumerate([x, x + 1]):
        total += value * i
    for i in generates(3):
        total += i
    if total > 1 and not math.isnan(x):
        total += (lambda y: y + total)(x)
    wave = Jitted(x)
    return total, f(x), wave.times(2.0), fibonacci(7), np.sum(np.ones(3) * x), f"{int(x)}"


def test_a_plugin_that_does_nothing_changes_nothing():
    expected = many_things(1.5, sine)
    assert Context(plugins=(DoesNothing(),)).jit(many_things)(1.5, numba.njit(sine)) == expected
    assert Context().jit(many_things)(1.5, numba.njit(sine)) == expected


# ---- code that a hook puts in --------------------------------------------------------------------


def raises_itself(x):
    raise ValueError("of what was put in")


def has_no_meaning(x):
    return x.nothing


@pytest.mark.parametrize("stage", ["before_inference", "after_inference"])
def test_an_error_in_code_that_a_hook_put_in_is_that_codes(stage):
    def puts(function):
        def hook(self, ir):
            for call in ir.calls(math.sin):
                ir.insert_before(call, function, *call.args)

        return Context(plugins=(type("Puts", (Plugin,), {stage: hook})(),)).jit(sine)

    with pytest.raises(ValueError, match="of what was put in") as info:
        puts(raises_itself)(0.5)
    assert info.traceback[-1].name == "raises_itself"
    with pytest.raises(NotCompilable) as refused:
        puts(has_no_meaning)(0.5)
    said = str(refused.value)
    line = has_no_meaning.__code__.co_firstlineno
    assert any(f"test_plugins.py:{n}" in said for n in (line, line + 1))
    assert "failed in" not in said
    assert "ctx(f" not in said
    if stage == "after_inference":
        assert f"has_no_meaning(float64), which was inserted into {sine.__qualname__}" in said

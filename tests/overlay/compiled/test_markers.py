"""Markers: a plugin takes the calls of its functions out of LLVM, on the CPU and in kernels; and
what a plugin changes before derivatives are taken it undoes after."""

import importlib.util
import math

import pytest
from llvmlite import ir as llvm

from overlay import Context, NotCompilable, Plugin, recurse
from overlay.interpretations.autodiff import NotDifferentiable, autodiff

NEEDS_CUDA = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="the extra 'cuda' is not installed"
)
TWO = "float64[::1], float64[::1]"
THOUSAND = "0d408F400000000000"  # 1000.0 in PTX
BYTES = llvm.IntType(8).as_pointer()


def differentiated(f, x):
    """A marker; what its body gives says of which type the result is."""
    return f(x) + 1000.0


def response(x):
    return x * x * 7.0


def program(x):
    return differentiated(response, x) + response(x)


def kernel(x, out):
    out[0] = program(x[0])


def called(module, call, symbol, args):
    """Make a call one of another function."""
    kind = llvm.FunctionType(call.callee.function_type.return_type, [a.type for a in args])
    call.operands[1:] = args
    call.callee = module.globals.get(symbol) or llvm.Function(module, kind, symbol)


class Mock(Plugin):
    """Forwards calls of the marker to the primal, which is the function that it is given."""

    markers = (differentiated,)

    def __init__(self):
        self.seen = []

    def marked(self, module):
        self.seen += [(call.marker, call.where) for call in module.calls]
        (symbol,) = module.symbols_of(response)
        for call in (c.instruction for c in module.calls):
            # a function among the arguments is no more than a null pointer
            called(module.module, call, symbol, [a for a in call.args if a.type != BYTES])
        return True


class Derives(Plugin):
    """Has the derivative compiled before the call of the marker, and calls it in its place."""

    markers = (differentiated,)

    def before_inference(self, ir):
        for call in ir.calls(differentiated):
            ir.insert_before(call, slope, *call.args)

    def marked(self, module):
        (symbol,) = module.symbols_of(slope)
        for call in (c.instruction for c in module.calls):
            called(module.module, call, symbol, call.args)
        return True


class Forgets(Plugin):
    markers = (differentiated,)

    def marked(self, module):
        return False


def slope(f, x):
    return autodiff(f, x)


def nested(context):
    """The program compiled in a context that code of another enters."""
    return Context().jit(lambda x: recurse(context, program, x))


@pytest.mark.parametrize("mode", [lambda c: c.jit(program), nested])
def test_a_mock_of_ad_forwards_to_the_primal_on_the_host(mode):
    mock = Mock()
    assert mode(Context())(2.0) == 1056.0
    assert mode(Context(plugins=(mock,)))(2.0) == 56.0
    ((marker, where),) = mock.seen
    assert marker is differentiated
    assert "test_markers.py" in where


@NEEDS_CUDA
def test_a_mock_of_ad_forwards_to_the_primal_in_a_kernel():
    def code(context):
        return context.jit(kernel, target="cuda").ptx(TWO, (8, 0))

    assert THOUSAND in code(Context())
    assert THOUSAND not in code(Context(plugins=(Mock(),)))


def test_a_plugin_calls_the_derivative_that_was_generated():
    assert Context(plugins=(Derives(),)).jit(program)(3.0) == 42.0 + 63.0


def test_a_plugin_is_called_only_where_its_marker_is():
    mock = Mock()
    assert Context(plugins=(mock,)).jit(response)(2.0) == 28.0
    assert mock.seen == []


def test_a_marker_that_is_left_over_is_an_error_that_names_the_call():
    found = r"marker differentiated is left over(.|\n)*test_markers.py(.|\n)*changed nothing"
    with pytest.raises(NotCompilable, match=found):
        Context(plugins=(Forgets(),)).jit(program)(2.0)


@NEEDS_CUDA
def test_a_marker_that_is_left_over_in_a_kernel():
    with pytest.raises(NotCompilable, match="marker differentiated is left over"):
        Context(plugins=(Forgets(),)).jit(kernel, target="cuda").ptx(TWO, (8, 0))


# ---- chosen at run time -------------------------------------------------------------------


def kept(x):
    return x


def tripled(x):
    return 3.0 * x


def more(x):
    return x + 100.0


def most(x):
    return x + 200.0


INSTEAD = {kept: more, tripled: most}
HELD, LISTED, NAMED = (kept, tripled), [kept, tripled], {0: kept, 1: tripled}


class Replaces(Plugin):
    """Has another function called in place of each marker."""

    markers = (kept, tripled)

    def __init__(self):
        self.seen = set()

    def before_inference(self, ir):
        for marker, other in INSTEAD.items():
            for call in ir.calls(marker):
                ir.insert_before(call, other, *call.args)

    def marked(self, module):
        self.seen |= {(call.marker, call.where.rpartition("/")[2]) for call in module.calls}
        for call in module.calls:
            (symbol,) = module.symbols_of(INSTEAD[call.marker])
            args = [a for a in call.instruction.args if a.type != BYTES]
            called(module.module, call.instruction, symbol, args)
        return True


def at_once(x, k):
    return (tripled if k > 0 else kept)(x)


def in_a_variable(x, k):
    f = kept
    if k > 0:
        f = tripled
    return f(x)


def in_a_tuple(x, k):
    return (kept, tripled)[k](x)


def in_a_held_tuple(x, k):
    return HELD[k](x)


def in_a_list(x, k):
    return LISTED[k](x)


def in_a_dict(x, k):
    return NAMED[k](x)


def apply(f, x):
    return f(x)


def passed_on(x, k):
    f = kept
    if k > 0:
        f = tripled
    return apply(f, x)


def in_turn(x, k):
    total = 0.0
    for i, f in enumerate((kept, tripled)):
        if i == k:
            total += f(x)
    return total


LATER = [in_a_variable, in_a_tuple, in_a_held_tuple, passed_on, in_turn]


@pytest.mark.parametrize("program", [at_once, *LATER, in_a_list, in_a_dict])
def test_each_candidate_that_is_a_marker_is_taken_out_of_its_branch(program):
    replaces = Replaces()
    hot = Context(plugins=(replaces,)).jit(program)
    assert (hot(1.0, 0), hot(1.0, 1)) == (101.0, 201.0)
    assert {marker for marker, _ in replaces.seen} == {kept, tripled}
    assert all(where.startswith("test_markers.py:") for _, where in replaces.seen)
    assert Context().jit(program)(1.0, 1) == 3.0


class ForgetsChosen(Forgets):
    markers = (kept, tripled)


def test_a_chosen_marker_that_is_left_over_names_the_function_that_chooses():
    where = f"test_markers.py:{in_a_variable.__code__.co_firstlineno}"
    with pytest.raises(NotCompilable, match=f"(?s)marker kept is left over.*{where}"):
        Context(plugins=(ForgetsChosen(),)).jit(in_a_variable)(1.0, 0)


@NEEDS_CUDA
def test_a_choice_of_markers_in_a_kernel():
    def kernel(x, out):
        out[0] = at_once(x[0], int(x[1]))

    replaces = Replaces()
    code = Context(plugins=(replaces,)).jit(kernel, target="cuda").ptx(TWO, (8, 0))
    assert {marker for marker, _ in replaces.seen} == {kept, tripled}
    assert "0d4059000000000000" in code  # 100
    assert "0d4069000000000000" in code  # 200


@NEEDS_CUDA
@pytest.mark.parametrize("program", LATER)
@pytest.mark.parametrize("context", [Context(), Context(plugins=(Replaces(),))], ids=str)
def test_a_kernel_that_keeps_a_choice_is_refused_with_a_remedy(program, context):
    def kernel(x, out):
        out[0] = program(x[0], int(x[1]))

    says = r"(?s)keeps one of kept, tripled.*\(kept if condition else tripled\)\(x\)"
    with pytest.raises(NotCompilable, match=says):
        context.jit(kernel, target="cuda").ptx(TWO, (8, 0))


# ---- before derivatives and after ---------------------------------------------------------


def quick(x):
    """A sine that nothing knows the derivative of."""
    return 7.0 * math.nextafter(x, 1.0)


def waves(x):
    return quick(x)


class Paired(Plugin):
    """Shows a sine where quick stands while derivatives are taken, and quick afterwards."""

    def __init__(self):
        self.order = []

    def enter(self, callee, types):
        return None if callee is quick else self

    def before_inference(self, ir):
        for call in ir.calls(quick):
            self.order.append(("mapped", ir.name))
            ir.replace(call, math.sin, *call.args)

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            if self.order and call.types == (float,):
                self.order.append(("undone", ir.name))
                ir.replace(call, quick, *call.args)


def both(x):
    return waves(x), autodiff(waves, x)


def test_what_a_plugin_maps_before_derivatives_it_undoes_after():
    with pytest.raises(NotDifferentiable):
        Context().jit(both)(0.5)
    paired = Paired()
    value, slope_of_sine = Context(plugins=(paired,)).jit(both)(0.5)
    assert value == quick(0.5)
    assert slope_of_sine == math.cos(0.5)
    assert paired.order[0][0] == "mapped"
    assert ("undone", "waves") in paired.order


@NEEDS_CUDA
def test_in_a_kernel_too():
    def in_kernel(x, out):
        out[0], out[1] = both(x[0])

    code = Context(plugins=(Paired(),)).jit(in_kernel, target="cuda").ptx(TWO, (8, 0))
    assert "0d401C000000000000" in code  # seven, of quick
    assert "__internal_trig_reduction_slowpathd" in code  # of the cosine

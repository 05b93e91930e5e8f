"""What ``@njit`` and ``@cfunc`` declare of a function holds in every context, in both engines."""

import math
import struct
import warnings
from collections import namedtuple

import numpy as np
import pytest
from numba import cfunc, njit, prange, typed, types

from overlay import Context, MethodTable, NotCompilable

never = MethodTable("never")
reached = MethodTable("reached")
SINE = 0.375  # what the table says of the sine


@never.overlay(math.erfc)
def erfc(x: float):
    return 7.0


@reached.overlay(math.sin)
def sine(x: object):
    return SINE


def from_python(context, function):
    return lambda *args: context(function, *args)


ENGINES = {"interpreted": from_python, "compiled": lambda context, f: context.jit(f)}


@pytest.fixture(params=ENGINES, name="run")
def _run(request):
    return ENGINES[request.param]


def bits(value):
    """A result, with its type, bit for bit."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tobytes()
    raw = struct.pack("d", value) if isinstance(value, float) else value
    return type(value), raw


# ---- each kind of declaration ---------------------------------------------------------------


def narrow(x):
    return math.sin(x) * 300 + 300


def whole(x):
    return math.sin(x) * 2.5 + 2.0


def third(x):
    s = math.sin(x) / 3
    return s  # noqa: RET504


def two(x):
    return math.sin(x) + x * 2


def reassociated(x):
    return (math.sin(x) + 1e16) - 1e16 + x


def divided(x):
    return math.sin(x) / (x - x)


def outside(x):
    return x[5] if x[0] > math.sin(3.0) + 10 else x[1] + math.sin(x[0])


def ranged(x):
    total = 0.0
    for i in prange(8):
        total += math.sin(x) * i
    return total


# name: the function, how it is declared, the arguments
DECLARED = {
    "one signature": (whole, njit("i8(f8)"), [(1.0,), (1,), (np.float32(0.3),), (True,)]),
    "a narrow result": (narrow, njit("u1(f8)"), [(1.0,), (-3.5,)]),
    "narrow arguments": (whole, njit("f8(i8)"), [(1.75,), (3,)]),
    "single precision": (third, njit("f4(f4)"), [(0.1,), (2,)]),
    "several signatures": (two, njit(["i8(i8)", "f4(f4)"]), [(1,), (np.float32(0.7),)]),
    "no result": (third, njit("(f4,)"), [(0.1,)]),
    "a type of a variable": (third, njit(locals={"s": types.float32}), [(0.1,), (2,)]),
    "both": (third, njit("f8(f4)", locals={"s": types.float32}), [(0.1,)]),
    "fastmath": (reassociated, njit(fastmath=True), [(1.5,)]),
    "error_model": (divided, njit(error_model="numpy"), [(1.5,)]),
    "nogil": (third, njit(nogil=True), [(0.1,)]),
    "boundscheck": (outside, njit(boundscheck=True), [(np.array([1.0, 2.0]),)]),
    "inline": (third, njit(inline="always"), [(0.1,)]),
    "inline and a signature": (whole, njit("i8(f8)", inline="always"), [(1.0,)]),
    "parallel": (ranged, njit(parallel=True), [(0.1,)]),
    "of a cfunc": (whole, cfunc("i8(f8)"), [(1.0,)]),
}


def caller_of(function):
    def call(x):
        return function(x)

    return call


@pytest.mark.filterwarnings("ignore:.*has no effect.*", "ignore:.*First-class.*")
@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize("where", ["called", "inside"])
def test_what_is_declared_of_a_callee_holds(kind, where, run):
    function, declare, given = DECLARED[kind]
    callee = declare(function)
    if kind == "of a cfunc" and (where == "called" or run is from_python):
        pytest.skip("Python calls the function itself")
    program = callee if where == "called" else caller_of(callee)
    compiles = njit if run is ENGINES["compiled"] and where == "inside" else (lambda f: f)
    plain = compiles(program)
    by_hand = declare(_with_sine(function))  # which calls the table's sine
    by_hand = by_hand if where == "called" else compiles(caller_of(by_hand))
    for args in given:
        assert bits(run(Context(never), program)(*args)) == bits(plain(*args))
        found = run(Context(reached), program)(*args)
        assert bits(found) == bits(by_hand(*args))


def _with_sine(function):
    """The same function with the sine that the table has."""
    namespace = {**function.__globals__, "math": _Maths}
    return type(function)(function.__code__, namespace, function.__name__)


_Maths = type(math)("maths")
_Maths.sin = njit(lambda x: SINE)


def test_no_matching_signature_is_the_error_that_it_is_outside(run):
    limited = njit("f8(f8)")(third)
    for call in (limited, run(Context(never), limited)):
        with pytest.raises(TypeError, match="No matching definition for argument type"):
            call("x")
    with pytest.raises(NotCompilable, match=r"No matching definition.*unicode_type"):
        Context(never).jit(caller_of(limited))("x")


def test_an_ambiguous_call_is_the_error_that_it_is_outside(run):
    limited = njit(["i8(i8)", "f4(f4)"])(two)
    hot = run(Context(never), limited)
    for call in (limited, hot):
        with pytest.raises(TypeError, match="Ambiguous overloading"):
            call(1.7)
    assert bits(hot(3)) == bits(limited(3))
    with pytest.raises(TypeError, match="Ambiguous overloading"):
        hot(1.7)
    call = caller_of(limited)
    assert bits(Context(never).jit(call)(1.7)) == bits(njit(call)(1.7))  # compiled code chooses


def test_an_overlay_sees_what_the_program_gives_and_its_base_converts():
    @njit("i8(i8)")
    def f(x):
        return x * 2

    table = MethodTable("f")

    @table.overlay(f)
    def method(x: float):
        return x + 0.25

    call = Context(table).jit(lambda x: f(x))
    assert (call(1.5), call(1)) == (1.75, 2)
    assert (Context(table)(f, 1.5), Context(table)(f, 1)) == (1.75, 2)


def test_a_recursive_function_keeps_its_signature(run):
    for declared in (single, several):
        for x in (3.3, 4, np.float32(0.5)):
            assert bits(run(Context(never), declared)(x)) == bits(declared(x))
            call = caller_of(declared)
            assert bits(run(Context(never), call)(x)) == bits(njit(call)(x))


@njit("f4(f4)")
def single(x):
    return x * single(x - 1) if x > 1 else x


@njit(["i4(i4)", "f4(f4)"])
def several(x):
    return x * several(x - 1) if x > 1 else x


def test_a_change_of_a_table_is_seen_by_a_limited_function():
    @njit(["f8(f8)", "i8(i8)"])
    def f(x):
        return math.sin(x) * 8

    table = MethodTable("changes")
    hot = Context(table).jit(f)
    assert hot(0.5) == math.sin(0.5) * 8

    @table.overlay(math.sin)
    def one(x: float):
        return 2.0

    assert (hot(0.5), hot(np.float32(0.5))) == (16.0, 16.0)


def test_a_plugin_cannot_take_a_declaration_away():
    from overlay import Plugin

    class Inlines(Plugin):
        def inline(self, call):
            return True

    declared = njit("i8(f8)")(whole)
    with pytest.raises(NotCompilable, match="@njit declares types of it"):
        Context(plugins=(Inlines(),)).jit(caller_of(declared))(1.0)


def test_types_of_variables_are_an_option_of_jit():
    hot = Context(never).jit(third, locals={"s": types.float32})
    assert bits(hot(0.1)) == bits(njit(locals={"s": types.float32})(third)(0.1))


# ---- first-class functions --------------------------------------------------------------------

F = types.FunctionType(types.f8(types.f8))


def first(x):
    return math.sin(x) + 1


def second(x):
    return math.sin(x) + 2


def unrelated(x):
    return math.cos(x) + 3


MAKE = {"njit": njit("f8(f8)"), "cfunc": cfunc("f8(f8)")}
Pair = namedtuple("Pair", "left right")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    made = {kind: (make(first), make(second)) for kind, make in MAKE.items()}
    of_njit, of_cfunc = made["njit"], made["cfunc"]
    nested = (of_njit, 1.0)


def call_one(f, x):
    return f(x)


def call_both(fs, x):
    total = 0.0
    for f in fs:
        total += f(x)
    return total


def at(fs, i, x):
    return fs[i](x)


def global_njit(x):
    return call_both(of_njit, x)


def global_cfunc(x):
    return call_both(of_cfunc, x)


call_both = njit(call_both)


def of_pair(pair, x):
    return pair.right(x)


def by_default(x, fs=of_njit):
    return fs[1](x)


def one_by_default(x, f=of_cfunc[0]):
    return f(x)


@njit(types.f8(F, types.f8))
def takes_function(f, x):
    return f(x)


def to_declared(x):
    return takes_function(of_njit[0], x) + takes_function(of_cfunc[0], x)


def listed(functions):
    made = typed.List.empty_list(F)
    for function in functions:
        made.append(function)
    return made


def in_dict(functions):
    made = typed.Dict.empty(types.int64, F)
    for number, function in enumerate(functions):
        made[number] = function
    return made


FIRST_CLASS = {
    "an argument": (call_one, lambda fs, x: (fs[0], x)),
    "a tuple": (call_both, lambda fs, x: (fs, x)),
    "chosen in a tuple": (at, lambda fs, x: (fs, 1, x)),
    "a named tuple": (of_pair, lambda fs, x: (Pair(1, fs[1]), x)),
    "an argument that is declared": (takes_function, lambda fs, x: (fs[0], x)),
}
HELD = {
    "a global tuple": global_njit,
    "a global tuple of cfuncs": global_cfunc,
    "a default": by_default,
    "a cfunc as a default": one_by_default,
    "handed to what is declared": to_declared,
}


def expected(program, *args):
    """What a program gives that calls the table's sine."""
    return Context(reached)(program, *args)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("how", FIRST_CLASS)
def test_a_first_class_function_is_entered(how, kind, run):
    program, arguments = FIRST_CLASS[how]
    args = arguments(made[kind], 0.5)
    plain = program if hasattr(program, "py_func") else njit(program)
    assert bits(run(Context(never), program)(*args)) == bits(plain(*args))
    value = {1: SINE + 1, 2: SINE + 2, 3: 2 * SINE + 3}
    number = {"a tuple": 3, "chosen in a tuple": 2, "a named tuple": 2}.get(how, 1)
    assert run(Context(reached), program)(*args) == value[number]


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("how", HELD)
def test_a_first_class_function_that_the_program_holds_is_entered(how, run):
    program = HELD[how]
    values = dict.fromkeys(list(HELD)[:2], 2 * SINE + 3)
    values |= {"a default": SINE + 2, "a cfunc as a default": SINE + 1}
    assert bits(run(Context(never), program)(0.5)) == bits(njit(program)(0.5))
    assert run(Context(reached), program)(0.5) == values.get(how, 2 * SINE + 2)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("fill", [listed, in_dict])
def test_a_container_of_functions_is_native_where_no_method_is_below_and_refused_elsewhere(
    fill, kind
):
    functions = fill(made[kind])
    assert Context(never).jit(at)(functions, 1, 0.5) == math.sin(0.5) + 2
    with pytest.raises(NotCompilable, match="first is called through its address"):
        Context(reached).jit(at)(functions, 1, 0.5)
    with pytest.raises(NotCompilable, match="first is called through its address"):
        Context(reached)(njit(at), functions, 1, 0.5)
    assert Context(reached)(at, functions, 1, 0.5) == SINE + 2  # interpreted, each is called
    kept = MAKE[kind](unrelated)  # numba's containers hold the address alone
    harmless = fill([kept])
    assert Context(reached).jit(at)(harmless, 0, 0.5) == math.cos(0.5) + 3


@pytest.mark.filterwarnings("ignore:.*First-class.*")
def test_a_container_that_is_filled_in_a_context_is_entered(run):
    a, b = of_njit

    def program(x):
        functions = typed.List.empty_list(F)
        functions.append(a)
        functions.append(b)
        return functions[0](x) + functions[1](x)

    assert bits(run(Context(never), program)(0.5)) == bits(njit(program)(0.5))
    assert run(Context(reached), program)(0.5) == 2 * SINE + 3


@pytest.mark.filterwarnings("ignore:.*First-class.*")
def test_functions_that_are_returned_are_those_of_the_program(run):
    context = Context(reached)
    for functions in made.values():
        assert run(context, lambda f: f)(functions[0]) is functions[0]
    assert run(context, lambda i: of_njit[i])(1) is of_njit[1]
    assert run(context, lambda i: of_cfunc[i])(1) is of_cfunc[1]


@pytest.mark.filterwarnings("ignore:.*First-class.*")
def test_a_change_is_seen_below_a_function_that_was_handed_on():
    table = MethodTable("changes")
    hot = Context(table).jit(call_one)
    assert hot(of_cfunc[0], 0.5) == math.sin(0.5) + 1

    @table.overlay(math.sin)
    def one(x: float):
        return 2.0

    assert hot(of_cfunc[0], 0.5) == 3.0

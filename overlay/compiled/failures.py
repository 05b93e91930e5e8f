"""Errors found while numba infers types, carried through its own messages to the user.

numba retries a call as it learns more types, and repeats errors as text only. So an error of ours
is represented by a number in that text, and raised when numba gives up.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
import weakref
from collections.abc import Iterable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled.glue import GLUE
from overlay.core.errors import AmbiguousMethod, NotCompilable, OverlayError, closest, near_names
from overlay.core.location import caller, location_of, name_of, shown
from overlay.core.short_repr import a_or_an, named_value
from overlay.core.table import Method
from overlay.core.target import BUILTINS, DESCRIPTORS, describe

if TYPE_CHECKING:
    from overlay.plugins.markers import MarkedCall

__all__ = [
    "Failure",
    "accepted_by_none",
    "any_keywords",
    "arrays_joined",
    "called_by_numba",
    "callee_unknown",
    "calls_itself",
    "changed_at_run_time",
    "chosen_returned",
    "classes_compared",
    "context_as_value",
    "converts",
    "entered_on_device",
    "entered_without_function",
    "failure_in",
    "function_in_container",
    "functions_held",
    "functions_not_seen",
    "handed_on",
    "joined_with_none",
    "kernel_returns",
    "keywords_after_rest",
    "lists_of_functions",
    "makes_instance",
    "marker_left",
    "next_in_block",
    "no_constant",
    "no_meaning",
    "no_stage_on_device",
    "not_a_function",
    "not_taken",
    "of_body",
    "of_entry",
    "other_result",
    "outside_method",
    "power_of_array",
    "refuse_options",
    "replaced_by_position",
    "result_not_inferred",
    "returns_iterator",
    "runs_interpreted",
    "state_not_held",
    "state_on_device",
    "unknown_to_compiled_code",
]

NUMBERED: Final = re.compile(r"\[overlay failure (\d+)\]")
# locations in numba's messages, whose paths are relative or those of a notebook's temporary files
PLACES: Final = re.compile(
    r'File "(?P<file>[^"<]+)", line (?P<line>\d+):?|(?P<at>\S+) \((?P<n>\d+)\)$'
)
COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
LONGEST_REASON: Final = 6

_numbers = itertools.count(1)
_failures: weakref.WeakValueDictionary[int, Failure] = weakref.WeakValueDictionary()


class Failure:
    """An error of ours that passes through numba, and the calls that led to it, innermost first."""

    def __init__(self, error: OverlayError) -> None:
        self.error = error
        self.callers: list[tuple[str, str]] = []
        self.number = next(_numbers)
        _failures[self.number] = self

    def __str__(self) -> str:
        return f"{self.error}\n[overlay failure {self.number}]"

    def called_from(self, function: Any, path: str, line: int | None) -> None:
        """Record a function through which the error passes, and the location of the call in it."""
        row = name_of(function), shown(path, line)
        if row in self.callers:  # numba raises it again, perhaps for another caller
            del self.callers[self.callers.index(row) + 1 :]
        else:
            self.callers.append(row)

    def raised(self) -> OverlayError:
        """The error to raise: a fresh copy that lists the callers."""
        error = self.error
        where = error.where
        callers = [row for row in self.callers if not row[1].startswith(GLUE)]
        if callers and (where is None or isinstance(error, AmbiguousMethod)):
            where = callers[0][1]
        rows = [("called from", f"{name}   {at}") for name, at in callers]
        notes = (*error.notes, *rows)
        return type(error)(error.asked, where=where, notes=notes, help=error.help)


def failure_in(text: str) -> Failure | None:
    """The failure whose number is in one of numba's messages, or None."""
    found = NUMBERED.search(text)
    return _failures.get(int(found[1])) if found else None


def of_body(
    method: Method, function: Any, types: str, reason: str, where: str | None = None
) -> NotCompilable:
    """The error for a method's body, or the function that a generated method returned, that numba
    cannot compile.

    where: its line that numba rejects, if known.
    """
    lines, help = _remedied(reason, "write the method in the Python that numba knows")
    return NotCompilable(
        f"the method of {describe(method.target)} in table {method.table.name!r} cannot be "
        f"compiled for ({types})",
        where=where or location_of(function),
        notes=[("numba", line) for line in lines],
        help=f"{help}; or run it interpreted: ctx(f, ...)",
    )


def of_entry(
    function: Any, reason: str, where: str | None = None, *, can_interpret: bool = True
) -> NotCompilable:
    """The error for a function that numba cannot compile, for a reason unrelated to methods.

    can_interpret: whether its context also runs interpreted code.
    """
    lines, help = _remedied(reason, "this is numba's own limit, not an overlay's")
    if can_interpret:
        help += "; or run it interpreted: ctx(f, ...)"
    if any(line.startswith("NameError") for line in lines):
        help = "define it before the function is called"
    return NotCompilable(
        f"{name_of(function)} cannot be compiled",
        where=where or location_of(function),
        notes=[("numba", line) for line in lines],
        help=help,
    )


# What numba says of constructs that it does not know, what that means, and what to write.
LIMITS: Final = (
    (
        ("full_parfor_gufunc mode", "getitem("),
        "an item of a tuple of functions is taken at an index in a parallel loop",
        "hold the functions in a list or a dict",
    ),
    (
        ("exception_match",),
        "an except clause names a class of exceptions: numba knows `except:` and "
        "`except Exception:` alone",
        "write except Exception:, or test before for what would raise",
    ),
    (
        ("Exception object cannot be stored",),
        "an exception is given a name: numba does not keep the object",
        "leave out `as name`, and return a code for the kind of exception",
    ),
    (
        ("Cannot capture the non-constant value",),
        "a closure that captures a variable is put into a container or passed on",
        "pass the captured value as an argument, call the closure where it is chosen "
        "(one(x) if k else other(x)), or make the closures outside compiled code",
    ),
)


def _remedied(reason: str, otherwise: str) -> tuple[list[str], str]:
    """The message of numba, in the words of this package where it knows them, and a remedy."""
    for words, meaning, remedy in LIMITS:
        if all(each in reason for each in words):
            return [meaning], remedy
    return shortened(reason), otherwise


def not_taken(function: Any, name: str, value: Any) -> NotCompilable:
    """The error for an argument of no type that compiled code has."""
    interpreted = f"or run it interpreted: ctx({name_of(function)}, ...)"
    if callable(value):
        remedy = "give a function that numba.njit has compiled, or make one that names it: "
        remedy += f"ctx.jit(lambda ...: {name_of(function)}({name_of(value)}, ...))"
    elif isinstance(value, dict):
        remedy = "give a numba.typed.Dict"
    else:
        remedy = "give numbers, texts, arrays, tuples of these or containers of numba.typed"
    return NotCompilable(
        f"{name_of(function)} is given {named_value(value)} as {name!r}, which compiled code does "
        "not take",
        where=caller(),
        notes=[("defined", location_of(function))],
        help=f"{remedy}; {interpreted}",
    )


def callee_unknown(callee: str, reason: str, path: str, line: int) -> NotCompilable:
    """The error for a call whose callee does not follow from types."""
    return NotCompilable(
        f"{callee} is {reason}, where compiled code cannot tell which method it enters",
        where=shown(path, line),
        help="call it by its name, with positional arguments",
    )


def calls_itself(method: Method, function: Any, types: str) -> OverlayError:
    """The error for a method that calls its own target with the same types again."""
    return OverlayError(
        f"the method of {describe(method.target)} in table {method.table.name!r} calls "
        f"{describe(method.target)}({types}), which enters the same method again without end",
        where=location_of(function),
        help="call call_next(...) for the next method, or nonoverlay(f)(...) for no overlay at "
        "all; put a recursion that ends in a helper function",
    )


def no_meaning(target: Any, types: str, nearest: list[Method]) -> NotCompilable:
    """The error for a call that no method accepts, of a target that numba cannot compile."""
    return NotCompilable(
        f"no method accepts {describe(target)}({types}), and numba cannot compile "
        f"{describe(target)} itself",
        notes=[("closest", str(method)) for method in nearest[:3]],
        help="add a method for these types",
    )


def no_constant(owner: Any, attribute: str, value: Any) -> NotCompilable:
    """The error for a read of an attribute whose value compiled code cannot hold."""
    kind = name_of(type(value))
    shown_kind = kind if value else f"{kind} that is empty"
    return NotCompilable(
        f"compiled code reads {name_of(owner)}.{attribute}, {a_or_an(shown_kind)}, and numba "
        "has no constant of it",
        help="make it a tuple or an array of numpy, or pass it as an argument; or run the program "
        "interpreted: ctx(f, ...)",
    )


def accepted_by_none(target: Any, types: str, nearest: list[Method]) -> NotCompilable:
    """The error for a call that neither a method nor numba's own implementation accepts."""
    return NotCompilable(
        f"no method accepts {describe(target)}({types}), nor does numba's own {describe(target)}",
        notes=[("closest", str(method)) for method in nearest[:3]],
        help="add a method for these types, or convert the arguments",
    )


def outside_method() -> OverlayError:
    """The error for ``call_next`` outside a method."""
    return OverlayError(
        "call_next() was called outside a method that a context runs",
        help="call it directly in the body of a function registered by @table.overlay(...)",
    )


def bound_method(target: Any) -> NotCompilable:
    """The error for a call of a bound method where a table has methods of its class's function."""
    return NotCompilable(
        f"{describe(target)} is overlaid, and is called as a bound method of an object (as "
        "random.uniform is of its module's generator), which compiled code does not have",
        help="run the program interpreted: ctx(f, ...); or call it through a function of the "
        "program, and overlay that function",
    )


def context_as_value() -> NotCompilable:
    """The error for a use of a context that needs it as a value at run time."""
    return NotCompilable(
        "a context is used as a value; compiled code can only call a context, read its metadata "
        "and state, join it with another, and replace parts of it by constants",
        help="write current_context().metadata where it is used, or make the context outside "
        "compiled code",
    )


def changed_at_run_time(name: str) -> NotCompilable:
    """The error for a ``context.replace`` of something that has to be known at compile time."""
    return NotCompilable(
        f"compiled code cannot replace {name} of a context by a value known only at run time",
        help="only metadata and plugins may be; replace anything else by constants, and before: "
        "context.replace(...).replace(metadata=...)",
    )


def makes_instance(cls: type) -> NotCompilable:
    """The error for a call of a class that numba does not know."""
    package = cls.__module__.partition(".")[0]
    help = "use a named tuple or a class of numba's @jitclass"
    if package in ("overlay", "functools"):
        help = "make it outside, and mention it"
    if package in ("builtins", "itertools"):
        help = "write the loop with indices, or make what it gives outside, and hand that over"
    return NotCompilable(f"compiled code cannot make an instance of {name_of(cls)}", help=help)


def joined_with_none(metadata: str) -> NotCompilable:
    """The error for ``outer | inner`` where it is unknown which of the two gives the metadata."""
    return NotCompilable(
        "compiled code cannot join a context that has metadata with one whose metadata, "
        f"{metadata}, may be None at run time",
        help="test for None first, and join the contexts in each branch",
    )


def replaced_by_position() -> NotCompilable:
    """The error for ``context.replace`` without names, or where numba has lost them."""
    return NotCompilable(
        "compiled code cannot tell which part of the context is replaced",
        help="pass it by keyword: replace(metadata=...); numba loses keywords in a try block on "
        "Python 3.12: make the context before the block there",
    )


def refuse_options(function: Any, given: dict[str, Any], known: Iterable[str], target: str) -> None:
    """Raise NotCompilable for an option of ``ctx.jit`` that is not known. target: for what the
    function is compiled."""
    known = tuple(known)
    for name, value in given.items():
        if name not in known:
            shown = ", ".join(sorted(each for each in known if not each.startswith("_")))
            raise NotCompilable(
                f"cannot compile {name_of(function)} for {target} with {name}={value!r}: there is "
                "no such option",
                where=caller(),
                notes=closest(near_names(name, known)) or [("known", shown)],
                help="check the spelling, or leave the option out",
            )


def unknown_to_compiled_code(name: str, part: str) -> NotCompilable:
    """The error for metadata, or an attribute of a plugin, of a type whose values cannot be
    compared."""
    return NotCompilable(
        f"compiled code cannot compare values of {part}, which {name} of a context has",
        help="use numbers, bools, text, members of enumerations, and tuples of these",
    )


def result_not_inferred(target: Any, reason: str) -> NotCompilable:
    """The error for a result type that cannot be inferred, in a context that is made at run
    time."""
    return NotCompilable(
        f"the result type of {name_of(target)} does not follow from types alone, and the context "
        "that it runs in is known only at run time",
        where=location_of(target),
        notes=[("because", line) for line in shortened(NUMBERED.sub("", reason))],
        help=f"annotate the result type: def {name_of(target)}(...) -> float",
    )


def other_result(target: Any, expected: str, found: str, context: Any) -> NotCompilable:
    """The error for a call whose result type differs from the one in code compiled before."""
    return NotCompilable(
        f"{name_of(target)} returns {found} in {context!r}, where compiled code expects {expected}",
        where=location_of(target),
        help="return the same type in all contexts, or annotate the result type: "
        f"def {name_of(target)}(...) -> float",
    )


def next_in_block(target: Any) -> NotCompilable:
    """The error for ``call_next`` in an object-mode block."""
    return NotCompilable(
        f"the method of {describe(target)} mentions call_next in an object-mode block",
        help="call call_next before the block, and use its result in the block",
    )


def entered_without_function() -> NotCompilable:
    """The error for ``context(...)`` or ``recurse(...)`` without its positional arguments."""
    return NotCompilable(
        "compiled code cannot tell which function is called in which context",
        help="write context(function, ...) or recurse(context, function, ...), both by position",
    )


def handed_on(*functions: Any) -> NotCompilable:
    """The error for a function with a context of its own that is passed through several others, or
    for one of several functions."""
    name = ", ".join(sorted(map(name_of, functions)))
    return NotCompilable(
        "compiled code cannot tell in which context "
        f"{name if len(functions) == 1 else f'one of {name}'} is called",
        where=location_of(functions[0]),
        help="enter the context at the call: lambda *args: context(function, *args)",
    )


def state_not_held(state: Any) -> NotCompilable:
    """The error for a state of a type that numba cannot share with Python."""
    return NotCompilable(
        f"compiled code cannot hold the state of the context, {a_or_an(type(state).__qualname__)}",
        help="use a numpy array, an instance of a jitclass, or a typed list or dict of numba's",
    )


def function_in_container(function: Any, where: str) -> NotCompilable:
    """The error for a function that leads to a method, but is called through its address alone."""
    function = getattr(function, "_pyfunc", function)
    return NotCompilable(
        f"{name_of(function)} is called through its address, in {where}, and may lead to a method "
        "of this context, which such a call would miss",
        where=location_of(function),
        help="pass the function by itself or in a tuple, or fill the container in code that is "
        "compiled in the context",
    )


def functions_not_seen(ty: str) -> NotCompilable:
    """The error for functions in an argument from which they cannot be read."""
    return NotCompilable(
        f"an argument of type {ty} contains functions that are called through their addresses, "
        "and might lead to methods of this context",
        help="pass the functions by themselves, in a tuple, a typed list or a typed dict",
    )


def not_a_function(value: Any) -> NotCompilable:
    """The error for a call of a callable object that is no function."""
    kind = type(value)
    name = getattr(value, "__qualname__", None) if kind is MethodType else None
    said = f"the bound method {name}" if name else f"an instance of {name_of(kind)}"
    why = "whose attributes may change while it runs"
    if kind in (*BUILTINS, *DESCRIPTORS):
        said, why = describe(value), "which numba does not know"
    return NotCompilable(
        f"compiled code cannot call {said}, {why}",
        where=location_of(value) if kind is MethodType else None,
        help="hold a function in its place, which takes what it needs as arguments, captures it "
        "(a closure) or is given it by functools.partial; or give the class a method "
        "__overlay_compiled__",
    )


def arrays_joined(plain: str) -> NotCompilable:
    """The error for a variable that is an array of plain numbers, or one of an interpretation."""
    return NotCompilable(
        f"a variable is an array of constants, {plain}, on one path and an active one on another; "
        "compiled code does not convert arrays, which others may hold",
        help="begin with an active array: a + 0.0 * x for a, or one that the function creates by "
        "np.zeros(n), np.ones(n) or np.copy(a)",
    )


def power_of_array(ufunc: Any) -> NotCompilable:
    """The error for a power of an array with an exponent that is a number, where a ufunc that numpy
    may compute it by is overlaid."""
    return NotCompilable(
        f"{describe(ufunc)} is overlaid, and which ufunc numpy computes a power of an array by "
        "(power, square, sqrt or reciprocal) depends on the exponent, a number",
        help="call the ufunc itself: np.power(a, b), np.square(a), np.sqrt(a)",
    )


def lists_of_functions() -> NotCompilable:
    """The error for lists of different functions among which one is chosen."""
    return NotCompilable(
        "lists of functions that compiled code makes are brought together, and hold different "
        "functions",
        help="write tuples in their place, or make the lists outside of compiled code",
    )


def classes_compared(classes: Sequence[Any]) -> NotCompilable:
    """The error for a comparison of classes of which numba knows no more than their numbers."""
    return NotCompilable(
        f"compiled code cannot tell whether {' and '.join(map(str, classes))} are one class: "
        "Python's numbers and numpy's share types there",
        help="ask isinstance(value, float), or choose by the types of arguments: a method table or "
        "a generic function",
    )


def functions_held(container: Any, use: str, place: tuple[str, int] | None = None) -> NotCompilable:
    """The error for a use of a list, a dict or a dataclass with functions that is no read of it."""
    kind = type(container).__qualname__
    return NotCompilable(
        f"{a_or_an(kind)} with functions that the program holds is {use}; compiled code can "
        "read its items alone, so that it enters the methods of these",
        where=place and shown(*place),
        help="index it, iterate over it or look for an item in it, and change it in code that the "
        "interpreter runs",
    )


def keywords_after_rest(function: Any) -> NotCompilable:
    """The error for a function with both ``*rest`` and keyword-only parameters."""
    return NotCompilable(
        f"{name_of(function)} has parameters after *{_rest_of(function)}, which numba cannot "
        "compile",
        where=location_of(function),
        help=f"put them before *{_rest_of(function)}, or leave it out",
    )


def any_keywords(function: Any) -> NotCompilable:
    """The error for a function that takes any keywords, as ``**names``."""
    code = function.__code__
    names = code.co_varnames[_count(code) + bool(code.co_flags & inspect.CO_VARARGS)]
    return NotCompilable(
        f"{name_of(function)} takes any keywords, as **{names}, which numba cannot compile",
        where=location_of(function),
        help="name the parameters, or run the program interpreted: ctx(f, ...); of an @njit "
        "function that it calls, f.py_func",
    )


def runs_interpreted(function: Any) -> NotCompilable:
    """The error for a function of an interpretation, which numba cannot compile."""
    return NotCompilable(
        f"compiled code calls {name_of(function)}, which runs interpreted alone",
        where=location_of(function),
        help="call it before, and call what it gives: compiled code calls derivative(f), "
        "gradient(f) and invert(f) that were made outside of it, and autodiff(f, x)",
    )


def declares_types(function: Any, declared: str) -> NotCompilable:
    """The error for an ``@njit`` function that cannot be interpreted, as it converts to the types
    that it declares."""
    name = name_of(function)
    return NotCompilable(
        f"{name} declares types, to which compiled code converts, and has to be interpreted here: "
        "its arguments, or a table in force, are known to interpreted code only",
        where=location_of(function),
        notes=[("declared", declared)],
        help=f"declare no types of {name}, or doubles for floats",
    )


def of_jitclass(name: str) -> NotCompilable:
    """The error for an instance of a jitclass that is made or changed in interpreted code."""
    return NotCompilable(
        f"an instance of the jitclass {name} is made or changed where its code has to be "
        "interpreted: the values, or a table in force, are known to interpreted code only",
        where=caller(),
        help="make the instance before, and give such values as arguments of its methods; or "
        "compile the code that makes it, ctx.jit(f)",
    )


def _rest_of(function: Any) -> str:
    code = function.__code__
    return code.co_varnames[_count(code)]


def _count(code: Any) -> int:
    """The number of named parameters."""
    return code.co_argcount + code.co_kwonlyargcount


def kernel_returns(function: Any, returned: str) -> NotCompilable:
    """The error for a kernel with a result."""
    return NotCompilable(
        f"{name_of(function)} returns {returned}: a kernel returns nothing",
        where=location_of(function),
        help="write the results into an array that is an argument",
    )


def chosen_on_device(functions: Sequence[Any]) -> NotCompilable:
    """The error for a function that a kernel chooses at run time and calls later."""
    names = ", ".join(sorted(map(name_of, functions)))
    first, second, *_ = (*map(name_of, functions), "g")
    return NotCompilable(
        f"a kernel keeps one of {names}, chosen at run time, in a variable or a container",
        help=f"choose where it is called: ({first} if condition else {second})(x); or between "
        f"calls: {first}(x) if condition else {second}(x)",
    )


def edited_to_another_type(function: Any, given: str, wanted: str) -> NotCompilable:
    """The error for a call of a function that comes as a value, which plugins have edited."""
    return NotCompilable(
        f"plugins replaced a call of {name_of(function)}, which comes as a value, before types "
        f"were known, and its result is {given}, not {wanted}",
        help="call it by its name, or replace the call in after_inference",
    )


def chosen_returned(function: Any) -> NotCompilable:
    """The error for a function with a context of its own, or without its methods, that leaves
    compiled code as one of several."""
    return NotCompilable(
        f"{name_of(function)} is one of several functions, one of which compiled code returns, and "
        "is bound to its own context",
        where=location_of(function),
        help="call it in compiled code, and return its result",
    )


def called_by_numba(functions: Sequence[Any]) -> NotCompilable:
    """The error for a function chosen at run time that one of numba's own functions is given."""
    names = ", ".join(sorted(map(name_of, functions)))
    return NotCompilable(
        f"one of numba's own functions is given one of {names}, chosen at run time",
        help="write the loop that calls it, or choose between two calls instead of two functions",
    )


def marker_left(plugin: Any, call: MarkedCall, changed: bool) -> NotCompilable:
    """The error for a plugin that has left a call of one of its markers in LLVM."""
    said = "says that it changed the module" if changed else "says that it changed nothing"
    return NotCompilable(
        f"a call of the marker {name_of(call.marker)} is left over",
        where=call.where,
        notes=[("plugin", f"{plugin!r} {said}")],
        help="remove or replace each of module.calls in the plugin's hook marked",
    )


def state_on_device() -> NotCompilable:
    """The error for a kernel that reads the state of its context."""
    return NotCompilable(
        "the state of a context is in the host's memory, which a kernel cannot read",
        help="pass the array to the kernel as an argument",
    )


def entered_on_device() -> NotCompilable:
    """The error for a kernel that enters a context unknown at compile time."""
    return NotCompilable(
        "a kernel enters a context that is known only at run time, for which only the host can "
        "compile code",
        help="give metadata and plugins as constants, or pass the value as an argument",
    )


def no_stage_on_device(plugin: Any, stage: str, first: tuple[int, int]) -> NotCompilable:
    """The error for a plugin with a hook into an optimiser that code for a GPU does not pass
    through. first: the capability from which the code of whole kernels does."""
    return NotCompilable(
        f"{plugin!r} has {stage}, and code for this GPU is optimised by NVIDIA's compiler",
        notes=[
            (
                "why",
                "libNVVM runs no other passes, and reads an older form of LLVM IR than numba's "
                "LLVM writes",
            ),
            (
                "else",
                "from compute capability {}.{} on a kernel is optimised here, with all that it "
                "calls, where the plugin is active in the kernel".format(*first),
            ),
        ],
        help="edit the module in after_codegen, which runs before, or in marked",
    )


def converts(target: Any, returned: str) -> NotCompilable:
    """The error for a method result that plum would convert to its return annotation."""
    return NotCompilable(
        f"{describe(target)} returns {a_or_an(returned)}, which plum converts to the return "
        "annotation of the method; compiled code does not convert",
        where=location_of(target),
        help="return a value of the annotated type",
    )


def returns_iterator(method: Method, returned: str) -> NotCompilable:
    """The error for a method that returns an iterator, which numba cannot return from a
    function."""
    return NotCompilable(
        f"the method of {describe(method.target)} in table {method.table.name!r} returns an "
        f"iterator, {returned}, which a compiled function cannot",
        where=method.where,
        help="make it a generator, or return a list, a tuple or an array",
    )


STAGES: Final = "Failed in nopython mode", "Failed in untyped mode", "Failed in cuda mode"


def shortened(reason: str) -> list[str]:
    """The first informative lines of one of numba's messages, without duplicates, and with
    locations in our format."""
    lines = (PLACES.sub(_place, line.strip()) for line in COLOUR.sub("", reason).splitlines())
    telling = [
        line
        for line in dict.fromkeys(lines)
        if line and not line.startswith(("During:", *STAGES, "<source", "^"))
    ]
    return telling[:LONGEST_REASON]


def _place(found: re.Match[str]) -> str:
    if found["file"] is not None:
        return f"at {shown(os.path.abspath(found['file']), int(found['line']))}"
    path = found["at"]
    return shown(path, int(found["n"])) if os.path.isabs(path) else found[0]

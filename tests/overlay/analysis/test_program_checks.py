"""The checker: what it finds in functions, and that it is silent where nothing certainly fails."""

from __future__ import annotations

import collections
import functools
import io
import math
import re
import warnings

import pytest

from overlay import Context, MethodTable, OverlayWarning
from overlay.analysis import CheckerPlugin, Findings, check
from overlay.core.errors import OverlayError
from tests.overlay.analysis.checked_modules import ENTRIES, PUBLISHED, named, type_of
from tests.overlay.analysis.planted_errors import (
    KINDS,
    analysed_lines,
    planted,
    raised_by,
    run_lines,
)
from tests.overlay.analysis.public_functions import STANDARD, TRUE, findings_in

_CASES = [(name, entry) for name, entries in ENTRIES.items() for entry in entries]
PATTERN = re.compile("a(b)")
switch = False


def rebinds():
    global late
    late = 1


class Shape:
    sides = 4

    def __init__(self, width):
        self.width = width
        self.parts = [width]

    def area(self, height=2):
        return self.width * height

    @property
    def name(self):
        return self.wdith

    def __len__(self):
        return self.parts.cuont(1)

    def __iter__(self):
        yield self.partz


class Slotted:
    __slots__ = ("one",)

    def __init__(self):
        self.one = 1


class Open:
    def __getattr__(self, name):
        return name


class Filled:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


Point = collections.namedtuple("Point", "x y")


def scaled(value, *, by=2):
    return value * by


# What the checker is to find is wrong for other tools, too.
# ruff: noqa: F821, B007, C416


# By what fails: a function, the types of its arguments, and the nearest candidate.
def misspelt_global(x):
    return scalde(x)


def misspelt_local(values):
    total = 0
    for value in values:
        total += value
    return totla


def unset_local(x):
    result = later + x
    later = 1
    return result + later


def of_a_string(x):
    return x.uper()


def of_a_method_that_is_not_called(x):
    return x.strip.split(",")


def of_a_part_of_a_number(x):
    return x.real.imagg


def of_a_list():
    made = []
    made.apend(1)
    return made


def of_an_item(values):
    return [value.uper() for value in values]


def of_a_match(text):
    found = PATTERN.match(text)
    if found is None:
        return ""
    return found.grop(1)


def of_a_module(x):
    return math.sqart(x)


def of_a_class(x):
    return Shape.siides + x


def of_an_object(x):
    return Shape(x).widht


def of_what_an_object_holds(x):
    return Shape(x).parts.apend(1)


def of_a_named_tuple(x):
    return Point(x, 2).z


def in_a_property(x):
    return Shape(x).name


def in_a_special_method(x):
    return len(Shape(x))


def in_an_iteration(x):
    return list(Shape(x))


def in_a_callback(values):
    return sorted(values, key=lambda each: each.reel)


def of_slots():
    return Slotted().two


def in_a_generator(values):
    def inner():
        for value in values:
            yield value.bit_lenght()

    return list(inner())


def of_both(flag):
    value = "text" if flag else b"text"
    return value.splt()


def too_few(x):
    return Shape(x).area(1, 2)


def none_for_init():
    return Shape()


def unknown_keyword(x):
    return scaled(x, bye=3)


def by_place(x):
    return scaled(x, 3)


def unpacked(x):
    both = (x, 2)
    return scaled(*both)


def of_a_builtin(x):
    return len(x, 1)


def of_a_method_in_c(x):
    return x.split(",", maxsplits=1)


def of_a_class_in_c(s):
    return io.StringIO(s, initial_values="")


def of_a_function_in_c(items):
    return functools.reduce(max, items, initials=0)


def without_signature(x):
    return max(x, keys=len)


FAILING = [
    (misspelt_global, (int,), "name", "scaled"),
    (misspelt_local, (list[int],), "name", "total"),
    (unset_local, (int,), "name", None),
    (of_a_string, (str,), "attribute", "upper"),
    (of_a_method_that_is_not_called, (str,), "attribute", None),
    (of_a_part_of_a_number, (int,), "attribute", "imag"),
    (of_a_list, (), "attribute", "append"),
    (of_an_item, (list[str],), "attribute", "upper"),
    (of_a_match, (str,), "attribute", "group"),
    (of_a_module, (float,), "attribute", "sqrt"),
    (of_a_class, (int,), "attribute", "sides"),
    (of_an_object, (int,), "attribute", "width"),
    (of_what_an_object_holds, (int,), "attribute", "append"),
    (of_a_named_tuple, (int,), "attribute", None),
    (in_a_property, (int,), "attribute", "width"),
    (in_a_special_method, (int,), "attribute", "count"),
    (in_an_iteration, (int,), "attribute", "parts"),
    (in_a_callback, (list[int],), "attribute", "real"),
    (of_slots, (), "attribute", None),
    (in_a_generator, (list[int],), "attribute", "bit_length"),
    (of_both, (bool,), "attribute", "split"),
    (too_few, (int,), "call", None),
    (none_for_init, (), "call", None),
    (unknown_keyword, (int,), "call", "by"),
    (by_place, (int,), "call", None),
    (unpacked, (int,), "call", None),
    (of_a_builtin, (str,), "call", None),
    (of_a_method_in_c, (str,), "call", "maxsplit"),
    (without_signature, (list[str],), "call", "key"),
    (of_a_class_in_c, (str,), "call", "initial_value"),
    (of_a_function_in_c, (list[int],), "call", "initial"),
]


@pytest.mark.parametrize(
    ("function", "types", "kind", "nearest"),
    FAILING,
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_certainly_fails_is_found_with_the_nearest_names(function, types, kind, nearest):
    (finding,) = check(function, *types)
    assert finding.kind == kind
    assert nearest is None or finding.candidates[0] == nearest
    assert finding.where.rpartition(":")[0].endswith("test_program_checks.py")


def unknown_object(x):
    return x.anything(1, 2, three=3).at_all


def one_of_two(flag):
    value = "text" if flag else 1
    return value.upper()


def is_caught(x):
    try:
        return x.missing
    except AttributeError:
        return None


def name_is_caught():
    try:
        return not_there
    except NameError:
        return None


def call_is_caught(x):
    try:
        return scaled(x, 1, 2)
    except TypeError:
        return None


def caught_by_the_caller(x):
    try:
        return of_a_string(x)
    except AttributeError:
        return None


def is_asked(x):
    return x.missing if hasattr(x, "missing") else getattr(x, "missing", None)


def is_tested(x):
    return x.upper() if isinstance(x, str) else x + 1


def by_a_flag(x):
    return told_by(x, "number")


def told_by(x, kind):
    if kind == "text":
        return x.upper()
    return x + 1


def never_so(x):
    return x.missing if switch else x


def bound_late():
    return late


def has_any(x):
    return Open().anything


def is_filled():
    return Filled(one=1).one


def may_be_none(flag):
    value = None
    if flag:
        value = "text"
    return value.upper()


def set_on_one_way(flag):
    if flag:
        found = 1
    return found


def set_unless_left(n):
    for i in range(n):
        if i:
            break
    else:
        found = n
    return found


def set_by_a_loop(values):
    for value in values:
        pass
    return value


def changed_unseen(x):
    held = []
    x.fill(held)
    return held[0].anything


def changed_by_an_alias():
    held = [[]]
    for each in held:
        each.append("text")
    return held[0][0].upper()


def stored_outside():
    made = Shape(1)
    made.colour = "red"
    return made.colour.upper()


def counts_down(n):
    return n if n == 0 else counts_down(n - 1)


def comprehension_hides(x):
    return [x for x in x if x], {k: v for k, v in {}.items()}


SILENT = [
    (unknown_object, (object,)),
    (one_of_two, (bool,)),
    (is_caught, (int,)),
    (name_is_caught, ()),
    (call_is_caught, (int,)),
    (caught_by_the_caller, (str,)),
    (is_asked, (int,)),
    (is_tested, (int,)),
    (is_tested, (str,)),
    (by_a_flag, (int,)),
    (never_so, (int,)),
    (bound_late, ()),
    (has_any, (int,)),
    (is_filled, ()),
    (may_be_none, (bool,)),
    (set_on_one_way, (bool,)),
    (set_unless_left, (int,)),
    (set_by_a_loop, (list[int],)),
    (changed_unseen, (object,)),
    (changed_by_an_alias, ()),
    (stored_outside, ()),
    (counts_down, (int,)),
    (comprehension_hides, (list[int],)),
]


@pytest.mark.parametrize(("function", "types"), SILENT, ids=[case[0].__name__ for case in SILENT])
def test_nothing_is_found_where_nothing_certainly_fails(function, types):
    assert check(function, *types) == ()


# ---- the interface ------------------------------------------------------------------------


def outer(x):
    return middle(x)


def middle(x):
    return of_a_string(x)


def test_a_finding_has_the_path_of_calls_that_leads_to_it():
    found = check(outer, str)
    (finding,) = found
    lines = [function.__code__.co_firstlineno + 1 for function in (outer, middle, of_a_string)]
    assert [name for _, name in finding.path] == ["outer", "middle"]
    places = [*(where for where, _ in finding.path), finding.where]
    assert [int(where.rpartition(":")[2]) for where in places] == lines
    assert finding.function is of_a_string
    assert str(found) == str(finding)
    assert "no attribute 'uper'" in repr(finding)
    assert "no attribute 'uper'" in repr(found)
    assert "closest: upper" in str(finding)
    assert str(Findings(())) == "nothing was found"
    assert repr(Findings(())) == "<Findings nothing was found>"


def test_a_place_is_found_on_the_paths_on_which_it_fails_alone():
    assert check(lambda x: told_by(x, "text"), str) == ()
    (finding,) = check(lambda x: told_by(x, "text"), int)
    assert "class int" in finding.message


def test_wrong_arguments_of_the_entry_are_an_error():
    with pytest.raises(OverlayError):
        check(outer, str, int, int)
    with pytest.raises(OverlayError):
        check(math.sin, float)


def test_calls_are_resolved_as_the_context_does():
    table = MethodTable("texts")

    @table.overlay(of_a_string)
    def upper(x: str):
        return x.upper()

    @table.overlay(math.sin)
    def sine(x: float):
        return x.siine

    assert check(outer, str, context=Context(table)) == ()
    (finding,) = check(lambda x: math.sin(x), float, context=Context(table))
    assert finding.function is sine


def test_a_class_is_checked_with_its_methods_of_creation():
    class Broken:
        def __init__(self, size):
            self.size = size.rael

    (finding,) = check(Broken, int)
    assert finding.candidates[0] == "real"


# ---- as a plugin --------------------------------------------------------------------------


def loud(text, is_loud):
    return text.uper() if is_loud else text


def test_a_plugin_warns_where_a_function_is_entered():
    checker = CheckerPlugin()
    with pytest.warns(OverlayWarning, match="no attribute 'uper'"):
        assert Context(plugins=(checker,))(loud, "text", False) == "text"
    assert [finding.kind for finding in checker.findings] == ["attribute"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Context(plugins=(checker,))(loud, "text", False) == "text"


def halved(x):
    return x / 2


def halved_wrongly(x):
    return halved(x, 2)


def test_a_plugin_warns_where_a_function_is_compiled():
    checker = CheckerPlugin()
    warned = pytest.warns(OverlayWarning, match="does not take such arguments")
    with warned, pytest.raises(OverlayError):
        Context(plugins=(checker,)).jit(halved_wrongly)(1.0)
    assert [finding.kind for finding in checker.findings] == ["call"]
    assert Context(plugins=(checker,)).jit(halved)(1.0) == 0.5
    assert len(checker.findings) == 1


# ---- modules of the standard library ------------------------------------------------------


def test_at_least_twenty_modules_are_checked():
    assert len(ENTRIES) >= 20


@pytest.mark.parametrize(
    ("name", "entry"), _CASES, ids=lambda each: each if type(each) is str else each[0]
)
def test_the_standard_library_is_silent(name, entry):
    module = named(name)
    _, function, args = entry
    assert check(function(module), *map(type_of, args(module))) == ()


QUICK = ("packaging.version", "cycler", "pluggy", "click")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.long) for n in PUBLISHED]
)
def test_published_packages_are_silent(name):
    module = pytest.importorskip(name)
    for _, function, args in PUBLISHED[name]:
        assert check(function(module), *map(type_of, args(module))) == ()


@pytest.mark.parametrize("name", STANDARD)
def test_public_functions_of_the_standard_library_are_silent(name):
    found = [(where, str(finding)) for where, finding in findings_in(name)]
    assert [
        each for each in found if TRUE.get(each[0], "\n") not in each[1].partition("\n")[0]
    ] == []


def _found(name, count):
    """The number of errors planted in a module that raise, in code that the analysis reaches, and
    those of them that are not found."""
    module = named(name)
    lines = set[int]()
    for _, function, args in ENTRIES[name]:
        given = args(module)
        reached = analysed_lines(module, function(module), tuple(map(type_of, given)))
        lines |= reached & run_lines(module, function(module), given)
    raised, missed = 0, []
    for each in (each for kind in KINDS for each in planted(name, kind, lines, count)):
        outcome = _outcome(each, name)
        raised += outcome is not None
        missed += [each] if outcome is False else []
    return raised, missed


def _outcome(each, name):
    """Whether a planted error is found; None if no entry raises it."""
    try:
        module = each.made()
        entries = [(function(module), args(module)) for _, function, args in ENTRIES[name]]
    except Exception:  # raised as the module is made
        return None
    for (_, _, args), (function, given) in zip(ENTRIES[name], entries, strict=True):
        if raised_by(function, args(module), each.line) is not None:
            found = check(function, *map(type_of, given))
            return any(int(f.where.rpartition(":")[2]) == each.line for f in found)
    return None


def test_planted_errors_are_found():
    names = ("textwrap", "statistics", "fractions", "calendar", "shlex", "colorsys")
    counts = [_found(name, 3) for name in names]
    raised, missed = sum(r for r, _ in counts), [m for _, m in counts for m in m]
    assert raised >= 40
    assert len(missed) <= 0.05 * raised, [(each.module, each.line, each.what) for each in missed]


@pytest.mark.long
@pytest.mark.parametrize("name", ENTRIES)
def test_planted_errors_are_found_in_each_module(name):
    raised, missed = _found(name, 8)
    assert raised
    assert len(missed) <= 0.4 * raised, [(each.line, each.what) for each in missed]

import calendar
import contextlib
import io
import linecache
import logging
import math
import sys
import threading

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, OverlayError
from overlay.interpretations.printing import Slicer, collect, silenced
from overlay.interpretations.printing.slicing import sliced, sliced_source

LOG = logging.getLogger(__name__)


def noisy(xs, verbose=True):
    total = 0
    n = len(xs)
    seen = 0
    for i, x in enumerate(xs):
        label = f"{i}/{n}"
        share = 100.0 * i / n
        print(label, share)
        seen += 2
        total += x
        if verbose:
            print("total", total, seen)
    for k in range(3):
        print(k)
    return total, print("end")


class Counter:
    __step = 3

    def __init__(self):
        super().__init__()
        self.n = 0

    def go(self):
        before = self.__step
        print(before, self.__step)
        self.n += self.__step
        return self.n


# ---- collecting --------------------------------------------------------------------------------


def test_what_a_library_prints_is_collected_and_not_shown(capsys):
    found = collect(calendar.TextCalendar().prmonth, 2024, 2)
    assert found.text == calendar.TextCalendar().formatmonth(2024, 2)
    assert found.lines[0].split() == ["February", "2024"]
    assert "calendar.py" in found.calls[0].where
    assert capsys.readouterr().out == ""


def test_separators_and_files_are_honoured(capsys):
    def program(file):
        print(1, 2, sep="-", end=".")
        print("to a file", file=file)

    file = io.StringIO()
    assert collect(program, file).text == "1-2."
    assert file.getvalue() == "to a file\n"
    assert capsys.readouterr().out == ""


def test_threads_of_the_program_are_collected_and_others_print_as_ever(capsys):
    meanwhile, begun = threading.Event(), threading.Event()

    def aside():
        meanwhile.wait(30)
        print("aside")
        begun.set()

    def program():
        thread = threading.Thread(target=print, args=("below",))
        thread.start()
        thread.join()
        meanwhile.set()
        begun.wait(30)
        print("here")

    other = threading.Thread(target=aside)
    other.start()
    assert collect(program).text == "below\nhere\n"
    other.join()
    assert capsys.readouterr().out == "aside\n"


def test_a_program_is_silenced(capsys):
    assert silenced(noisy)([1, 2]) == (3, None)
    assert capsys.readouterr().out == ""


# ---- slicing -----------------------------------------------------------------------------------


def test_prints_go_with_what_only_they_need():
    assert Slicer().source(noisy) == (
        "def noisy(xs, verbose=True):\n"
        "    total = 0\n"
        "    for i, x in enumerate(xs):\n"
        "        total += x\n"
        "    return (total, print('end'))"
    )


def test_a_program_runs_without_them(capsys):
    slicer = Slicer()
    assert slicer(noisy, [1, 2, 3]) == (6, None)
    assert slicer(lambda: noisy([1, 2], verbose=False)) == (3, None)
    assert capsys.readouterr().out == ""
    assert noisy([1]) == (1, None)
    assert "total 1" in capsys.readouterr().out


def test_methods_closures_and_defaults_are_as_they_were(capsys):
    def outer():
        base = 5

        def inner(y, *, z=2):
            shown = base + y
            print(shown)
            return y * z

        return inner(2), inner(2, z=4)

    slicer = Slicer()
    assert slicer(outer) == (4, 8)
    assert slicer(lambda: [counter := Counter(), counter.go(), counter.go()][1:]) == [3, 6]
    assert capsys.readouterr().out == ""


def test_what_else_is_used_or_has_an_effect_stays():
    log = []

    def note(x):
        log.append(x)
        return x

    def program(xs, rows):
        noted = note(len(xs))
        kept = len(xs)
        grown = xs
        grown += [1]
        for row in rows:
            print(row)
        print(noted, grown)
        return kept

    xs, rows = [1], iter([1, 2])
    assert Slicer()(program, xs, rows) == 1
    assert (log, xs, list(rows)) == ([1], [1, 1], [])
    assert Slicer(pure=[note])(program, [1], []) == 1
    assert log == [1]


def test_arguments_that_have_an_effect_stay():
    def program(queue):
        print(queue.pop(), *map(queue.append, [5]), end=str(len(queue)))
        print("no effect", len(queue))
        return queue

    assert Slicer()(program, [1, 2]) == [1, 5]
    assert Slicer().source(program).splitlines()[1:3] == [
        *("    queue.pop()", "    (*map(queue.append, [5]),)")
    ]


# what a print does with an iterator, or with a function that has an effect
PRINTED = {
    "list": "list(it)",
    "tuple": "len(tuple(it))",
    "sum": "sum(it)",
    "max": "max(it, default=0)",
    "any": "any(x > 1 for x in it)",
    "sorted": "sorted(it)[0]",
    "set": "{*it}",
    "star": "[*it, 1]",
    "argument": "max(*it)",
    "dict": "dict(enumerate(it))",
    "comprehension": "[x for x in it]",
    "nested": "[y for x in [it] for y in x]",
    "generator": "list(x for x in it)",
    "zip": "list(zip([1], it))",
    "in": "2 in it",
    "not in": 'f"{7 not in it}"',
    "join": '", ".join(str(x) for x in it)',
    "fsum": "math.fsum(it)",
    "map": "list(map(note, xs))",
    "key": "sorted([1, 2], key=note)",
    "lambda": "sorted([1, 2], key=lambda x: note(x))",
    "min": "min([1, 2], key=note)",
}


@pytest.fixture
def defined(tmp_path):
    """Makes functions from source, with a file that has it."""

    def define(source, **names):
        file = tmp_path / "defined.py"
        file.write_text(source)
        linecache.checkcache(str(file))
        space = {"math": math, **names}
        exec(compile(source, str(file), "exec"), space)
        return space["program"]

    return define


@pytest.mark.parametrize("assigned", [False, True])
@pytest.mark.parametrize("name", PRINTED)
def test_arguments_that_use_up_an_iterator_stay(name, assigned, defined):
    printed = PRINTED[name]
    line = f"shown = {printed}\n    print(shown)" if assigned else f"print({printed})"
    program = defined(
        "def program(it, xs):\n    log = []\n    note = log.append\n    def note(x):\n"
        f"        log.append(x)\n        return x\n    {line}\n    return list(it), log\n"
    )
    for made in (iter, enumerate, lambda xs: (x for x in xs)):
        if made is enumerate and name in ("sum", "any", "fsum", "max", "argument"):
            continue
        wanted = collect(program, made([1, 2, 3]), [1, 2]).result
        assert Slicer()(program, made([1, 2, 3]), [1, 2]) == wanted
    assert wanted != ([1, 2, 3], [])


def test_iterations_over_containers_go():
    def program(n):
        rows = [n, 2]
        rows += [3]
        both = list(range(3)), {"a": n}
        for i, row in enumerate(rows):
            print(i, row)
        print(sum(rows), sorted(rows, key=lambda x: -x), [*rows], 2 in rows, len(both))
        print(", ".join([str(x) for x in rows]), any(x for x in sorted(rows)), [*range(3)])
        return n

    assert [line.strip() for line in Slicer().source(program).splitlines()[1:]] == [
        *("rows = [n, 2]", "rows += [3]", "return n")
    ]


HANDLED = {
    "int": "int(text)",
    "name": "n = int(text)\n        print(n)",
    "operator": "print(1 / len(text[1:]))",
    "subscript": "print(text[5])",
    "attribute": "print(text.absent)",
    "format": "print(f'{text:d}')",
    "variable": "print(absent)",
    "condition": "if text.absent:\n            print(1)",
    "loop": "for i in range(text):\n            print(i)",
    "pure": "print(checked(text))",
    "tuple": "print(*text[:1], sep=int(text))",
}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # return in finally, from Python 3.14 on
@pytest.mark.parametrize(
    "guard",
    [
        "try:\n        {}\n    except Exception:\n        return 'bad'",
        "try:\n        try:\n            1 / 0\n        except ArithmeticError:\n            pass\n"
        "        {}\n    except Exception as error:\n        return type(error)",
        "with contextlib.suppress(Exception):\n        {}\n        return 'good'",
        "try:\n        {}\n    finally:\n        return 'bad'",
    ],
)
@pytest.mark.parametrize("name", HANDLED)
def test_errors_that_the_program_handles_stay(name, guard, defined):
    def checked(text):
        return int(text)

    line = HANDLED[name] if "print" in HANDLED[name] else f"print({HANDLED[name]})"
    source = f"def program(text):\n    {guard.format(line)}\n    return 'end'\n"
    program = defined(source, checked=checked, contextlib=contextlib)
    slicer = Slicer(pure=[checked])
    assert slicer(program, "a") == collect(program, "a").result
    assert "print(" not in slicer.source(program)


@pytest.mark.parametrize("line", ["print(int(text))", "n = float(text)\n    print(n)"])
def test_calls_that_fail_for_some_values_stay(line, defined):
    program = defined(f"def program(text):\n    {line}\n    return 'good'\n")
    assert Slicer()(program, "1") == "good"
    with pytest.raises(ValueError, match=r"could not convert|invalid literal"):
        Slicer()(program, "a")
    assert Slicer(pure=[int, float])(program, "a") == "good"


def by_enumerate(xs):
    it = enumerate(xs)
    print(len(list(it)))
    return list(it)


def by_iter(xs):
    it = iter(xs)
    print(list(it))
    return list(it)


def by_loop(xs):
    it = zip(xs, xs)  # noqa: B905
    for p, q in it:
        print(p, q)
    return list(it)


def by_source(xs):
    it = iter(xs)
    for p in zip(it, it):  # noqa: B905
        print(p)
    return list(it)


def by_argument(xs):
    it = iter(xs)
    say_all(it)
    return list(it)


def say_all(it):
    for x in it:
        print(x)


@pytest.mark.parametrize("program", [by_enumerate, by_iter, by_loop, by_source, by_argument])
def test_iterators_that_only_prints_use_up_are_used_up_in_compiled_code(program, capfd):
    xs = np.arange(4.0)
    wanted = program(xs)
    capfd.readouterr()
    assert Slicer()(program, xs) == Slicer().jit(program)(xs) == wanted
    assert capfd.readouterr().out == ""


def test_attributes_of_classes_stay():
    def program():
        class Made:
            kept = 1
            print("made")

        return Made.kept

    assert Slicer()(program) == 1


def test_prints_to_files_stay():
    def program(file):
        line = "kept"
        print(line, file=file)
        print("dropped")
        return file.getvalue()

    assert Slicer()(program, io.StringIO()) == "kept\n"


def test_errors_have_the_lines_of_the_source():
    def program(x):
        print(x)
        shown = x + 1
        print(shown)
        return 1 / x

    with pytest.raises(ZeroDivisionError) as info:
        Slicer()(program, 0)
    assert info.traceback[-1].lineno + 1 == program.__code__.co_firstlineno + 4


def test_other_functions_are_sliced_out():
    def report(x):
        raise AssertionError

    def program(x):
        detail = math.sqrt(x)
        report(detail)
        return x

    assert Slicer(report, pure=[math.sqrt])(program, -1.0) == -1.0
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        Slicer(report)(program, -1.0)


def test_debug_messages_are_sliced_out():
    made = []

    def shown(x):
        made.append(x)
        return str(x)

    def program(x):
        text = shown(x)
        LOG.debug("x is %s", text)
        return x

    assert Slicer(logging.Logger.debug, pure=[shown])(program, 3) == 3
    assert made == []


def test_code_without_source_and_code_that_looks_at_its_variables():
    made = eval("lambda x: (print(x), x)[1]")
    assert sliced(made, [print]) is None
    assert Slicer()(made, 3) == 3

    def looks():
        here = 1
        print(here)
        return sorted(locals())

    assert Slicer()(looks) == ["here"]
    assert sliced_source(made, [print]) == ""


def test_compiled_programs(capsys):
    def program(x):
        shown = math.exp(x)
        print("shown", shown)
        return x * 2

    assert Slicer().jit(program)(2.0) == 4.0
    assert Slicer(pure=[math.exp]).jit(program)(2.0) == 4.0
    assert capsys.readouterr().out == ""
    with pytest.raises(NotCompilable, match="around"):
        Slicer().context.jit(program)


def test_the_source_of_what_has_none_is_refused():
    assert "formatmonth" in Slicer().source(calendar.TextCalendar().prmonth)
    for function in (len, calendar.TextCalendar):
        with pytest.raises(OverlayError, match="is not a Python function"):
            Slicer().source(function)


def test_tables_hold_in_what_is_left():
    table = MethodTable("twice")

    @table.overlay(math.sqrt)
    def sqrt(x: float):
        return 2.0

    def program(x):
        print(x)
        return math.sqrt(x)

    assert (Context(table) | Slicer().context)(program, 9.0) == 2.0


def test_calls_are_found_by_what_runs():
    def program(xs, log=None):
        def inner(z):
            class Made:
                size = len(xs)
                print(size)

            return Made

        say = print
        say(sum(x for x in xs), *xs, file=sys.stdout)
        print(*xs, **{"file": sys.stderr})
        log = log or sys.stderr
        print("a" if xs else "b", file=log)
        return inner

    assert [line.strip() for line in Slicer().source(program).splitlines() if "print" in line] == [
        *("print(*xs, **{'file': sys.stderr})", "print('a' if xs else 'b', file=log)")
    ]

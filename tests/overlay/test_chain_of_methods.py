"""The chain of methods of a call: runs, compiled code, analyses and explain name one chain."""

import abc
import gc
import itertools
import random
from typing import Literal

import pytest

from overlay import AmbiguousMethod, Context, MethodTable, OverlayError, call_next
from overlay.analysis.interpreter import Interpreter
from overlay.analysis.interval_domain import Intervals
from overlay.core.dispatch import MethodChain, by_types, by_values

HINTS = {"int": int, "float": float, "bool": bool, "any": object, "number": int | float}
HINTS["number or text"] = float | str
HINTS["int or text"] = int | str
KINDS = [{}, {}, {"faithful": True}, {"interprets": True}]
VALUES = [2, 2.5, True]
AMBIGUOUS = "ambiguous"


def base(x):
    return 0


def program(x):
    return base(x)


def method_of(digit, hint):
    """A method, with code of its own, that adds its digit to what ``call_next`` gives."""
    names = {"call_next": call_next}
    exec(f"def m{digit}(x):\n    return call_next(x) * 10 + {digit}", names)
    method = names[f"m{digit}"]
    method.__annotations__ = {"x": HINTS[hint]}
    return method


def tables_of(seed):
    """Up to three tables with up to three methods each, of all kinds."""
    draw = random.Random(seed)
    digits, tables = itertools.count(1), []
    for i in range(draw.randint(1, 3)):
        table = MethodTable(f"table{i}", **draw.choice(KINDS))
        for hint in draw.sample(sorted(HINTS), draw.randint(1, 3)):
            table.overlay(base, precedence=draw.choice([0, 0, 1]))(method_of(next(digits), hint))
        tables.append(table)
    return tables


def digits_of(result):
    """The methods that a run went through, the first of them first."""
    return [f"m{digit}" for digit in reversed(str(int(result)))] if result else []


def by_chain(context, call):
    chain = MethodChain.of(base, tuple(reversed(context.tables)))
    names = []
    while (method := chain.resolve(call)) is not None:
        names.append(method.function.__name__)
        chain = chain.after(method)
    return names


def analysed(context, value):
    if type(value) is bool:
        return None  # to intervals it may be a number as well
    by_chain(context, by_values([value], {}))  # of a call below, the analysis notes the error
    domain = Intervals()
    _, runs = Interpreter(domain, context).enter(base, domain.constant(value))
    called = (run.function.__name__ for outer in runs for run in outer.walk())
    return [name for name in called if name != "base"]


def explained(context, value):
    sites = list(context.explain(program, type(value)))
    if any("ambiguous" in site.note for site in sites):
        raise AmbiguousMethod("said by explain")
    assert all(len(site.methods) <= 1 for site in sites)
    return [site.methods[0].function.__name__ for site in sites if site.methods]


INTERPRETED = {
    "by its values": lambda context, value: by_chain(context, by_values([value], {})),
    "by its types": lambda context, value: by_chain(context, by_types([type(value)])),
    "interpreted": lambda context, value: digits_of(context(program, value)),
    "analysed": analysed,
    "explained": explained,
}
COMPILED = {"compiled": lambda context, value: digits_of(context.jit(program)(value))}


def answers(context, askers):
    """The chains that all askers name for calls with values of each type."""
    found = {}
    for name, ask in askers.items():
        for value in VALUES:
            try:
                answer = ask(context, value)
            except OverlayError as error:
                if not isinstance(error, AmbiguousMethod) and AMBIGUOUS not in str(error):
                    raise
                answer = AMBIGUOUS
            found.setdefault(type(value).__name__, {})[name] = answer
    return found


def check(context, askers):
    for kind, said in answers(context, askers).items():
        first, *others = (answer for answer in said.values() if answer is not None)
        assert all(other == first for other in others), (kind, said)


@pytest.mark.parametrize("seed", range(60))
def test_all_that_read_a_call_name_the_methods_that_it_goes_through(seed):
    check(Context(*tables_of(seed)), INTERPRETED)


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_compiled_code_goes_through_the_methods_that_interpreted_code_does(seed):
    check(Context(*tables_of(seed)), INTERPRETED | COMPILED)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_resolved_before_a_change_is_forgotten_by_all(seed):
    tables = tables_of(seed)
    context = Context(*tables)
    kept = [MethodChain.of(base, tuple(reversed(context.tables)))]
    check(context, INTERPRETED)
    table = random.Random(seed).choice(tables)
    for hint in ("int", "float"):
        table.overlay(base, precedence=2)(method_of(9, hint))
        check(context, INTERPRETED)
    table.clear()
    check(context, INTERPRETED)
    assert kept


def test_a_place_in_a_chain_is_one_object_and_goes_with_what_holds_it():
    table = MethodTable("table")
    table.overlay(base)(method_of(1, "int"))
    chain = MethodChain.of(base, (table,))
    (method,) = table.methods(base)
    assert MethodChain.of(base, [table]) is chain
    assert chain.after(method) is MethodChain.of(base, (table,), (method,))
    assert chain.after(method) is not chain
    gone = id(chain)
    del chain
    gc.collect()
    assert not any(type(o) is MethodChain and id(o) == gone for o in gc.get_objects())


def test_methods_are_looked_for_once_by_whoever_asks(monkeypatch):
    table, searched = MethodTable("table"), []
    table.overlay(base)(method_of(1, "int"))
    search = MethodChain._search

    def searching(chain, readings):
        searched.extend([chain.target] * (chain.target is base))  # others may look for theirs
        return search(chain, readings)

    monkeypatch.setattr(MethodChain, "_search", searching)
    chain = MethodChain.of(base, (table,))
    for _ in range(3):  # each context has a stack of its own
        assert Context(table)(program, 2) == 1
    below = chain.after(*table.methods(base))
    assert len(searched) == 2 + (below.resolve(by_values([2], {})) is not None)


def test_what_depends_on_a_value_is_looked_for_each_time():
    table = MethodTable("table")

    @table.overlay(base)
    def three(x: Literal[3]):
        return 3

    chain = MethodChain.of(base, (table,))
    assert [chain.resolve(by_values([x], {})) is not None for x in (3, 4, 3)] == [True, False, True]
    assert [chain.resolve(by_types([int]))] * 2 == [None, None]


def test_a_class_that_is_registered_later_is_seen():
    class Abstract(abc.ABC):  # noqa: B024 (what is registered is one)
        pass

    class Late:
        pass

    table = MethodTable("table")

    @table.overlay(base)
    def of_abstract(x: Abstract):
        return 1

    chain = MethodChain.of(base, (table,))
    assert chain.resolve(by_values([Late()], {})) is None
    Abstract.register(Late)
    assert chain.resolve(by_values([Late()], {})) is table.methods(base)[0]

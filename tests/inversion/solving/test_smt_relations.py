"""The table of translations for z3, against Python."""

import itertools
import operator
import random

import numpy as np
import pytest

from primitives.base_table import RELATIONS
from primitives.domains import Integers
from primitives.errors import NoSolution
from primitives.finite_tables import entry, membership
from primitives.sequences.chains import chain
from primitives.sequences.items import FromDigits, apart
from primitives.sequences.lists import list_of
from primitives.sequences.parts import sliced

z3 = pytest.importorskip("z3")

from inversion.solving import smt_relations as table  # noqa: E402
from inversion.solving import smt_values as values  # noqa: E402

WORDS = (np.int64, np.uint64)
KINDS = (int, bool, str, *WORDS, list_of(int), list_of(str))
OTHERS = (
    apart(str, (None, "b", None)),
    apart(list_of(int), (None, None)),
    FromDigits(10, 3),
    FromDigits(256, 2, signed=True),
    entry(int, (0, 1, 2, 5), (7, 3, 3, -9)),
    entry(str, ("a", "b"), (1, 2)),
    membership(int, (2, 3, 900)),
    chain(str, (False, False, False)),
    chain(list_of(int), (True, False, True)),
    sliced(str, 1, None, 2),
    sliced(list_of(int), None, None, -1),
)
TRANSLATED = [r for r in (*RELATIONS, *OTHERS) if all(kind in KINDS for kind in r.kinds.values())]
EDGES = (0, 1, -1, 2, 3, 7, -8, 31, 63, 64, 255, -256, 2**31, -(2**63), 2**63 - 1, 2**64 - 1, 2**70)
EACH = 3  # cases of small numbers, and of all; more have been tried
TEXTS = ("", "a", "b", "ab", "abc", "7", "bbb", "é")


def samples(kind, rng):
    """Edge values and random ones of a type."""
    if kind is bool:
        return [False, True]
    if kind is int:
        some = [rng.randrange(-20, 20) for _ in range(4)]
        return [*EDGES, *some, rng.randrange(-(2**80), 2**80)]
    if kind in WORDS:
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        some = [rng.randrange(0, 70), rng.randrange(low, high)]
        return [kind(v) for v in (*EDGES, *some, low, high) if low <= v <= high]
    if kind is str:
        return list(TEXTS)
    if kind == list_of(int):
        return [[], [5], [5, -3], [1, 2, 3]]
    return [[], ["a"], ["b", "cd"]]


class Concrete:
    """A model in which the unknowns have known values."""

    def __init__(self):
        self.pairs = []

    def unknown(self, name, value, as_bits, width):
        """A value with unknown terms that stand for a known value."""
        if isinstance(value, bool):
            made, _ = values.named(name, bool, None, as_bits=as_bits)
            self.pairs.append((made.term, z3.BoolVal(value)))
        elif isinstance(value, WORDS):
            made, _ = values.named(name, type(value), None, as_bits=as_bits)
            self.pairs.append((made.term, z3.BitVecVal(int(value), 64)))
        elif isinstance(value, int):
            domain = Integers(value - width, value + width + 1)
            made, _ = values.named(name, int, domain, as_bits=as_bits)
            known = values.Term(None, value, value)
            same = known.bits(made.term.size()) if as_bits else known.integer()
            self.pairs.append((made.term, same))
        elif isinstance(value, str):
            codes = [min(width, ord(c)) for c in value]
            items = [
                self.unknown(f"{name}[{i}]", ord(c), as_bits, code)
                for i, (c, code) in enumerate(zip(value, codes, strict=True))
            ]
            return values.Translated(str, tuple(items))
        else:
            items = [self.unknown(f"{name}[{i}]", x, as_bits, width) for i, x in enumerate(value)]
            return values.Translated(list, tuple(items))
        return made

    def eval(self, term, model_completion=True):
        return z3.simplify(z3.substitute(term, *self.pairs))


def outcome(rule, args):
    """The results of a relation's function, as a tuple; None if it raises."""
    try:
        with np.errstate(all="ignore"):
            found = rule.target(*args)
    except (ValueError, ArithmeticError, LookupError, TypeError, NoSolution):
        return None
    every = tuple(found) if len(rule.outputs) > 1 else (found,)
    return tuple(bool(one) if isinstance(one, np.bool_) else one for one in every)


def translated(rule, args, unknown, as_bits, width):
    """The results of the translation for arguments of which some are unknown terms; None if a
    condition says that the function raises.
    """
    model, conditions = Concrete(), []
    given = [
        model.unknown(f"a{i}", value, as_bits, width) if i in unknown else values.as_value(value)
        for i, value in enumerate(args)
    ]
    try:
        found = table.translated(table.TranslationSite(rule, conditions.append, None), given)
    except values.Never:
        return None
    if not all(z3.is_true(model.eval(condition)) for condition in conditions):
        return None
    return tuple(values.of_model(model, value) for value in found)


def cases(rule):
    """Arguments of a relation: all pairs of edges for one or two, a sample of more."""
    rng = random.Random(repr(rule))
    every = list(itertools.product(*(samples(kind, rng) for kind in rule.types)))
    small = [args for args in every if all(abs(a) < 64 for a in args if type(a) is int)]
    chosen = rng.sample(small, min(len(small), EACH)) + rng.sample(every, min(len(every), EACH))
    own = getattr(rule, "template", None)
    if own is not None:
        element = ["abc", "cba", "ab"] if rule.kind is str else [[1, 2], [3]]
        chosen += [(one,) for one in element]
    return [args for args in chosen if is_bearable(rule, args)]


def is_bearable(rule, args):
    """Return whether Python computes it quickly."""
    whole = [abs(int(a)) for a in args if not isinstance(a, (str, list))]
    if rule.target in (operator.pow, pow, operator.lshift) or "factorial" in rule.equation:
        return len(whole) > 2 or whole[-1] <= 64
    return operator.mul is not rule.target or type(args[0]) in (int, *WORDS) or whole[-1] < 64


@pytest.mark.parametrize("rule", TRANSLATED, ids=lambda r: f"{r.name}-{r.types}")
def test_a_translation_gives_what_python_gives(rule):
    answered = 0
    for args in cases(rule):
        wanted = outcome(rule, args)
        for as_bits, width in ((True, 3), (True, 2**66), (False, 3)):
            for unknown in (range(len(args)), [0], [len(args) - 1]):
                try:
                    found = translated(rule, args, [*unknown], as_bits, width)
                except values.Untranslated:
                    continue
                answered += 1
                case = (args, [*unknown], as_bits, width)
                assert found == wanted, case
                if found is not None:
                    assert [*map(type, found)] == [*map(type, wanted)], case
    assert answered or rule.kinds == {"a": bool, "return": str}, "all of its cases are refused"


def test_each_entry_of_the_table_is_compared_with_python():
    seen = set()
    for rule in TRANSLATED:
        for key in (rule.target, type(rule.target), type(rule)):
            if key in table.TRANSLATIONS:
                seen.add(key)
    assert seen == set(table.TRANSLATIONS)

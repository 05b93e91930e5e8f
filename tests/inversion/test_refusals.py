"""Each site that refuses a program names the construct, its line and a remedy, and the remedy
works.
"""

from __future__ import annotations

import copy
import datetime
import importlib
import os
import pickle
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from inversion import NotInvertible, WrongArguments, choose, invert
from overlay import OverlayError
from tests.inversion.raise_sites import raise_sites
from tests.inversion.refusals import REFUSALS, Refusal

for programs in ("refusal_programs", "refusal_calls"):
    importlib.import_module(f"tests.inversion.{programs}")

SITES = raise_sites(NotInvertible)
WITHOUT: dict[str, str] = {
    "compiled_form._Form._check_floats: the inverse of {} has no derivative in compiled code: {} "
    "is not a float":
        "emitting/test_in_compiled_code.py has it, beside other code that is slow to compile",
    "execution_paths.Walk.went: not_followed":
        "no loop is known whose ways lead elsewhere; it guards the reading of new instructions",
    "iterations.Turns.simple: not_followed":
        "no loop is known whose ways lead elsewhere; it guards the reading of new instructions",
    "iterations.Turns.simple: never_left":
        "a loop of which no way leads out is refused before, unless its test is never reached",
    "iterations.Turns.several: never_left":
        "a loop of which no way leads out is refused before, unless its test is never reached",
    "lifted_statements.StatementCall.made: a template string":
        "template strings are read by Python 3.14 alone",
    "lifted_statements._matched: a pattern of a class":
        "only a class that decides itself what its instances are leaves a pattern open",
    "lifter.Lifter._inline: no_relation":
        "only an overlay method that is not written in Python has no code to follow",
    "planner._Space.free: cannot choose a value of type {} for {}":
        "each type that an input may have now has a domain; it guards new types",
}  # fmt: skip
"""Places without an entry, and why they have none."""


@contextmanager
def recorded() -> Iterator[dict[int, list[tuple[str, int]]]]:
    """The files and lines at which each error is made, by the id of the error."""
    stacks: dict[int, list[tuple[str, int]]] = {}
    before = OverlayError.__init__

    def noted(self: Any, *args: Any, **named: Any) -> None:
        before(self, *args, **named)
        frame, stack = sys._getframe(1), list[tuple[str, int]]()
        while frame is not None:
            stack.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back  # pyright: ignore[reportAssignmentType]
        stacks[id(self)] = stack

    OverlayError.__init__ = noted
    try:
        yield stacks
    finally:
        OverlayError.__init__ = before


def asked(refusal: Refusal) -> None:
    """Make the request that is refused."""
    if refusal.types is None:
        refusal.function()
    else:
        invert(refusal.function, *refusal.types, **refusal.options)


def test_each_place_that_refuses_has_an_entry_and_each_entry_a_place():
    assert {*REFUSALS} & {*WITHOUT} == set()
    without = {*SITES} - {*REFUSALS} - {*WITHOUT}
    assert not without, f"add what reaches these, and its remedy, to refusal_programs: {without}"
    gone = ({*REFUSALS} | {*WITHOUT}) - {*SITES}
    assert not gone, f"these places are not there any more: {gone}"


@pytest.mark.parametrize("site", REFUSALS)
def test_a_refusal_names_its_line_and_a_remedy(site):
    refusal = REFUSALS[site]
    with recorded() as stacks, pytest.raises(NotInvertible) as caught:
        asked(refusal)
    error = caught.value
    assert SITES[site].is_in(stacks[id(error)]), "it is refused at another place"
    lines = {os.path.relpath(line) for line in refusal.lines()}
    assert error.where in lines or error.where in refusal.lines()
    assert error.help
    assert "opcode" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))


@pytest.mark.parametrize("site", REFUSALS)
def test_the_remedy_of_a_refusal_works(site):
    refusal = REFUSALS[site]
    if refusal.remedied is None:
        assert refusal.inherent, "give the program again with its remedy, or say why there is none"
        return
    if refusal.arguments is None:
        refusal.remedied()
        return
    options = dict(refusal.more or {})
    types = options.pop("types", refusal.arguments)
    context = options.get("context")
    function = refusal.remedied if context is None else context.wrap(refusal.remedied)
    inverse = invert(refusal.remedied, *types, **options)
    wanted = function(*copy.deepcopy(refusal.arguments))
    found = inverse(wanted, inverse.recover(*copy.deepcopy(refusal.arguments)))
    assert alike(function(*copy.deepcopy(found)), wanted)


def alike(one: Any, other: Any) -> bool:
    """Return whether two results are equal, up to rounding."""
    if isinstance(one, (tuple, list)):
        pairs = zip(one, other, strict=True)
        return type(one) is type(other) and all(alike(*pair) for pair in pairs)
    if isinstance(one, (str, bytes)):
        return one == other
    return bool(np.allclose(one, other))


CHECKSUM = zlib.crc32(b"abc")


def test_a_call_of_constants_is_to_be_computed_outside():
    def within(x: int) -> int:
        return x + zlib.crc32(b"abc")

    def outside(x: int) -> int:
        return x + CHECKSUM

    with pytest.raises(NotInvertible, match=r"compute its result outside .* as a constant"):
        invert(within)
    assert invert(outside)(outside(7)) == (7,)


def test_what_depends_on_an_argument_alone_is_to_be_an_argument():
    def within(x: int, days: int) -> int:
        return x + datetime.timedelta(hours=days).days

    def outside(x: int, days: int) -> int:
        return x + days

    with pytest.raises(NotInvertible, match=r"timedelta\(hours=int\)[^$]*as an argument"):
        choose(within, known=("return", "days"))
    assert choose(outside, known=("return", "days"))(10, 3) == (7,)


@pytest.mark.parametrize("error", [NotInvertible, WrongArguments])
def test_an_error_without_place_or_remedy_cannot_be_made(error):
    with pytest.raises(TypeError, match="where"):
        error("refused", help="do something else")
    with pytest.raises(TypeError, match="help"):
        error("refused", where="file.py:1")

"""Decoded instructions say the same on every version, and leave the stack as the real ones do."""

from __future__ import annotations

import dis
import importlib
import importlib.util
import pkgutil
import sys
import types
from typing import Any

import numpy as np
import pytest

from overlay.code import instructions, py314, reading
from overlay.code.decoding import (
    Instruction,
    decoded,
    iterator_slots,
    operator_of,
    take_call,
)
from overlay.code.effects import FINAL, follow, jumped
from overlay.code.listing import JUMPS, Listing
from overlay.code.read_bodies import body_of

MODULES = [
    "abc",
    "asyncio.runners",
    "asyncio.streams",
    "asyncio.taskgroups",
    "asyncio.tasks",
    "base64",
    "bisect",
    "calendar",
    "cmd",
    "code",
    "codecs",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "difflib",
    "dis",
    "enum",
    "filecmp",
    "fileinput",
    "fractions",
    "functools",
    "gettext",
    "glob",
    "gzip",
    "heapq",
    "html.parser",
    "http.client",
    "json.decoder",
    "json.encoder",
    "linecache",
    "locale",
    "multiprocessing.pool",
    "numbers",
    "opcode",
    "os",
    "platform",
    "plistlib",
    "posixpath",
    "pprint",
    "queue",
    "random",
    "re._compiler",
    "reprlib",
    "sched",
    "selectors",
    "shlex",
    "shutil",
    "statistics",
    "string",
    "subprocess",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "traceback",
    "unittest.case",
    "urllib.parse",
    "uuid",
    "weakref",
]


def code_of(name):
    spec: Any = importlib.util.find_spec(name)
    code = spec.loader.get_code(name) if hasattr(spec.loader, "get_code") else None
    pending = [] if code is None else [code]
    while pending:
        each = pending.pop()
        yield each
        pending += [const for const in each.co_consts if isinstance(const, types.CodeType)]


def numpy_modules():
    found = [each.name for each in pkgutil.walk_packages(np.__path__, "numpy.", lambda _: None)]
    unwanted = ("tests", "conftest", "f2py", "distutils", "__main__", "typing", "_pyinstaller")
    return [name for name in found if not any(part in name for part in unwanted)]


# ---- which instructions are known ---------------------------------------------------------

# Of these the reader knows the effect on the stack alone: what they push may be anything.
LEFT = {
    *("POP_TOP", "POP_ITER", "END_FOR", "END_SEND", "NOP", "RESUME", "MAKE_CELL"),
    *("COPY_FREE_VARS", "RETURN_GENERATOR", "SETUP_ANNOTATIONS", "LOAD_LOCALS"),
    # effects on what is not followed: attributes, globals, closures
    *("STORE_GLOBAL", "DELETE_FAST", "DELETE_NAME", "DELETE_GLOBAL", "DELETE_DEREF"),
    "DELETE_ATTR",
    # exceptions, coroutines, patterns
    *("PUSH_EXC_INFO", "POP_EXCEPT", "CHECK_EG_MATCH", "WITH_EXCEPT_START"),
    *("GET_AITER", "GET_ANEXT", "GET_AWAITABLE", "GET_YIELD_FROM_ITER", "END_ASYNC_FOR"),
    *("CLEANUP_THROW", "CALL_INTRINSIC_2"),
}
# Never in the code of a function, as it is read: prefixes, caches, what specialises or traces it.
INTERNAL = {
    *("CACHE", "RESERVED", "EXTENDED_ARG", "KW_NAMES", "INTERPRETER_EXIT", "ENTER_EXECUTOR"),
    *("EXIT_INIT_CHECK", "TRACE_RECORD"),
}


def test_every_instruction_of_this_version_is_known_by_name():
    names = {name for name, op in dis.opmap.items() if op < 256}
    names = {name for name in names if not name.startswith("INSTRUMENTED_")}
    jumps = {dis.opname[op] for op in (*JUMPS, *FINAL)}
    words = {*py314._WORDS, "LOAD_SPECIAL", "LOAD_ASSERTION_ERROR"}
    known = {*jumps, *instructions.INSTRUCTIONS, *words, *LEFT, *INTERNAL}
    assert sorted(names - known) == []


# Of these dis says otherwise: it says nothing of calls, and where jumps go by another measure.
SAID_OTHERWISE = {
    *("CALL", "CALL_KW", "CALL_FUNCTION_EX", "FORMAT_VALUE", "CONVERT_VALUE"),
    "END_ASYNC_FOR",  # names the end of its loop, and does not go there
}
INTRINSIC = ("CALL_INTRINSIC_1", "CALL_INTRINSIC_2")


@pytest.mark.parametrize("name", MODULES[::4])
def test_arguments_stand_for_what_dis_says(name):
    compared = 0
    for code in code_of(name):
        listing = Listing(code)
        given = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
        for k, (ours, theirs) in enumerate(zip(decoded(code), given, strict=True)):
            assert ours.at == theirs.positions
            same = ours.name == theirs.opname and ours.name not in SAID_OTHERWISE
            if same and theirs.arg is not None and k not in listing.targets:
                value = theirs.argrepr if ours.name in INTRINSIC else theirs.argval
                assert ours.value is value or ours.value == value, (code.co_qualname, theirs)
                compared += 1
    assert compared > 20


# ---- the stack ----------------------------------------------------------------------------


class Depths:
    """The depth of the stack before each instruction that can be reached."""

    def __init__(self, listing: Listing, instructions: list[Instruction]) -> None:
        self.listing = listing
        self.instructions = instructions
        self._regions = [
            [r for r in listing.regions if r.start <= k < r.end] if listing.regions else ()
            for k in range(len(listing.ops))
        ]
        self.found: dict[int, int] = {}
        self._pending = [(0, 0)]
        while self._pending:
            k, depth = self._pending.pop()
            self._reach(k, depth)

    def _reach(self, k: int, depth: int) -> None:
        if k in self.found:
            assert self.found[k] == depth, (self.listing.code.co_qualname, k)
            return
        self.found[k] = depth
        for region in self._regions[k]:
            self._pending.append((region.target, region.depth + 1 + region.lasti))
        self._pending += self.after(k, depth)

    def after(self, k: int, depth: int) -> list[tuple[int, int]]:
        raise NotImplementedError


class Decoded(Depths):
    """As decoded instructions leave it."""

    def after(self, k, depth):
        ins, stack = self.instructions[k], [object() for _ in range(depth)]
        ways = []
        if k in self.listing.targets:
            ways.append((self.listing.targets[k], len(jumped(ins.op, ins.arg, stack))))
        self.step(ins, stack)
        return ways if ins.op in FINAL or is_last(ins) else [*ways, (k + 1, len(stack))]

    def step(self, ins: Instruction, stack: list[Any]) -> None:
        if ins.name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            take_call(ins, stack, None)
            stack.append(None)
        elif ins.name == "GET_ITER":
            stack += iterator_slots(stack.pop(), None)
        else:
            found = operator_of(ins)
            assert found is None or len(stack) > max(found[1])
            follow(ins.op, ins.arg, stack)


class Real(Depths):
    """As CPython says."""

    def after(self, k, depth):
        op, arg = self.listing.ops[k], self.listing.args[k]
        ways = []
        if k in self.listing.targets:
            effect = dis.stack_effect(op, arg, jump=True)
            ways.append((self.listing.targets[k], depth + effect))
        effect = dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None, jump=False)
        started = dis.opname[op] == "RETURN_GENERATOR" and sys.version_info < (3, 13)
        assert depth + effect >= 0
        last = op in FINAL or dis.opname[op] == "RETURN_VALUE"
        return ways if last else [*ways, (k + 1, depth + effect + started)]


def is_last(ins):
    return ins.name in ("RETURN_VALUE", "RETURN_CONST")


def follow_all(name):
    for code in code_of(name):
        listing, instructions = Listing(code), decoded(code)
        assert len(instructions) == len(listing.ops)
        found, real = Decoded(listing, instructions), Real(listing, instructions)
        joins = {*found.listing.targets.values(), *(r.target for r in found.listing.regions)}
        for k in joins & found.found.keys():
            assert found.found[k] == real.found[k], (code.co_qualname, k)
        for ins in found.instructions:
            assert ins.name != "LOAD_SPECIAL", code.co_qualname
            assert ins.name not in py314._WORDS


@pytest.mark.parametrize("name", MODULES)
def test_the_stack_is_as_deep_as_it_really_is(name):
    follow_all(name)


def test_the_stack_is_as_deep_as_it_really_is_in_numpy():
    names = numpy_modules()[::4]
    assert len(names) > 20
    for name in names:
        follow_all(name)


@pytest.mark.parametrize("name", ["asyncio.streams", "dataclasses", "statistics"])
def test_all_functions_are_read(name):
    """Whatever they come to know: they reach every end without an error."""
    for code in code_of(name):
        held = tuple(types.CellType() for _ in code.co_freevars)
        namespace = vars(importlib.import_module(name))
        assert body_of(types.FunctionType(code, namespace, closure=held)).blocks
        reading.CodeReading(code, namespace, {}, {}, lambda event: reading.UNKNOWN)


# ---- what newer versions say in other ways ------------------------------------------------


def words_of(source, **names):
    space = dict(names)
    exec(source, space)
    return [(ins.name, ins.value) for ins in decoded(space["f"].__code__)]


def test_a_small_number_and_a_builtin_constant_are_constants():
    found = words_of("def f(x):\n    assert x[7]\n    return -1")
    assert ("LOAD_CONST", 7) in found
    assert ("LOAD_CONST", AssertionError) in found
    assert "BINARY_SUBSCR" in {name for name, _ in found}


def test_a_with_statement_is_entered_by_one_instruction():
    found = [name for name, _ in words_of("def f(x):\n    with x as y: return y")]
    assert found.count("BEFORE_WITH") == 1


@pytest.mark.parametrize("name", ["all", "any", "tuple", "list", "set"])
def test_a_call_of_a_generator_expression_is_never_a_loop(name):
    space = {}
    exec(f"def f(x):\n    return {name}(y for y in x)", space)
    read = body_of(space["f"]).blocks
    assert not any(len(block.next) > 1 for block in read.values())
    words = {ins.name for ins in decoded(space["f"].__code__)}
    assert words.isdisjoint(("FOR_ITER", "LIST_APPEND", "SET_ADD"))


@pytest.mark.skipif(sys.version_info < (3, 14), reason="template strings")
def test_the_types_of_template_strings_are_known():
    templates = importlib.import_module("string.templatelib")
    space = {}
    exec("def f(x):\n    return t'{x!r:>{x}} and {x}'", space)
    code = space["f"].__code__
    read = reading.CodeReading(code, space, {}, {}, lambda event: reading.UNKNOWN)
    assert read.returned.type is templates.Template


@pytest.mark.skipif(sys.version_info < (3, 15), reason="lazy imports")
def test_a_lazy_import_is_not_taken_for_the_module_and_is_not_done():
    space = {}
    exec("lazy import this as module\ndef f():\n    return module.s", space)
    read = reading.CodeReading(space["f"].__code__, space, {}, {}, lambda event: reading.UNKNOWN)
    assert not isinstance(read.returned, reading.Known)
    assert "this" not in sys.modules

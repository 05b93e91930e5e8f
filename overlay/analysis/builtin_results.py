"""Results of builtin functions and methods that depend on the classes of their arguments alone."""

from __future__ import annotations

import functools
import inspect
import io
import itertools
import math
import operator
import os
import re
import sys
import time
import types
from typing import Any, NamedTuple

from overlay.analysis.abstract_values import TOP, ItemValues, Iteration
from overlay.analysis.kind_functions import NONE, Kinds, one
from overlay.core.target import read_signature

__all__ = ["LISTS", "RESULTS", "TAKEN", "Taken", "signature_in_c"]

_STRING = {
    "same": (
        "capitalize casefold center expandtabs format format_map join ljust lower lstrip replace "
        "removeprefix removesuffix rjust rstrip strip swapcase title translate upper zfill "
        "__format__ __str__ __repr__"
    ),
    "int": "count find index rfind rindex __len__ __hash__",
    "bool": (
        "endswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric "
        "isprintable isspace istitle isupper startswith __contains__"
    ),
    "three": "partition rpartition",
    "list": "split rsplit splitlines",
}
_OTHERS: dict[Any, dict[Any, str]] = {
    bytes: {str: "decode hex"},
    str: {bytes: "encode"},
    int: {int: "bit_length bit_count conjugate", bytes: "to_bytes"},
    float: {bool: "is_integer", str: "hex", float: "conjugate"},
    list: {int: "count index __len__", bool: "__contains__"},
    tuple: {int: "count index __len__", bool: "__contains__"},
    dict: {bool: "__contains__", int: "__len__"},
    set: {bool: "isdisjoint issubset issuperset __contains__", int: "__len__"},
    frozenset: {bool: "isdisjoint issubset issuperset __contains__", int: "__len__"},
    io.StringIO: {str: "getvalue read readline"},
    re.Match: {int: "start end"},
}
_FUNCTIONS: dict[Any, tuple[Any, ...]] = {
    int: (id, hash, ord, sys.getsizeof, sys.getrecursionlimit, operator.index),
    bool: (issubclass, callable, operator.not_, os.path.exists, os.path.isabs),
    str: (chr, repr, ascii, hex, oct, bin, format, os.getcwd, os.fsdecode),
    bytes: (os.fsencode, os.urandom),
    float: (time.time, time.monotonic, time.perf_counter, math.fsum),
}

# By a function's identity: the function, and its result. Lists are in ``LISTS``.
RESULTS: dict[int, tuple[Any, Any]] = {}
# By a function's identity: the function, and the items of the list that it returns.
LISTS: dict[int, tuple[Any, Any]] = {}


class Taken(NamedTuple):
    """Arguments of a builtin function whose signature cannot be read: the names of its keywords,
    None if it takes any, and the least and most positional ones. No keyword replaces a required
    one.
    """

    names: tuple[str, ...] | None
    least: int
    most: int | None


# By a function's identity: the function, and its arguments.
TAKEN: dict[int, tuple[Any, Taken]] = {
    id(function): (function, Taken(names, least, most))
    for function, names, least, most in (
        (min, ("key", "default"), 1, None),
        (max, ("key", "default"), 1, None),
        (zip, ("strict",), 0, None),
        (map, ("strict",), 2, None),
        (filter, (), 2, 2),
        (range, (), 1, 3),
        (slice, (), 1, 3),
        (iter, (), 1, 2),
        (next, (), 1, 2),
        (getattr, (), 2, 3),
        (str, ("object", "encoding", "errors"), 0, 3),
        (bytes, ("source", "encoding", "errors"), 0, 3),
        (int, ("base",), 0, 2),
        (float, (), 0, 1),
        (bool, (), 0, 1),
        (tuple, (), 0, 1),
        (set, (), 0, 1),
        (frozenset, (), 0, 1),
        (enumerate, ("iterable", "start"), 0, 2),
        (reversed, (), 1, 1),
        (functools.reduce, ("initial",), 2, 3),
        (math.log, (), 1, 2),
        (math.hypot, (), 0, None),
        (itertools.repeat, ("object", "times"), 0, 2),
        (itertools.chain, (), 0, None),
        (itertools.islice, (), 2, 4),
        (object.__new__, None, 1, None),
        (re.Match.group, (), 1, None),
        (re.Match.groups, ("default",), 1, 2),
        (re.Match.start, (), 1, 2),
        (re.Match.end, (), 1, 2),
        (re.Match.span, (), 1, 2),
    )
}


def _register() -> None:
    for cls in (str, bytes):
        kinds: dict[str, Any] = {"same": one(cls), "int": one(int), "bool": one(bool)}
        kinds["three"] = ItemValues((one(cls),) * 3)
        for form, names in _STRING.items():
            for name in filter(functools.partial(hasattr, cls), names.split()):
                method = getattr(cls, name)
                if form == "list":
                    LISTS[id(method)] = method, one(cls)
                elif name in ("__format__", "__str__", "__repr__"):
                    RESULTS[id(method)] = method, one(str)
                else:
                    RESULTS[id(method)] = method, kinds[form]
    for cls, table in _OTHERS.items():
        for result, names in table.items():
            for name in names.split():
                method = getattr(cls, name)
                RESULTS[id(method)] = method, one(result)
    for result, functions in _FUNCTIONS.items():
        RESULTS.update({id(each): (each, one(result)) for each in functions})
    found = Kinds(frozenset({re.Match, type(None)}))
    for each in (re.Pattern.match, re.Pattern.search, re.Pattern.fullmatch):
        RESULTS[id(each)] = each, found
    for each in (re.match, re.search, re.fullmatch):
        RESULTS[id(each)] = each, found
    RESULTS[id(re.compile)] = re.compile, one(re.Pattern)
    RESULTS[id(re.Pattern.finditer)] = re.Pattern.finditer, Iteration(one(re.Match))
    RESULTS[id(re.finditer)] = re.finditer, Iteration(one(re.Match))
    RESULTS[id(re.Match.span)] = re.Match.span, ItemValues((one(int), one(int)))
    groups = Kinds(frozenset({str, bytes, type(None)}))
    RESULTS[id(re.Match.__getitem__)] = re.Match.__getitem__, groups
    RESULTS[id(print)] = print, NONE
    for each in (re.Pattern.findall, re.Pattern.split, re.findall, re.split):
        LISTS[id(each)] = each, TOP


_register()

# By a function's identity: the function, and its signature. To parse one takes a millisecond.
_signatures: dict[int, tuple[Any, inspect.Signature | None]] = {}


def signature_in_c(function: Any) -> inspect.Signature | None:
    """The signature of a function or class in C; None if none can be read."""
    known = _signatures.get(id(function))
    if known is None:
        known = function, read_signature(function)
        if not _is_bound(function):  # others are made for each object
            _signatures[id(function)] = known
    return known[1]


def _is_bound(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    return owner is not None and not isinstance(owner, types.ModuleType)

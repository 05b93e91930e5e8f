"""Results of builtin functions and methods that depend on the classes of their arguments alone."""

from __future__ import annotations

import functools
import io
import math
import operator
import os
import re
import sys
import time
from typing import Any

from overlay.analysis.abstract_values import TOP, ItemValues, Iteration
from overlay.analysis.kind_functions import NONE, Kinds, one

__all__ = ["LISTS", "RESULTS"]

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
# By a function's identity: the function, and the items of the list that it gives.
LISTS: dict[int, tuple[Any, Any]] = {}


def _register() -> None:
    for cls in (str, bytes):
        kinds = {"same": one(cls), "int": one(int), "bool": one(bool)}
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
    RESULTS[id(print)] = print, NONE
    for each in (re.Pattern.findall, re.Pattern.split, re.findall, re.split):
        LISTS[id(each)] = each, TOP


_register()

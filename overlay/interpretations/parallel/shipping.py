"""Functions sent to another process by value: their code, and everything the proof says they
read."""

from __future__ import annotations

import builtins
import importlib
import marshal
import sys
import warnings
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from overlay.interpretations.parallel.known_effects import computes
from overlay.interpretations.parallel.loop_data import is_sent_as_it_is
from overlay.interpretations.parallel.purity_proof import Proof

__all__ = ["CannotShip", "packed", "unpacked"]


class CannotShip(Exception):
    """A function reads an object that cannot be sent to another process."""


def packed(function: FunctionType, proof: Proof) -> Any:
    """A function as plain data, with all functions that run in it."""
    functions: list[Any] = []
    numbers = {key: place for place, key in enumerate(proof.functions)}
    for each, code, _, reads in proof.functions.values():
        values = {read.name: _value(read.value, numbers, proof) for read in reads}
        defaults = (each.__defaults__, each.__kwdefaults__)
        functions.append((marshal.dumps(code), each.__name__, each.__module__, defaults, values))
    return functions, numbers[id(function)]


def _value(value: Any, numbers: dict[int, int], proof: Proof) -> tuple[str, Any]:
    plain = getattr(value, "py_func", value)
    if id(plain) in numbers:
        return "function", numbers[id(plain)]
    if isinstance(value, ModuleType):
        attributes = [
            (name, held) for owner, name, held in proof.attributes.values() if owner is value
        ]
        if all(computes(held) or _is_library(held) for _, held in attributes):
            return "module", value.__name__
        return "attributes", {n: _value(held, numbers, proof) for n, held in attributes}
    if computes(value):
        return "known", _name_of(value)
    if callable(value):
        raise CannotShip(getattr(value, "__name__", repr(value)))
    return "value", value


def _is_library(value: Any) -> bool:
    """Whether a value belongs to Python or numpy, which are identical in the other process."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in ("math", "cmath", "numpy")
    return isinstance(value, float | int)


def _name_of(value: Any) -> tuple[str, str]:
    for module in ("builtins", "math", "cmath", "numpy", "numpy.linalg"):
        if getattr(sys.modules[module], value.__name__, None) is value:
            return module, value.__name__
    raise CannotShip(value.__name__)


def unpacked(data: Any) -> FunctionType:
    """The function, in the process that received it."""
    rows, number = data
    made: list[FunctionType] = []
    for text, name, module, (defaults, named), _ in rows:
        code: CodeType = marshal.loads(text)
        cells = tuple(CellType() for _ in code.co_freevars)
        namespace = {"__builtins__": builtins, "__name__": module}
        function = FunctionType(code, namespace, name, defaults, cells)
        function.__kwdefaults__ = named
        made.append(function)
    for function, (*_, values) in zip(made, rows, strict=True):
        names = function.__code__.co_freevars
        for name, value in values.items():
            found = _found(value, made)
            if name in names:
                (function.__closure__ or ())[names.index(name)].cell_contents = found
            else:
                function.__globals__[name] = found
    return made[number]


def _found(value: tuple[str, Any], made: list[FunctionType]) -> Any:
    kind, what = value
    if kind == "function":
        return made[what]
    if kind == "module":
        return importlib.import_module(what)
    if kind == "known":
        return getattr(importlib.import_module(what[0]), what[1])
    if kind == "attributes":
        module = ModuleType("attributes")
        for name, held in what.items():
            setattr(module, name, _found(held, made))
        return module
    return what


def call_all(function: FunctionType, calls: list[Any], errors: dict[str, Any]) -> list[Any]:
    """The results of calls, each in a tuple of one; None for a call that raised or warned, or whose
    result would not arrive identical."""
    found: list[Any] = []
    with warnings.catch_warnings(), np.errstate(**errors):
        warnings.simplefilter("error")
        for args, kwargs in calls:
            try:
                result = function(*args, **kwargs)
                found.append((result,) if is_sent_as_it_is(result) else None)
            except Exception:  # the program repeats the call, and raises the error itself
                found.append(None)
    return found

"""Targets: the callables that are overlaid, compared by identity.

The user's ``__eq__`` and ``__hash__`` never take part.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import operator
import re
import sys
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from overlay.core.errors import OverlayError, near_names
from overlay.core.in_force import natively
from overlay.core.location import caller, home_of, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import named_value

__all__ = [
    "BUILTINS",
    "DESCRIPTORS",
    "INPLACE",
    "LRU_CACHE",
    "as_positional",
    "attributes_of",
    "bound_to_object",
    "canonical",
    "describe",
    "generic_state",
    "is_below",
    "key_of_target",
    "lookup",
    "module_of",
    "mro_of",
    "nearest_names",
    "positional_names",
    "read_signature",
    "refuse_values",
    "type_attribute",
    "with_code",
]

GENERIC = "__overlay_generic__"
_READING: dict[str, Any] = {}
if importlib.util.find_spec("annotationlib") is not None:  # they are lazy
    _READING["annotation_format"] = importlib.import_module("annotationlib").Format.STRING
# Builtin functions, and methods bound to an object; some have a class of their own.
BUILTINS: tuple[Any, ...] = (types.BuiltinFunctionType, type(re.compile("").match))
# Functions in C as the class that defines them holds them.
DESCRIPTORS: tuple[Any, ...] = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
LRU_CACHE: Any = type(functools.lru_cache(len))
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD

# operator.iadd -> operator.add, and so on: the fallback of `a += b` where a has no __iadd__
# (keyed by identity)
INPLACE: dict[int, tuple[Callable[..., Any], str]] = {
    id(getattr(operator, f"i{name}")): (
        getattr(operator, f"{name}_" if name in ("and", "or") else name),
        f"__i{name}__",
    )
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
        *("lshift", "rshift", "and", "or", "xor", "matmul"),
    )
}

# operator.add -> operator.iadd (keyed by identity)
IN_PLACE_OF: dict[Any, Any] = {
    id(plain): getattr(operator, dunder.strip("_")) for plain, dunder in INPLACE.values()
}


def refuse_values(
    function: Any, verb: str, help: str, error: type[OverlayError] = OverlayError
) -> None:
    """Raise an error for an object that is not callable. verb: what was to be done with it. help:
    the remedy.
    """
    if not natively(callable, function):
        raise error(
            f"cannot {verb} {named_value(function)}: it is not callable", where=caller(), help=help
        )


def canonical(target: Any) -> Any:
    """The canonical object of a target: the function below a class's bound method, else the
    target itself; an OverlayError where it is not callable.
    """
    if isinstance(target, types.MethodType):
        if not isinstance(target.__self__, type):
            function: Any = target.__func__
            module = getattr(function, "__module__", None) or type(target.__self__).__module__
            raise OverlayError(
                f"a method bound to one object cannot be overlaid: {target!r}",
                where=caller(),
                help=f"target the class's function instead, {function.__qualname__}, or its name, "
                f"'{module}:{function.__qualname__}'",
            )
        return target.__func__
    owner: Any = getattr(target, "__self__", None)
    if isinstance(target, types.BuiltinFunctionType) and isinstance(owner, type):
        descriptor = type_attribute(owner, target.__name__)
        if isinstance(descriptor, types.ClassMethodDescriptorType):
            return descriptor  # each access of the attribute makes another bound object
    anything: Any = target
    if type(anything) in (staticmethod, classmethod):
        return anything.__func__
    if issubclass(type(anything), property):
        name = getattr(anything.fget, "__qualname__", "Class.name")
        raise OverlayError(
            f"cannot overlay the property {name}: reading it is not a call",
            where=caller(),
            help=f"target the function that reads it: {name}.fget",
        )
    help = "target a function, builtin, class, operator.* function, or 'module:name'"
    refuse_values(target, "overlay", help)
    return target


def with_code(
    function: types.FunctionType,
    code: types.CodeType,
    cells: Sequence[types.CellType] | None = None,
) -> types.FunctionType:
    """A copy of a function with another code object. Globals, names, module and defaults are the
    function's own; so is the closure, unless cells are given.
    """
    closure = function.__closure__ if cells is None else tuple(cells)
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def key_of_target(target: Any) -> Hashable:
    """The identity key of a target, unique while it is alive."""
    kind: Any = type(target)
    key = type_attribute(kind, "__overlay_key__")
    return id(target) if key is None else key(target)


def generic_state(target: Any) -> Any | None:
    """The state of a generic function, one made by ``generic``, or None for anything else."""
    if type(target) is not types.FunctionType:
        return None
    state = target.__dict__.get(GENERIC)
    return state if state is not None and state.function is target else None


# a metaclass may have attributes of these names
mro_of: Any = type.__dict__["__mro__"].__get__
attributes_of: Any = type.__dict__["__dict__"].__get__
_MODULE: Any = type.__dict__["__module__"].__get__


def is_below(kind: Any, base: type) -> bool:
    """Whether a class is ``base`` or derives from it; no code of a metaclass runs."""
    return any(each is base for each in mro_of(kind) or kind.__mro__)


def type_attribute(kind: type, name: str) -> Any:
    """An attribute as the interpreter's slots look it up: on the type, no descriptors run."""
    for base in mro_of(kind) or kind.__mro__:  # a type in C may not be ready before it is used
        attributes = attributes_of(base)
        if name in attributes:
            return attributes[name]
    return None


def module_of(kind: type) -> Any:
    """The module of a class, read past its metaclass. None where it has none, as a class made by
    ``type(...)`` in a namespace without ``__name__``.
    """
    try:
        return _MODULE(kind)
    except AttributeError:
        return None


def bound_to_object(value: Any) -> Any:
    """The class's function behind a method bound to an object, or None for anything else."""
    if type(value) is types.MethodType:
        return None if isinstance(value.__self__, type) else value.__func__
    if type(value) not in BUILTINS:
        return None
    receiver: Any = getattr(value, "__self__", None)
    if receiver is None or isinstance(receiver, (type, types.ModuleType)):
        return None
    return type_attribute(type(receiver), value.__name__)


def lookup(name: str) -> Any | None:
    """The object that ``"module:qualified.name"`` names, or None while it is not imported."""
    module, _, path = name.partition(":")
    if module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in path.split("."):
        found = (
            inspect.getattr_static(found, part, None)
            if isinstance(found, type)
            else getattr(found, part, None)
        )
        if found is None:
            return None
    return canonical(found)


def nearest_names(name: str) -> tuple[str, list[str]]:
    """The first part of ``"module:qualified.name"`` that lacks the next attribute, and the names
    of its attributes with a similar spelling.
    """
    module, _, path = name.partition(":")
    found: Any = sys.modules[module]
    shown, parts = f"module {module}", path.split(".")
    for i, part in enumerate(parts):
        inner = getattr(found, part, None)
        if inner is None:
            near = near_names(part, dir(found))
            return shown, [f"{module}:{'.'.join([*parts[:i], n])}" for n in near]
        found, shown = inner, f"{module}:{'.'.join(parts[: i + 1])}"
    return shown, []


def positional_names(signature: inspect.Signature | None) -> tuple[str, ...]:
    """The positional parameters of a target, in order."""
    if signature is None:
        return ()
    kinds = inspect.Parameter.POSITIONAL_ONLY, POSITIONAL
    return tuple(p.name for p in signature.parameters.values() if p.kind in kinds)


def checked_name(name: str) -> str:
    """``name`` itself; an OverlayError unless it reads ``module:name``."""
    module, colon, path = name.partition(":")
    if not (module and colon and path) or not all(p.isidentifier() for p in path.split(".")):
        holder, _, last = name.rpartition(".")
        is_dotted = bool(holder) and all(p.isidentifier() for p in name.split("."))
        example = f"{holder}:{last}" if is_dotted else "scipy.special:erf"
        raise OverlayError(
            f"{name!r} does not name a target",
            where=caller(),
            help=f"write 'package.module:name', such as {example!r}",
        )
    return name


def signature_of(target: Any) -> inspect.Signature | None:
    """A target's own signature, or None where it has none to read (many C functions)."""
    return read_signature(getattr(target, "py_func", target))


def read_signature(function: Any) -> inspect.Signature | None:
    """The signature of a callable, or None where it has none to read. Lazy annotations are not
    evaluated: their names may be undefined.
    """
    try:
        return inspect.signature(function, **_READING)
    except (TypeError, ValueError):
        return _documented(function)


def _documented(function: Any) -> inspect.Signature | None:
    """The signature at the head of the docstring of a function of numpy, such as ``zeros(shape,
    dtype=float, order='C', *, like=None)``: those in C have no other one before numpy 2.4.
    """
    kind = type(function)
    if kind not in BUILTINS and module_of(kind) != "numpy":
        return None
    if getattr(function, "__module__", None) != "numpy":
        return None
    head = (function.__doc__ or "").strip().partition("\n\n")[0]
    name, _, rest = head.partition("(")
    space: dict[str, Any] = {}
    try:
        exec(f"def documented({rest.rpartition(')')[0]}): ...", space)
    except (SyntaxError, NameError):  # as in "where(condition, [x, y], /)"
        return None
    return inspect.signature(space["documented"]) if name == function.__name__ else None


def as_positional(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments with as many as possible given by position, as the target binds them.

    A gap before a keyword is filled with the target's own defaults. Where there is no signature,
    or the call does not fit it, the arguments are returned unchanged.
    """
    same = args, dict(kwargs)
    if not kwargs or signature is None:
        return same
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return same
    parameters = signature.parameters
    names = [n for n, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, POSITIONAL)]
    given = [name for name in names if name in bound]
    if not given or len(args) > len(names):
        return same
    moved = names[: names.index(given[-1]) + 1]
    values = [bound.get(name, parameters[name].default) for name in moved]
    if any(value is inspect.Parameter.empty for value in values):
        return same
    by_name = {name for name in moved if parameters[name].kind is POSITIONAL}
    return tuple(values), {k: v for k, v in kwargs.items() if k not in by_name}


def describe(target: Any) -> str:
    """A target's name for messages: ``math.sin``, ``Task.work``, ``operator.add``."""
    if isinstance(target, str):
        return target
    name = name_of(target)
    module = home_of(target)
    module = "operator" if module == "_operator" else module
    if module in (None, "builtins", "__main__"):
        return name
    return f"{module}.{name}" if isinstance(target, types.BuiltinFunctionType) else name

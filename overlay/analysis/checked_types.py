"""Type domain of the checker: classes, constants, contents of objects, and what fails of it."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

from overlay.analysis import protocol_checks
from overlay.analysis.abstract_state import AbstractState
from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues, Iteration, KnownValue
from overlay.analysis.attribute_names import (
    MissingAttribute,
    StoredNames,
    has_attribute,
    in_class,
    is_of_program,
    names_of,
    plain_lookup,
)
from overlay.analysis.builtin_results import RESULTS, TAKEN, signature_in_c
from overlay.analysis.content_rules import RULES, Rules, contents_table, of_constants
from overlay.analysis.generator_managers import generator_function, manager_made
from overlay.analysis.keyword_names import HeldNames
from overlay.analysis.kind_functions import (
    NONE,
    SAMPLES,
    Exactly,
    Kinds,
    MethodOfObject,
)
from overlay.analysis.kinds import classes_of
from overlay.analysis.lattice import Entered, UnsetVariable
from overlay.analysis.object_attributes import Attributes, text_of
from overlay.analysis.object_contents import ObjectContents
from overlay.analysis.protocol_types import ProtocolTypes
from overlay.analysis.special_methods import entered_by
from overlay.analysis.step_rules import result_of_step
from overlay.analysis.unpacked_arguments import REST, any_arguments
from overlay.code import marks
from overlay.code.body import Apply, Body
from overlay.code.callbacks import CALLBACKS
from overlay.code.read_bodies import signature_of_code
from overlay.core.errors import MethodNotFound, closest, near_names
from overlay.core.location import location_of, name_of
from overlay.core.short_repr import counted
from overlay.core.table import MethodTable
from overlay.core.target import type_attribute

__all__ = ["CheckedTypes"]

_EXACT = (bool, int, str, slice)
# the number of constants beyond which a value is of their class
_CONSTANTS = 6
# functions that keep no argument, and run no code but special methods of their arguments
_OBSERVERS = frozenset(
    map(
        id,
        (
            *(isinstance, issubclass, callable, hasattr, type, len, bool, repr, str, format, id),
            *(operator.contains, operator.is_, operator.is_not, operator.not_, operator.eq),
            *(operator.ne, operator.lt, operator.le, operator.gt, operator.ge, abs, all, any),
            *(int, float, complex, bytes, range, chr, ord, hash, hex, oct, bin, print, slice),
            *(marks.pack, marks.succeeds, marks.holds_items, marks.give),
        ),
    )
)
_WITHOUT_CODE = frozenset(
    map(id, (isinstance, issubclass, callable, hasattr, type, id, operator.is_, operator.is_not))
) | {id(marks.pack), id(marks.succeeds), id(marks.holds_items)}


class UnsupportedOperands(MethodNotFound):
    """An operator or builtin does not accept its operands. is_none: whether one is None."""

    is_none = False

    @classmethod
    def of(cls, error: MethodNotFound, is_none: bool) -> UnsupportedOperands:
        """An error with the text of another, of operands of which one may be None."""
        made = cls(error.asked, notes=error.notes, help=error.help)
        made.is_none = is_none
        return made


class CheckedTypes(ProtocolTypes):
    """Type domain that knows constants, and the contents of containers and objects, and raises
    errors for names, attributes and calls that certainly fail.

    contents: of the containers and objects that the analysed code makes. stored: the names of
    attributes that code stores.
    """

    def __init__(self) -> None:
        self.contents = ObjectContents(self.join)
        self.stored = StoredNames()
        self.attributes = Attributes(self)
        self.place: Any = None
        self.body: Body | None = None
        self.rules = Rules(self)
        self.names = HeldNames(self.contents)

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        return (contents_table, self.table)

    def transfer(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.rules.bound(function)

    # ---- the lattice ----

    def join(self, one: Any, other: Any) -> Any:
        if one == other or other == BOTTOM:
            return one
        if one == BOTTOM:
            return other
        if isinstance(one, Exactly) and isinstance(other, Exactly) and one.types == other.types:
            both = one.values | other.values
            return Exactly(one.types, None, both) if len(both) <= _CONSTANTS else Kinds(one.types)
        if isinstance(one, Iteration) and isinstance(other, Iteration):
            return Iteration(self.join(one.item, other.item))
        found = super().join(one, other)
        if found == TOP or (isinstance(found, Kinds) and found.sites is None):
            self.handed((one, other))
        return found

    def widen(self, old: Any, new: Any) -> Any:
        found = super().widen(old, new)
        if found not in (old, new):
            self.handed((old, new))
        return found

    def constant(self, value: Any) -> Any:
        if type(value) in _EXACT:
            return Exactly(frozenset({type(value)}), None, frozenset({value}))
        return super().constant(value)

    def known(self, value: Any) -> tuple[Any] | None:
        if isinstance(value, MethodOfObject) and isinstance(value.receiver, KnownValue):
            return (types.MethodType(value.function.value, value.receiver.value),)
        return super().known(value)

    def instance(self, cls: Any) -> Any:
        return Kinds(frozenset({cls}), frozenset({cls}))

    def generated(self, item: Any) -> Any:
        body = self.body
        site = "generated", id(None if body is None else body.function)
        return self.made(types.GeneratorType, site, item)

    def handed(self, values: Iterable[Any]) -> None:
        self.contents.lose(values)

    def grown(self) -> bool:
        grown, self.contents.changed = self.contents.changed, False
        return grown

    def spread(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
        wrong = self.names.unexpected(function, kwargs.get("**"))
        if wrong is not None:
            plain, name, near = wrong
            raise MethodNotFound(
                f"{name_of(plain)} takes no keyword argument {name!r}, which is unpacked",
                notes=[*closest(near), ("defined", location_of(plain) or "")],
                help="call it as it is defined",
            )
        items = args[0].items if args and isinstance(args[0], ItemValues) else None
        if items is not None and not kwargs:
            return items, {}
        self.handed((*args, *kwargs.values()))
        return any_arguments(function, items)

    def settled(self, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
        found = of_constants(function, args)
        if found is not None and type(found[0]) in (*_EXACT, tuple):
            return self.constant(found[0])
        if id(function) in RULES or id(function) in _WITHOUT_CODE:
            return value
        if id(function) not in _OBSERVERS and id(function) not in RESULTS:
            self.handed(args)
        else:
            self.handed(each for each in args if self.contents.holds(each, _has_code))
        return value

    # ---- containers and objects that code makes ----

    def made(self, cls: type, site: Any, item: Any, key: Any = BOTTOM) -> Any:
        """A new container of a class, made at a site, with these items and keys."""
        sites = frozenset({(site, cls)})
        for slot, value in (("item", item), ("key", key)):
            if value != BOTTOM:
                self.contents.write(sites, slot, value)
        return Kinds(frozenset({cls}), sites)

    def made_here(self, cls: type, item: Any, key: Any = BOTTOM) -> Any:
        """A new container that the present step makes."""
        return self.made(cls, self.place, item, key)

    def item_of(self, value: Any) -> Any:
        """The join of the items that iteration over a value yields."""
        return self.rules.item_of(value)

    # ---- steps ----

    def applied(self, step: Apply, body: Body, state: AbstractState) -> tuple[Any] | None:
        self.place = id(step)
        if self.body is not body:
            self.body = body
            self.stored.add(body.function.__globals__)  # pyright: ignore[reportFunctionMemberAccess]
        return result_of_step(self, step, body, state)

    def unset(self, name: str, body: Body) -> Any:
        code: Any = getattr(body.function, "__code__", None)
        # a variable that functions defined here share may be captured before it is set
        own = () if code is None else {*code.co_varnames} - {*code.co_cellvars}
        if name.startswith(".") or name not in own:
            return TOP
        error = UnsetVariable(
            f"the variable {name!r} is read before anything is assigned to it",
            notes=closest(near_names(name, own)),
            help="assign it on each path to this line",
        )
        error.variable = name
        raise error

    def joined(self, values: Iterable[Any]) -> Any:
        """The join of several values."""
        found: Any = BOTTOM
        for value in values:
            found = self.join(found, value)
        return found

    # ---- calls ----

    def entered(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Entered | None:
        if function is getattr and len(args) == 2:
            getter = self.attributes.getter(*args)
            return None if getter is None else Entered([(getter, (args[0],))])
        generates = generator_function(function)
        if generates is not None and not kwargs:
            made = functools.partial(manager_made, self.contents, generates)
            return Entered([(generates, tuple(args))], made)
        method = _bound_builtin(function)
        if method is not None and not kwargs:
            return Entered([(method, tuple(args))])
        if id(function) in CALLBACKS:  # also classes, as map
            found = entered_by(self, function, args, kwargs)
            if found is not None:
                return found
        if _makes_instance(function):
            self.handed((*args, *kwargs.values()))
            return Entered((), functools.partial(_instance_of, self, function))
        return entered_by(self, function, args, kwargs)

    def result_beside(self, function: Any, args: Sequence[Any], found: Any) -> Any:
        """The result of a native function whose callbacks return ``found``."""
        return self.rules.result_beside(function, args, found)

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        if function is getattr and len(args) == 2 and not kwargs:
            _check_attribute(self, *args)
            return
        if _takes_nothing(function) and (args or kwargs):
            raise MethodNotFound(
                f"{name_of(function)} takes no arguments: it has no __init__",
                notes=[("defined", place)] if (place := location_of(function)) else [],
                help="call it as it is defined",
            )
        protocol_checks.check_native(self, function, args, kwargs)
        plain: Any = getattr(function, "py_func", function)
        if type(plain) is FunctionType:
            signature = signature_of_code(plain)
        elif issubclass(type(plain), _NATIVES) or _is_exact_class(plain):
            signature = signature_in_c(plain)
        else:
            signature = None
        if signature is not None:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                near = [n for key in kwargs for n in near_names(key, signature.parameters)]
                unknown = [key for key in kwargs if key not in signature.parameters]
                raise MethodNotFound(
                    f"{name_of(plain)}{_shown(signature)} does not take such arguments: {error}",
                    notes=[
                        *(closest(tuple(near)) if unknown else ()),
                        *([("defined", location_of(plain))] if location_of(plain) else []),
                    ],
                    help="call it as it is defined",
                ) from None
        if type(plain) is not FunctionType:
            if signature is None:
                _check_taken(plain, args, kwargs)
            try:
                super().check(function, args, kwargs)
            except MethodNotFound as error:
                raise UnsupportedOperands.of(error, NONE in args) from None

    def has(self, value: Any, name: str) -> bool | None:
        """Whether a value has an attribute; None if that is not certain."""
        found = self.attributes.subject(value)
        if found is None:
            return None
        has = has_attribute(found[0], name, self.stored, known=found[1])
        if has is None and isinstance(value, Kinds) and is_of_program(found[0]):
            is_plain = plain_lookup(found[0]) and not in_class(found[0], name)
            if is_plain and self.contents.follows(value.sites):
                return self.contents.read(value.sites, f".{name}") != BOTTOM
        return has

    # ---- conditions ----

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        args = tuple(args)
        decided = decision(function, args)
        if decided is None and (found := of_constants(function, args)) is not None:
            decided = bool(found[0])
        if decided is not None:
            return args if decided is truth else None
        if all(isinstance(each, Exactly) for each in args):
            return constants_for(function, args, truth)
        if function in _CLASS_TESTS:
            return super().assume(function, args, truth)
        if function is hasattr and self.rules.has(*args) is (not truth):
            return None
        return args

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        if function is type or function is marks.matched:
            return super().backwards(function, args, result)
        return tuple(args)


_NATIVES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_CLASS_TESTS = (isinstance, operator.is_, operator.is_not, bool, marks.holds_items)
# classes whose calls make another object, or whose objects have other attributes
_OTHER_CLASSES = (type, super, property, types.ModuleType)
_IDENTITY = (operator.is_, operator.is_not)
# classes with a single instance, also where an analysis makes instances of it
_LASTING = (type, types.ModuleType, *_NATIVES)
_COMPARED = (
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.is_, operator.is_not),
)


def decision(function: Any, args: tuple[Any, ...]) -> bool | None:
    """The truth of a condition on known objects and classes; None if it is not known."""
    if function in _IDENTITY and len(args) == 2:
        fixed = all(isinstance(v, KnownValue) and isinstance(v.value, _LASTING) for v in args)
        return (args[0] == args[1]) is (function is operator.is_) if fixed else None
    if function is issubclass and len(args) == 2:
        one, other = args
        classes = classes_of(other)
        is_known = isinstance(one, KnownValue) and isinstance(one.value, type)
        return issubclass(one.value, classes) if is_known and classes is not None else None
    if function is not bool or len(args) != 1:
        return None
    (value,) = args
    if isinstance(value, ItemValues):
        return bool(value.items)
    if isinstance(value, Kinds) and value.types == NONE.types:
        return False
    is_object = isinstance(value, KnownValue) and type(value.value) in (
        *(FunctionType, types.ModuleType, type, types.BuiltinFunctionType),
    )
    return True if is_object or isinstance(value, MethodOfObject) else None


def constants_for(function: Any, args: tuple[Any, ...], truth: bool) -> Any:
    """The constants for which a condition has a truth; None if there are none."""
    if function is not bool and function not in _COMPARED:
        return args
    kept: list[tuple[Any, ...]] = []
    for each in itertools.product(*(value.values for value in args)):
        try:
            found = bool(function(*each))
        except TypeError:
            return args
        kept += [each] if found is truth else []
    if not kept:
        return None
    columns = zip(args, zip(*kept, strict=True), strict=True)
    return tuple(Exactly(value.types, None, frozenset(left)) for value, left in columns)


def _makes_instance(function: Any) -> bool:
    """Whether a callable is a class whose ``__new__`` and ``__init__`` are in C, and for which no
    transfer function is more precise.
    """
    if not isinstance(function, type) or issubclass(function, _OTHER_CLASSES):
        return False
    plain = type_attribute(type(function), "__call__") is type.__dict__["__call__"]
    new, init = (type_attribute(function, name) for name in ("__new__", "__init__"))
    in_c = type(new) is types.BuiltinFunctionType and type(init) is types.WrapperDescriptorType
    return plain and in_c and id(function) not in RULES and function not in SAMPLES


def _takes_nothing(function: Any) -> bool:
    """Whether a callable is a class of the program with neither ``__new__`` nor ``__init__``."""
    if not isinstance(function, type) or not is_of_program(function):
        return False
    new, init = (type_attribute(function, name) for name in ("__new__", "__init__"))
    plain = type_attribute(type(function), "__call__") is type.__dict__["__call__"]
    return plain and new is object.__new__ and init is object.__init__


def _bound_builtin(function: Any) -> Any:
    """A method in C that is bound to an object, as the function of its class and the object; else
    None."""
    owner = getattr(function, "__self__", None)
    is_bound = issubclass(type(function), types.BuiltinFunctionType)
    if not is_bound or owner is None or isinstance(owner, (type, types.ModuleType)):
        return None
    found = type_attribute(type(owner), function.__name__)
    return types.MethodType(found, owner) if type(found) is types.MethodDescriptorType else None


def _check_taken(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Check a call of a builtin function whose signature cannot be read."""
    found = TAKEN.get(id(function))
    if found is None or found[0] is not function or REST in args:
        return
    names, least, most = found[1]
    wrong = [] if names is None else [key for key in kwargs if key not in names]
    name, count = name_of(function), len(args)
    if wrong:
        raise MethodNotFound(
            f"{name} takes no keyword argument {wrong[0]!r}",
            notes=closest(near_names(wrong[0], names or ())),
            help="call it as it is documented",
        )
    if count < least or (most is not None and count > most):
        raise MethodNotFound(
            f"{name} does not take {counted(count, 'positional argument')}",
            help="call it as it is documented",
        )


def _is_exact_class(plain: Any) -> bool:
    """Whether a callable is a class in C whose signature is that of its calls: one of the standard
    library that has its own signature, and no other that it inherits."""
    if type(plain) is not type or id(plain) in TAKEN:
        return False
    of_library = plain.__module__.partition(".")[0] in sys.stdlib_module_names
    in_c = type(type_attribute(plain, "__new__")) is types.BuiltinFunctionType
    return plain in SAMPLES or (of_library and in_c and plain.__text_signature__ is not None)


def _instance_of(domain: CheckedTypes, cls: Any, found: Any) -> Any:
    return domain.instance(cls)


def _check_attribute(domain: CheckedTypes, value: Any, name: Any) -> None:
    text = text_of(name)
    if text is None:
        return
    found = domain.attributes.subject(value)
    if found is None:
        return
    subject, known = found
    if domain.has(value, text) is not False:
        return
    near = near_names(text, names_of(subject, known=known))
    is_method = isinstance(value, MethodOfObject)
    described = name_of(value.function.value) if is_method else _described(subject, known)
    error = MissingAttribute(
        f"{described} has no attribute {text!r}",
        notes=closest(near),
        help="call it first" if is_method else "correct the spelling, or set it in the class",
    )
    error.is_none = subject in (None, types.NoneType)
    raise error


def _has_code(cls: type) -> bool:
    """Whether objects of a class may have special methods of the program."""
    return is_of_program(cls)


def _shown(signature: Any) -> str:
    return f"({', '.join(signature.parameters)})"


def _described(subject: Any, known: bool) -> str:
    if not known:
        return f"an object of class {subject.__qualname__}"
    if type(subject) is types.ModuleType:
        return f"the module {subject.__name__}"
    if isinstance(subject, type):
        return f"the class {subject.__qualname__}"
    return f"an object of class {type(subject).__qualname__}"

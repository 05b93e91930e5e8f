"""Lifting of a function to a program of relations: calls are resolved, user functions inlined.

The blocks of a function are executed abstractly, with a variable of the program for each number.
Where the control flow depends on such a variable, both paths are followed and joined into one
statement, a branch.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.array_methods import array_as, array_call, array_rows
from inversion.lifting.array_objects import ArrayObjects
from inversion.lifting.exits import Found, Returned, Way
from inversion.lifting.heap import thawed
from inversion.lifting.integer_ranges import ranges_of
from inversion.lifting.interpreted_calls import interpreted_call
from inversion.lifting.known_calls import known_call
from inversion.lifting.lifted_slopes import check_faithful
from inversion.lifting.lifted_values import (
    Again,
    CallSite,
    Generating,
    HeapObject,
    Known,
    KnownObject,
    Named,
    Raises,
    Tupled,
    Value,
    Values,
    as_tree,
    kinds_of,
    numbers_of,
    of_tree,
    plain,
    range_of,
    refused,
    shown_kind,
    value_of,
)
from inversion.lifting.lookups import Lookup
from inversion.lifting.made_calls import (
    as_argument,
    as_result,
    called,
    has_own_binding,
    made_call,
    without_objects,
)
from inversion.lifting.mixed_numbers import (
    Deferred,
    Source,
    TypesAsked,
    by_type,
    extreme,
    note_computed,
)
from inversion.lifting.number_functions import in_python
from inversion.lifting.recursion import ActiveCall, entered, generated, identity_of
from inversion.lifting.resolve import (
    NUMBERS,
    Resolver,
    body_of,
    bound,
    called_by,
    check_named,
    compiled,
    folded,
    is_of_chance,
    no_relation,
    of_chance,
    promotions,
    python_code,
)
from inversion.lifting.self_calls import through
from inversion.lifting.sequence_calls import sequence_call, sequence_of
from inversion.lifting.text_calls import text_call
from inversion.program.statements import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.program.trees import Tree, leaves, mapped
from inversion.program.variable_names import subject_of, word_for
from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.core.dispatch import MethodChain, by_types
from overlay.core.location import location_of
from overlay.core.short_repr import a_or_an
from overlay.core.target import as_positional, describe, signature_of
from primitives import Domain, Relation
from primitives.domains import Strings
from primitives.relation import RETURN
from primitives.sequences.items import Apart, apart
from primitives.sequences.lists import is_list

if TYPE_CHECKING:
    from inversion.lifting.function_code import FunctionCode
    from overlay.interpretations.autodiff import Rule

__all__ = ["Lifted", "Lifter", "Template", "lift"]


@dataclass(frozen=True)
class Lifted:
    """A lifted function: its program.

    axes: for each argument, and for ``"return"``, the tree of the axes of the program from which it
    is built.
    """

    program: Program
    axes: Mapping[str, Tree]


def lift(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    context: Context | None,
    *,
    root_finding: bool = True,
    max_trips: int = 1000,
    keywords: Collection[str] = (),
    folds: bool = True,
    domains: Mapping[str, Domain] | None = None,
    shapes: Mapping[str, Template] | None = None,
    marks: set[str] | None = None,
    typed: bool = False,
) -> Lifted:
    """The program of a function for inputs of these names and trees of types, in ``context``.

    root_finding, max_trips: as in ``invert``. keywords: inputs that are passed by keyword. folds:
    whether calls with constants are computed; not if all their possible roundings count. domains:
    the domains of inputs, or of parts of them. shapes: the shapes of sequences that are split into
    their items. marks: receives the characters at which strings are split. typed: whether numbers
    that branches return are computed in each of their types; this turns out to be necessary where a
    result depends on the type.

    Raises NotInvertible, with the line, at a statement that is not a call of a function with a
    relation, of an overlay method, or of Python code.
    """
    base = Resolver(None)
    lifter = Lifter(
        base,
        root_finding=root_finding,
        max_trips=max_trips,
        folds=folds,
        typed=typed,
    )
    lifter.marks = set() if marks is None else marks
    check_named(function)
    given = {name: lifter.input(name, tree, domains or {}) for name, tree in inputs}
    resolver = base if context is None else base.under(context)
    site = CallSite("result", location_of(function), resolver, overlaid=context is not None)
    values = _arguments(lifter, site, given, shapes or {})
    args = [value for name, value in values.items() if name not in keywords]
    named = {name: value for name, value in values.items() if name in keywords}
    result: Value | None = None
    with suppress(TypesAsked):
        result = _followed(lifter, site, function, args, named)
    if result is None:
        return lift(function, inputs, context, root_finding=root_finding, max_trips=max_trips,
                    keywords=keywords, folds=folds, domains=domains, shapes=shapes, marks=marks,
                    typed=True)  # fmt: skip
    return _lifted(lifter, site, function, given, result)


def _lifted(
    lifter: Lifter, site: CallSite, function: Any, given: Mapping[str, Tree], result: Value
) -> Lifted:
    """The program of a function whose code has been executed. given: its inputs."""
    returned: dict[str, Operand] = {}

    def leaf(path: str, value: Value) -> str:
        value = sequence_of(lifter, site, value)
        if not isinstance(value, (Variable, Constant)):
            raise _no_result(function, value, site.where)
        returned[RETURN + path] = value
        return RETURN + path

    axes: dict[str, Tree] = {
        name: mapped(tree, lambda _, variable: variable.name) for name, tree in given.items()
    }
    axes[RETURN] = mapped(as_tree(result), leaf)
    program = Program(
        describe(function),
        tuple(v for tree in given.values() for v in leaves(tree)),
        tuple(lifter.statements),
        returned,
        site.where,
        tuple(lifter.functions),
        tuple(lifter.holds),
        tuple(lifter.attributes),
        tuple(lifter.tables),
        dict(lifter.partials),
    )
    return Lifted(program, axes)


def _followed(lifter: Lifter, site: CallSite, function: Any, args: Values, kwargs: Named) -> Value:
    """The result of a call of the whole function."""
    try:
        result = lifter.call(site, (function,), args, kwargs)
    except RecursionError:
        result = None
    if result is None:  # raised here: it does not keep the thousand frames, which may be pickled
        raise NotInvertible(
            f"cannot invert {describe(function)}: its calls are nested too deeply to be followed",
            where=site.where,
            help="call fewer functions within one another, or raise sys.setrecursionlimit",
        )
    if isinstance(result, (Variable, Constant)):
        return result
    return as_result(lifter, site, function, result)


Template = tuple[Any, ...]
"""The known items of a sequence, in order, and None for the others."""


def _no_result(function: Any, value: Value, where: str) -> NotInvertible:
    shown = repr(value.value) if isinstance(value, KnownObject) else a_or_an(shown_kind(value))
    return NotInvertible(
        f"cannot invert {describe(function)}: it returns {shown}",
        where=where,
        help="return a number, or a tuple of numbers",
    )


def _arguments(
    lifter: Lifter, site: CallSite, given: Mapping[str, Any], shapes: Mapping[str, Template]
) -> dict[str, Value]:
    """The values of the arguments; those with a shape are split into their items."""
    return {
        name: of_template(lifter, site, tree, shapes[name])
        if name in shapes
        else lifter.argument(tree)
        for name, tree in given.items()
    }


def of_template(lifter: Lifter, site: CallSite, whole: Variable, template: Template) -> Value:
    """An input of a known length, as a structure of its items."""
    kind = list if is_list(whole.kind) else whole.kind
    domain = lifter.domains.get(whole)
    letters = domain.alphabet if isinstance(domain, Strings) else ""
    site = replace(site, name=whole.name)
    found = lifter.state(site, apart(whole.kind, template, letters), [whole])
    taken = iter(found.items if isinstance(found, Tupled) else (found,))
    items = (next(taken) if item is None else value_of(item) for item in template)
    return thawed(lifter.known, Tupled(kind, tuple(items)))


def _of_numbers(target: Any, args: Values, kwargs: Named) -> bool:
    """Return whether a call has one or two numbers as arguments and makes no object."""
    if kwargs or not 1 <= len(args) <= 2 or isinstance(target, Lookup):
        return False
    if isinstance(target, type) and target not in NUMBERS:
        return False
    return all(isinstance(a, (Variable, Constant)) and a.kind in NUMBERS for a in args)


def _numbers(args: Values, kwargs: Named) -> list[Operand] | None:
    """The arguments of a call, if all are numbers passed by position."""
    found = [arg for arg in args if isinstance(arg, (Variable, Constant))]
    return found if not kwargs and len(found) == len(args) else None


class Lifter:
    """Builder of a program: turns calls into statements."""

    def __init__(
        self,
        resolver: Resolver,
        *,
        root_finding: bool,
        max_trips: int,
        folds: bool = True,
        typed: bool = False,
    ) -> None:
        self.resolver = resolver  # functions with a special meaning in every context
        self.folds = folds
        self.root_finding = root_finding
        self.max_trips = max_trips
        self.statements: list[Statement] = []
        self.holds: list[tuple[Operand, bool]] = []
        self.ways = 0
        self.turns = 0
        self.depth = 0
        self.functions: dict[types.FunctionType, None] = {}
        self.codes: dict[Any, FunctionCode] = {}
        self.known: Known = {}
        self.factories: dict[HeapObject, Value] = {}
        self.attributes: list[tuple[Any, str, Any]] = []
        self.tables: dict[MethodTable, None] = {}  # tables of contexts that are entered
        self.rules: dict[Any, Rule] = {}  # rules and tables of calls of inverses
        self.partials: dict[Relation, Callable[..., tuple[float, ...]]] = {}
        self.names: set[str] = set()
        self.domains: dict[Operand, Domain] = {}
        self.mixed: dict[Operand, Source] = {}
        self.typed = typed
        self.marks: set[str] = set()

    @functools.cached_property
    def arrays(self) -> ArrayObjects:
        """The arrays of the program as objects, which may be written to."""
        return ArrayObjects()

    def fresh(self, wanted: str) -> str:
        """An unused variable name, derived from the name in the source if there is one."""
        base = wanted.partition(".")[0]
        base = base if base.isidentifier() else f"v{len(self.statements) + 1}"
        name = renumbered(base, self.names)
        self.names.add(name)
        return name

    def variable(self, wanted: str, kind: Any, word: str) -> Variable:
        """A new variable. word: a name for its origin, if it has no name in the source."""
        base = wanted.partition(".")[0]
        return Variable(self.fresh(wanted), kind, base if base.isidentifier() else word)

    def input(self, name: str, tree: Tree, domains: Mapping[str, Domain]) -> Tree:
        """The variables of an input, in a tree. domains: the domains of inputs and their parts, by
        name.
        """

        def variable(path: str, kind: Any) -> Variable:
            parts = path.replace("[", "_").replace("]", "").replace(".", "_")
            made = self.fresh(name + parts)
            found = Variable(made, kind, made)
            if name + path in domains:
                self.domains[found] = domains[name + path]
            return found

        return mapped(tree, variable)

    def call(self, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """The value of a call. targets: the function, then its fallback if it has no rule."""
        target = targets[0]
        if target is nonoverlay and len(args) == 1 and isinstance(args[0], KnownObject):
            return KnownObject(nonoverlay(args[0].value))
        if isinstance(target, nonoverlay):
            return self.call(replace(site, overlaid=False), (target.function,), args, kwargs)
        if target is call_next:
            return self._call_next(site, args, kwargs)
        if isinstance(target, types.MethodType):
            return self.call(
                site, (target.__func__,), (KnownObject(target.__self__), *args), kwargs
            )
        if kwargs and not has_own_binding(target):
            args, kwargs = as_positional(signature_of(target), tuple(args), kwargs)
        args = tuple(map(value_of, args))
        if isinstance(target, Deferred):
            return target.make()
        typed = by_type(self, site, targets, args, kwargs) if self.mixed else None
        if typed is not None:
            return typed
        if any(isinstance(arg, Again) for arg in (*args, *kwargs.values())):
            return through(self, site, targets, args)
        found = interpreted_call(self, site, target, args, kwargs)
        if found is not None:
            return found
        if target is range and not kwargs:
            return range_of(site, args)
        if target is slice and not any(isinstance(a, Variable) for a in args):
            return KnownObject(slice(*map(plain, args)))
        if target is slice:
            help = "write the choice with if, with a slice of constant bounds in each branch"
            raise refused("a slice whose bounds depend on the arguments", site.where, help)
        if target is bool and len(args) == 1 and args[0].kind is bool:
            return args[0]
        if site.overlaid:
            for one in targets:
                found = site.resolver.overlaid(one, kinds_of(args, kwargs), tuple(kwargs))
                if isinstance(found, Relation):
                    return self.state(site, found, numbers_of(args))
                if found is not None:
                    check_faithful(site, found)
                    return self._enter(site, site.resolver.chain(one).after(found), args, kwargs)
        return self._base(site, targets, args, kwargs)

    def _call_next(self, site: CallSite, args: Values, kwargs: Named) -> Value:
        if site.chain is None:
            raise NotInvertible(
                "call_next() stands outside a method",
                where=site.where,
                help="call it directly in the body of an overlay method",
            )
        below = site.chain.resolve(by_types(kinds_of(args, kwargs), tuple(kwargs)))
        if below is None:
            return self._base(site, (site.chain.target,), args, kwargs)
        return self._enter(site, site.chain.after(below), args, kwargs)

    def _enter(self, site: CallSite, chain: MethodChain, args: Values, kwargs: Named) -> Value:
        """Inline the method directly above a position in a chain. A function without Python code
        that is a method is called as it is."""
        body = chain.passed[-1].implementation(kinds_of(args, kwargs))
        if body_of(body) is None:
            return self.call(replace(site, overlaid=False), (body,), args, kwargs)
        return self._inline(replace(site, chain=chain), body, args, kwargs)

    def _base(self, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """The value of a call without an overlay method: by its relation, or by its inlined body.
        Raises NotInvertible if it has neither.
        """
        if is_of_chance(targets[-1]):
            related = self._related(site, targets, args, kwargs)
            if related is None:
                raise of_chance(site, targets[-1])
            return related
        call = called_by(targets[-1])
        if call is not None:
            related = self._related(site, targets, args, kwargs)
            if related is not None:
                return related
            args, kwargs = (*map(value_of, call.args), *args), {**call.keywords, **kwargs}
            return self.call(site, (call.func,), args, kwargs)
        if targets[-1] in (zip, enumerate, reversed):
            args = tuple(array_rows(self, site, value) for value in args)
        if not _of_numbers(targets[-1], args, kwargs):
            found = made_call(self, site, targets, args, kwargs)
            if found is not None:
                return found
            if body_of(targets[-1]) is None:
                args, kwargs = without_objects(self, site, args, kwargs)
        known = known_call(targets[-1], args, kwargs)
        if known is not None:
            return known
        of_arrays = array_call(self, site, targets, args, kwargs)
        if of_arrays is not None:
            return of_arrays
        of_texts = text_call(self, site, targets[-1], args, kwargs)
        if of_texts is not None:
            return of_texts
        of_sequences = sequence_call(self, site, targets[-1], args, kwargs)
        if of_sequences is not None:
            return of_sequences
        related = self._related(site, targets, args, kwargs)
        if related is not None:
            return related
        target = in_python(targets[-1])
        if body_of(target) is not None:
            return self._inline(replace(site, chain=None), target, args, kwargs)
        numbers = _numbers(args, kwargs)
        forward = None if numbers is None else compiled(target, numbers)
        if numbers is None or forward is None:
            raise no_relation(site, target, args, kwargs)
        return self.state(site, forward, numbers)

    def _related(
        self, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named
    ) -> Value | None:
        """The result of a call of numbers by the first relation that accepts it, else None."""
        numbers = _numbers(args, kwargs)
        if numbers is None:
            return None
        chosen = extreme(self, site, targets[-1], args) if self.typed else None
        if chosen is not None:
            return chosen
        for target in targets:
            for kinds in promotions(numbers):
                found = site.resolver.relation(target, kinds, base=not site.overlaid)
                if found is not None:
                    converted = [
                        self.converted(site, value, kind)
                        for value, kind in zip(numbers, kinds, strict=True)
                    ]
                    made = self.state(site, found, converted)
                    if self.mixed or len(numbers) > 1:
                        note_computed(self, site, target, args, made)
                    return made
        return None

    def converted(self, site: CallSite, value: Operand, kind: Any) -> Operand:
        """A number, or the elements of an array, converted to a type."""
        if value.kind is kind:
            return value
        array = array_as(self, site, value, kind)
        if array is not None:
            return array
        if isinstance(value, Constant):
            return Constant(kind(value.value))
        found = self.resolver.relation(kind, [value.kind], base=True)
        if found is None and kind is complex and value.kind is not float:
            return self.converted(site, self.converted(site, value, float), complex)
        if found is None:
            what = f"{a_or_an(value.kind.__name__)} in the place of {a_or_an(kind.__name__)}"
            raise refused(what, site.where, "convert it in the program, first to int")
        site = replace(site, name=f"{kind.__name__}_{value.name}")
        (result,) = numbers_of([self.state(site, found, [value], subject_of(value))])
        return result

    def state(
        self, site: CallSite, found: Relation, args: Sequence[Operand], source: str = ""
    ) -> Value:
        """Add the statement that a relation holds between these arguments and new variables, and
        return the variable, or the tuple of them; for constants, return the result of the relation.

        source: overrides the source of the variables.
        """
        cast = tuple(
            Constant(kind(value.value))
            if isinstance(value, Constant) and kind in (int, float)
            else value
            for value, kind in zip(args, found.types, strict=True)
        )
        self.functions.update(dict.fromkeys(python_code(found.target)))
        may_decide = bool(site.active) and site.active[-1].may_recur
        known = folded(found, cast) if self.folds or may_decide else None
        if known is not None:
            return known[0] if len(known) == 1 else Tupled(tuple, known)
        kinds = map(found.kinds.__getitem__, found.outputs)
        word = word_for(found.name)
        made = [self.variable(site.name, kind, word) for kind in kinds]
        results = tuple(replace(v, source=source) if source else v for v in made)
        self.statements.append(Statement(found, results, cast, site.where))
        domain = found.element if isinstance(found, Apart) else found.codomain
        inside = ranges_of(found, cast, self.domains)
        if inside is not None:
            self.domains.update(zip(results, inside, strict=True))
        elif domain is not None:
            self.domains.update(dict.fromkeys(results, domain))
        return results[0] if len(results) == 1 else Tupled(tuple, results)

    def _inline(self, site: CallSite, function: Any, args: Values, kwargs: Named) -> Value:
        """The value of a function's body for these arguments."""
        body = body_of(function)
        if body is None:
            raise no_relation(site, function, args, kwargs)
        if not isinstance(function, types.FunctionType) and not hasattr(function, "py_func"):
            args = (KnownObject(function), *args)
        self.functions[body] = None
        return self.through(site, body, args, kwargs)

    def through(
        self,
        site: CallSite,
        body: types.FunctionType,
        args: Values,
        kwargs: Named,
        cells: tuple[HeapObject, ...] = (),
    ) -> Value:
        """The value of a call of a Python function. cells: the cells of its free variables, if a
        lifted function makes it.
        """
        given = tuple(bound(site, body, args, kwargs, self.known))
        code = body.__code__
        may_recur = body.__name__ in (*code.co_names, *code.co_freevars)
        key = identity_of(body, cells), *site.in_force
        here = ActiveCall(key, given, self.depth, may_recur=may_recur, cells=cells)
        found = entered(self, site, body, here)
        if isinstance(found, Returned):
            self.known.update(found.heap)
            return found.value
        raise Raises(f"cannot invert {describe(body)}: it raises for all arguments", site.where)

    def called(
        self, site: CallSite, function: Value, args: Values, kwargs: Named | None = None
    ) -> Value:
        """The value of a call of a value that is a function."""
        return called(self, site, function, args, kwargs or {})

    def method(self, site: CallSite, owner: Value, name: str, args: Values) -> Value:
        """The value of a call of a method of an instance."""
        return self.call(site, (getattr(owner.kind, name),), (owner, *args), {})

    def truth(self, site: CallSite, value: Value) -> Value:
        """The truth of a value."""
        known = isinstance(value, Constant) and value.kind in (*NUMBERS, str)
        if known or isinstance(value, KnownObject):
            return Constant(bool(plain(value)))
        return self.call(site, (bool,), (value,), {})

    def run_generator(
        self,
        site: CallSite,
        generator: Generating,
        first: Value,
        add: Callable[[Value, Value], Value],
    ) -> Value:
        """The value that a function accumulates from all values that a generator yields, beginning
        with ``first``.
        """
        return generated(self, site, generator, first, add)

    def argument(self, tree: Tree) -> Value:
        """The value of an argument, with a new object for each mutable one."""
        found = of_tree(tree)
        return as_argument(self, found) if isinstance(found, Tupled) else found

    def apart(self, go: Callable[[], Found]) -> Way:
        """Follow a path, with its own list of statements."""
        outer, known = (self.statements, self.holds), self.known
        self.statements, self.holds = [], []
        self.depth += 1
        try:
            return Way(go(), self.statements, self.holds)
        finally:
            self.depth -= 1
            self.statements, self.holds = outer
            self.known = known

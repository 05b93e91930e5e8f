"""Inverses called from code that a context compiles, on the CPU and in kernels.

A generated method replaces the inverse. For numbers it is the generated inverse, in a context that
has only its own tables. For active numbers it is a step of Newton's method from the answer
(``inversion.derivatives.implicit``). A kernel cannot raise: it returns NaN if there is no answer.
"""

from __future__ import annotations

import ast
import itertools
import math
import threading
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from inversion.derivatives.implicit import OTHER, check_active
from inversion.emitting.definition import Definition
from inversion.emitting.raising import as_in_python_on_device
from inversion.errors import NotInvertible, WrongArguments
from inversion.intrinsics.checks import is_close
from inversion.intrinsics.roots import kernel_forms
from inversion.planning.repeated import Repeated
from inversion.program.trees import Node, Tree, classes_of, is_record, mapped, written
from overlay import Context, Method, MethodTable, NotCompilable, nonoverlay
from overlay.contexts.rules_alone import context_alone
from overlay.interpretations.autodiff import autodiff
from overlay.interpretations.autodiff.duals import Active, primal
from overlay.plugins.attempts import attempted
from primitives.arrays.domain import is_array
from primitives.errors import NoSolution
from primitives.relation import RETURN
from primitives.solver_forms import compiled_forms

__all__ = ["form_for_cpu", "form_for_kernels"]

WHOLE = (int, np.integer, np.bool_)
ACCEPTED: Mapping[Any, tuple[type, ...]] = {
    bool: WHOLE,
    int: WHOLE,
    float: (*WHOLE, float, np.floating),
    complex: (*WHOLE, float, complex, np.number),
}
"""The types accepted for a number of a program, by its type there; other types take only
themselves.
"""


def form_for_cpu(definition: Definition, inverse: Callable[..., Any]) -> Callable[..., Any]:
    """The function that compiled code calls for an inverse.

    inverse: the generated function, in the context in which it is compiled.
    """
    return _entry(definition, inverse, f"raise NoSolution({OTHER!r})")


def form_for_kernels(definition: Definition) -> Callable[..., Any]:
    """The function that a kernel calls for an inverse; it returns NaN if there is no answer.

    Raises NotCompilable if an answer is not a float, and for arrays.
    """
    tree = ast.parse(definition.source.text)
    _check_for_kernels(definition, tree)
    context = Context(compiled_forms, kernel_forms) | as_in_python_on_device(None)
    names = {**definition.source.names}
    own = definition.context or Context()
    names["forward"] = as_in_python_on_device(own).wrap(definition.function)
    names.update(attempted=attempted, __name__=__name__)
    exec(compile(_Attempts().made(tree), definition.filename, "exec"), names)
    unknown = [definition.axes.trees[axis] for axis in definition.axes.unknown]
    nothing = "".join(f"{written(mapped(tree, _nan))}, " for tree in unknown)
    space = {
        "attempted": attempted,
        "inverse": context.wrap(names["inverse"]),
        "nan": math.nan,
        **{c.__name__: c for tree in unknown for c in classes_of(tree)},
    }
    rows = [
        "def answer(*given):",
        "    ended, answers = attempted(inverse, *given)",
        f"    return answers if ended else ({nothing})",
    ]
    return _entry(definition, _written(definition, rows, space), "sure = nan")


def _nan(path: str, leaf: Any) -> str:
    return "nan"


def _keeps_turns(function: ast.stmt) -> bool:
    """Return whether a function that computes answers has a list for the values of a loop."""
    is_for_answers = not getattr(function, "name", "").endswith("recover")
    return is_for_answers and any(isinstance(node, ast.List) for node in ast.walk(function))


def _check_for_kernels(definition: Definition, tree: ast.Module) -> None:
    kinds = definition.leaf_kinds(definition.axes.unknown)
    every = definition.leaf_kinds(definition.axes.trees)
    if any(map(is_array, every)):
        why, remedy = "it has arrays", "invert the program of one element, and call that"
    elif any(kind is not float for kind in kinds):
        why = "its answers are not all floats, of which one is NaN where there is no solution"
        remedy = "invert a program of floats, or call batch"
    elif any(map(_keeps_turns, tree.body)):
        why = "it keeps what each turn of a loop has computed, in a list"
        remedy = "leave out of the loop what does not depend on the answer, or call batch"
    else:
        return
    raise NotCompilable(
        f"the inverse of {definition.name} cannot be called in a kernel: {why}",
        where=definition.where,
        help=remedy,
    )


class _Attempts(ast.NodeTransformer):
    """Rewriter of ``try`` statements for kernels.

    ``try: answer = f(x) ...`` becomes ``ended, answer = attempted(f, x)`` and a branch.
    """

    def __init__(self) -> None:
        self._count = 0

    def made(self, tree: ast.Module) -> ast.Module:
        """The rewritten tree of a generated module."""
        return ast.fix_missing_locations(self.visit(tree))

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        first, *rest = node.body
        assert isinstance(first, ast.Assign)
        assert isinstance(first.value, ast.Call)
        self._count += 1
        name = f"ended_{self._count}"
        call = ast.Call(
            ast.Name("attempted", ast.Load()), [first.value.func, *first.value.args], []
        )
        pair = ast.Tuple([ast.Name(name, ast.Store()), *first.targets], ast.Store())
        otherwise = [each for each in node.handlers[0].body if not isinstance(each, ast.Expr)]
        return [
            ast.Assign([pair], call),
            ast.If(ast.Name(name, ast.Load()), rest, otherwise),
        ]


# ---- entry points -------------------------------------------------------------------------


def _entry(definition: Definition, inverse: Callable[..., Any], refusal: str) -> Callable[..., Any]:
    """The function that solves for arguments of all accepted types: it dispatches on them with its
    own method table.
    """
    space = definition.parameters
    names = [f"a{i}" for i in range(len(definition.axes.known))]
    given = ", ".join([*names, "theta"] if len(space) else names)
    default = " = default" if len(space) and not space.repeats else ""
    table = _Answers(definition.filename)
    answers = _written(definition, [f"def answers({given}): ..."], {})
    form = _Form(definition, table, names, answers, nonoverlay(inverse), refusal)
    rows = [f"def generate({given}): return made({given})"]
    table.generated(answers)(_written(definition, rows, {"made": form.generated}))
    rows = [f"def solve({given}{default}): return answers({given})"]
    solve = _written(definition, rows, {"answers": answers, "default": space.default()})
    return Context(table).wrap(solve)


class _Answers(MethodTable):
    """The method table of an inverse, which records the tables in force."""

    def __init__(self, name: str) -> None:
        super().__init__(name, interprets=True)
        self._chosen_in = threading.local()

    def chosen(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> None:
        self._chosen_in.tables = tuple(tables)

    def alone(self, answer: Callable[..., Any], names: str) -> Callable[..., Any]:
        """The function for the call that was just resolved. If a table in force changes the meaning
        of its computation, it runs in its own context.
        """
        tables = getattr(self._chosen_in, "tables", ())
        if all(table.faithful for table in tables):
            return answer
        run = nonoverlay(context_alone(tables).wrap(answer))
        space: dict[str, Any] = {"__name__": __name__, "run": run}
        exec(f"def answer({names}): return run({names})", space)
        return space["answer"]


class _Form:
    """The generated method: maps the types of known values and θ to the function that solves.

    table: the table of the method. names: the names of the known values. answers: the target of the
    method. inverse: the function for plain numbers. refusal: the statement for a missing
    derivative.
    """

    def __init__(
        self,
        definition: Definition,
        table: _Answers,
        names: Sequence[str],
        answers: Callable[..., Any],
        inverse: Any,
        refusal: str,
    ) -> None:
        self.definition = definition
        self.table = table
        self.names = names
        self.answers = answers
        self.inverse = inverse
        self.refusal = refusal

    def generated(self, *types: Any) -> Callable[..., Any]:
        """The function that solves for arguments of these types. Raises WrongArguments or
        NotInvertible.
        """
        return self.table.alone(self._made(types), self._arguments)

    def _made(self, types: Sequence[Any]) -> Callable[..., Any]:
        known = types[: len(self.names)]
        theta = self._coordinates(types[-1]) if len(self.definition.parameters) else None
        active = [isinstance(kind, type) and issubclass(kind, Active) for kind in known]
        if any(active):
            check_active(
                self.definition.axes, self.definition.origin, itertools.compress(known, active)
            )
            return self._of_active(active)
        axes, kinds = self.definition.axes.known, self.definition.kinds
        given = [
            self._passed(kinds[axis], name, kind, axis)
            for axis, name, kind in zip(axes, self.names, known, strict=True)
        ]
        classes = {c.__name__: c for axis in axes for c in classes_of(kinds[axis])}
        rows = [
            f"def answer({self._arguments}):",
            f"    return inverse({', '.join(given if theta is None else [*given, theta])})",
        ]
        return _written(self.definition, rows, {"inverse": self.inverse, **classes})

    @property
    def _arguments(self) -> str:
        return ", ".join([*self.names, "theta"] if len(self.definition.parameters) else self.names)

    def _passed(self, kinds: Tree, name: str, given: Any, axis: str) -> str:
        """The expression that converts an argument to the types of the program's axis."""
        if not isinstance(kinds, Node):
            return self._number(kinds, name, given, axis)
        parts = _parts(given)
        if parts is None or len(parts) != len(kinds.items):
            raise self._wrong(given, axis)
        items = zip(kinds.items, kinds.labels, parts, strict=True)
        passed = (self._passed(kind, name + at, part, axis + at) for kind, at, part in items)
        return written(kinds.of(passed))

    def _number(self, kind: Any, name: str, given: Any, axis: str) -> str:
        accepted = ACCEPTED.get(kind)
        if not isinstance(given, type) or not issubclass(given, accepted or kind):
            raise self._wrong(given, axis)
        return name if accepted is None else f"{kind.__name__}({name})"

    def _coordinates(self, given: Any) -> str:
        """The expression of θ as a tuple, converted to the types of its coordinates."""
        space = self.definition.parameters
        parts = _parts(given)
        if parts is None:
            numbers = (*ACCEPTED[complex], np.ndarray)
            if not (isinstance(given, type) and issubclass(given, numbers)):
                values = [f"theta.{name}" for name in space.names]  # a record
            elif len(space) == 1 and not isinstance(space[0].domain, Repeated):  # the only one
                (name,) = space.names
                values = [self._number(space[0].domain.kind, "theta", given, f"θ.{name}")]
            else:
                raise space.wrong(getattr(given, "__name__", given))
        elif len(parts) != len(space):
            raise space.wrong(len(parts))
        else:
            values = [f"theta[{i}]" for i in range(len(parts))]
            for i, (parameter, kind) in enumerate(zip(space, parts, strict=True)):
                if not isinstance(parameter.domain, Repeated):
                    values[i] = self._number(
                        parameter.domain.kind, values[i], kind, f"θ.{parameter.name}"
                    )
        return f"({', '.join(values)},)"

    def _of_active(self, active: Sequence[bool]) -> Callable[..., Any]:
        """The function that makes a step of Newton's method from the answer for plain numbers."""
        definition, axes = self.definition, self.definition.axes
        of_axis = dict(zip(axes.known, self.names, strict=True))
        plain = [f"{n}.value" if on else n for n, on in zip(self.names, active, strict=True)]
        theta = ["theta"] if len(definition.parameters) else []
        given = ", ".join(of_axis.get(axis, "x") for axis in axes.inputs)
        rtol, atol = definition.tolerance
        slope = f"autodiff(function, {given})"
        if len(axes.inputs) > 1:
            (unknown,) = axes.unknown
            self._check_floats()
            slope += f"[{axes.inputs.index(unknown)}]"
        rows = [
            f"def answer({self._arguments}):",
            f"    (x,) = answers({', '.join([*plain, *theta])})",
            f"    again, sure = function({given}), 1.0",
            f"    if not is_close(primal(again), primal({of_axis[RETURN]}), {rtol!r}, {atol!r}):",
            f"        {self.refusal}",
            f"    return (x + ({of_axis[RETURN]} - again) / {slope} * sure,)",
        ]
        function = getattr(definition.function, "py_func", definition.function)
        context = definition.context
        names = {
            "answers": self.answers,
            "function": function if context is None else context.wrap(function),
            "autodiff": autodiff,
            "primal": primal,
            "is_close": is_close,
            "NoSolution": NoSolution,
            "nan": math.nan,
        }
        return _written(definition, rows, names)

    def _check_floats(self) -> None:
        """Raise NotInvertible if an input is not a float: ``autodiff`` differentiates by all
        inputs.
        """
        definition = self.definition
        for axis in definition.axes.inputs:
            if definition.kinds[axis] is not float:
                raise NotInvertible(
                    f"the inverse of {definition.name} has no derivative in compiled code: {axis} "
                    "is not a float",
                    where=definition.where,
                    help="differentiate it interpreted, or invert a function of floats",
                )

    def _wrong(self, given: Any, axis: str) -> WrongArguments:
        return self.definition.given_wrong(getattr(given, "__name__", str(given)), axis)


def _parts(given: Any) -> tuple[Any, ...] | None:
    """The element types of a type of tuples or records; None for any other type."""
    if typing.get_origin(given) is tuple:
        return typing.get_args(given)
    if is_record(given):
        return tuple(typing.get_type_hints(given).values())
    return None


def _written(
    definition: Definition, rows: Sequence[str], names: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function that lines of Python define."""
    space: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile("\n".join(rows), definition.filename, "exec"), space)
    return space[rows[0].removeprefix("def ").partition("(")[0]]

"""Checker: finds names, attributes and calls below a function that certainly fail."""

from __future__ import annotations

import inspect
import types
import typing
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues
from overlay.analysis.attribute_names import MissingAttribute
from overlay.analysis.checked_types import CheckedTypes
from overlay.analysis.interpreter import Interpreter, misfit
from overlay.analysis.kinds import kinds_of
from overlay.analysis.lattice import UnsetVariable
from overlay.analysis.protocol_checks import ReadOnlyAttribute, WrongFormat
from overlay.analysis.runs import Run, Step
from overlay.analysis.step_rules import UndefinedName
from overlay.core.errors import OverlayError, OverlayWarning
from overlay.core.location import name_of
from overlay.core.markup import Html, badge, code, joined, left_out, listed, place, sheet
from overlay.core.outline import Outline
from overlay.core.public_names import hides
from overlay.core.short_repr import counted, short_repr
from overlay.plugins.plugin import HOOKS, Plugin

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["CheckerPlugin", "Finding", "Findings", "analysed", "check", "findings_of"]

Kind = Literal["name", "attribute", "call"]


@dataclass(frozen=True)
class Finding:
    """A place in a program that certainly fails when it is reached.

    Attributes
    ----------
    where
        ``file:line``.
    function
        The function in which it stands.
    kind
        "name", "attribute" or "call".
    message
        A sentence that says what fails.
    candidates
        The nearest names, if there are any.
    path
        The calls that lead there from the function that was checked: ``file:line`` and the name of
        the function that contains the call, outermost first.

    Examples
    --------
    >>> from overlay.analysis import check
    >>> (found,) = check(lambda text: text.uper(), str)
    >>> found.kind, found.message, found.candidates[0]
    ('attribute', "an object of class str has no attribute 'uper'", 'upper')
    """

    where: str
    function: Callable[..., Any]
    kind: Kind
    message: str
    candidates: tuple[str, ...] = ()
    path: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name of the function."""
        return name_of(self.function)

    def __str__(self) -> str:
        return str(self.__rich__())

    def __rich__(self) -> Outline:
        """The lines of the finding, the first with the others below it."""
        below = [f"closest: {', '.join(self.candidates)}"] if self.candidates else []
        below += [f"called at {where} in {name}" for where, name in reversed(self.path)]
        head = f"{self.where}  {self.name}: {self.message}"
        return Outline(head, tuple(map(Outline, below)))

    def __repr__(self) -> str:
        return short_repr("Finding", f"{self.name}: {self.message}", self.where)

    def _repr_html_(self) -> str:
        return sheet("finding in", self.name, None, _listed((self,)))


class Findings(tuple[Finding, ...]):
    """The result of ``check``: the findings, in the order of their distance from the entry.

    Examples
    --------
    >>> from overlay.analysis import check
    >>> print(check(lambda text: text.upper(), str))
    nothing was found
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing was found"

    def __repr__(self) -> str:
        first = f"{self[0].name}: {self[0].message}" if self else "nothing was found"
        return short_repr("Findings", f"{len(self)}, {first}" if len(self) > 1 else first)

    def _repr_html_(self) -> str:
        return sheet("findings", "", _count(self), _listed(self))


def _count(found: Sequence[Finding]) -> str:
    return counted(len(found), "finding") if found else "nothing was found"


def _listed(found: Sequence[Finding]) -> Html | None:
    """Findings as a table, the calls that lead to each innermost first."""
    return listed(("where", "function", "", "what fails", "closest", "called at"), found, _cells)


def _cells(found: Finding) -> tuple[object, ...]:
    calls = [joined([place(where), " in ", code(name), " "]) for where, name in found.path[:-4:-1]]
    calls += [left_out(len(found.path) - 3)] if len(found.path) > 3 else []
    closest = ", ".join(found.candidates)
    kind = badge(found.kind, "red")
    return place(found.where), code(found.name), kind, found.message, code(closest), joined(calls)


def check(function: Callable[..., Any], *types: Any, context: Context | None = None) -> Findings:
    """Find what certainly fails below a call of a function: undefined names, attributes that no
    possible type of an object has, and calls with arguments that the callee does not take.

    Nothing of the program runs. A place is a finding if it fails for every possible type of its
    values, whenever it is reached by the calls of ``path``. If an argument on that path has several
    possible types, the place fails for each of them that reaches it. There is no finding where a
    possible type is not known, nor where the program handles the error.

    Parameters
    ----------
    function
        A function or class; calls are followed into other modules.
    *types
        Types of the positional arguments: classes, unions of them, builtin containers such as
        ``list[str]``, ``object`` for any; by default those of the annotations. Other parameters
        have their defaults; those that are only given by name, and have none, may be anything of
        their annotated type.
    context
        The context in which the call is made: calls enter the methods of its tables.

    Returns
    -------
    Findings
        A tuple of ``Finding``, which prints one below the other.

    Raises
    ------
    OverlayError
        If the function's own code cannot be read, or it does not take so many arguments, or no
        types are given and a parameter without a default has no annotation.

    Examples
    --------
    >>> from overlay.analysis import check
    >>> def total(values):
    ...     found = 0
    ...     for value in values:
    ...         fuond = found + value
    ...     return foudn
    >>> [(each.kind, each.candidates) for each in check(total, list)]
    [('name', ('found',))]
    """
    return Findings(findings_of(analysed(function, *types, context=context)))


def analysed(
    function: Callable[..., Any], *types: Any, context: Context | None = None
) -> tuple[Run, ...]:
    """The analyses of the functions that a call enters, in which ``check`` looks for findings."""
    domain = CheckedTypes()
    interpreter = Interpreter(domain, context)
    body = interpreter.body(function)
    signature = None if body is None else body.signature
    if signature is None:
        body, named = None, {}
    else:
        types, named = _by_annotations(function, signature, types)
    given = [_argument(domain, hint, place) for place, hint in enumerate(types)]
    by_name = {name: _argument(domain, hint, name) for name, hint in named.items()}
    try:
        return interpreter.enter(function, *given, **by_name)[1]
    except OverlayError:
        if body is None or signature is None or _fit(signature, types, named):
            raise
        error = misfit(body, len(types), "type", _TYPES_NEEDED, named)
    raise error


_TYPES_NEEDED = (
    "give a type for each, such as list[str], or object for any type; without types, those of "
    "annotations are taken"
)


def _by_annotations(
    function: Any, signature: inspect.Signature, types: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The types of the positional arguments, which are those of the annotations if none are given
    and no annotation is missing; and those of the arguments that have to be given by name."""
    hints = _hints(function)
    needed = [p for p in signature.parameters.values() if p.default is p.empty]
    places = [p.name for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not types and all(name in hints for name in places):
        types = tuple(hints[name] for name in places)
    return types, {p.name: hints.get(p.name, Any) for p in needed if p.kind is p.KEYWORD_ONLY}


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(getattr(function, "py_func", function))
    except (NameError, AttributeError, SyntaxError, TypeError):  # of names that are not defined
        return {}


def _fit(signature: inspect.Signature, types: tuple[Any, ...], named: dict[str, Any]) -> bool:
    try:
        signature.bind(*types, **named)
    except TypeError:
        return False
    return True


def _argument(domain: CheckedTypes, hint: Any, place: int | str) -> Any:
    """The abstract value of an argument: of a class, a union of classes, or a builtin
    container of such, as ``list[str]``."""
    cls, parts = typing.get_origin(hint), typing.get_args(hint)
    if cls is tuple and parts and parts[-1] is not Ellipsis:
        return ItemValues(tuple(_argument(domain, each, place) for each in parts))
    if cls in (list, set, frozenset, tuple, dict) and parts:
        held = [_argument(domain, each, place) for each in parts if each is not Ellipsis]
        site = "argument", place, hint
        return domain.made(cls, site, held[-1], held[0] if cls is dict else BOTTOM)
    if hint in (Any, object):
        return TOP
    if cls in (typing.Union, types.UnionType):
        return domain.joined(_argument(domain, each, place) for each in parts)
    return kinds_of(hint)


@hides(*HOOKS)
class CheckerPlugin(Plugin):
    """Plugin that checks each function as it is entered or compiled, for the types of its
    arguments, and warns of what certainly fails below it.

    It is the abstract interpretation in force in its context.

    Attributes
    ----------
    findings
        The findings so far, each once.

    Examples
    --------
    >>> import warnings
    >>> from overlay import Context
    >>> from overlay.analysis import CheckerPlugin
    >>> checker = CheckerPlugin()
    >>> def shown(text, loud):
    ...     return text.uper() if loud else text
    >>> with warnings.catch_warnings(action="ignore"):
    ...     Context(plugins=(checker,))(shown, "a", False)
    'a'
    >>> [(found.kind, found.candidates[0]) for found in checker.findings]
    [('attribute', 'upper')]
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._domain = CheckedTypes()

    def _run_facts(self) -> str:
        return counted(len(self.findings), "finding")

    def _html_parts(self) -> tuple[object, ...]:
        return (_listed(self.findings),)

    def interpreter(self, current: Any) -> Any:
        return self._domain

    def analysed(self, run: Run) -> None:
        for finding in findings_of((run,)):
            known = {(each.where, each.message) for each in self.findings}
            if (finding.where, finding.message) not in known:
                self.findings.append(finding)
                warnings.warn(str(finding), OverlayWarning, stacklevel=2)


def findings_of(runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings in analyses over ``CheckedTypes``, each once, by the shortest path. runs:
    those of the alternatives of one call."""
    todo = deque[tuple[frozenset[type[Exception]], Way]]()
    todo.extend((frozenset(), (_Entered(None, tuple(runs), run),)) for run in runs)
    seen: set[Any] = set()
    told: set[Any] = set()
    while todo:
        caught, way = todo.popleft()
        run = way[-1].run
        split = next((id(each.step) for each in reversed(way) if len(each.runs) > 1), None)
        if (id(run), caught, split) in seen:
            continue
        seen.add((id(run), caught, split))
        for step in run.steps:
            handled = caught | step.catches
            finding = _finding(step, handled, way)
            key = step.where, step.caller, finding and finding.message
            if finding is not None and key not in told:  # a compiler may copy a line
                told.add(key)
                yield finding
            todo.extend((handled, (*way, _Entered(step, step.runs, r))) for r in step.runs)


@dataclass(frozen=True)
class _Entered:
    """A call on the way to a finding, None for that of the entry: the analyses for the
    alternatives of its arguments, and the one of these in which the finding is."""

    step: Step | None
    runs: tuple[Run, ...]
    run: Run


Way = tuple[_Entered, ...]


def _finding(step: Step, handled: frozenset[type[Exception]], way: Way) -> Finding | None:
    """The finding at a step, if it fails for each possible type of its values.

    What fails of None alone is no finding: that a variable is not None often follows from
    conditions on other variables, which are not followed.
    """
    errors = [error for error in step.errors if not getattr(error, "is_none", False)]
    if not errors or not _fails(step):
        return None
    kind, raised = _kind(errors[0])
    if raised in handled or _succeeds_for_others(step, way):
        return None
    near = [name for error in errors for label, name in error.notes if label == "closest"]
    candidates = tuple(dict.fromkeys(name for names in near for name in names.split(", ")))
    message = "; ".join(dict.fromkeys(error.asked for error in errors))
    path = tuple((each.step.where, name_of(each.step.caller)) for each in way if each.step)
    return Finding(step.where, step.caller, kind, message, candidates, path)


def _fails(step: Step) -> bool:
    return step.result == BOTTOM and bool(step.errors) and step.certain


def _succeeds_for_others(step: Step, way: Way) -> bool:
    """Whether a step is reached by the same path, and does not fail, for another alternative of the
    arguments of a call on the way to it."""
    for index, split in enumerate(way):
        runs = [run for run in split.runs if run is not split.run]
        for entered in way[index + 1 :]:
            runs = [run for each in _same(entered.step, runs) for run in each.runs]
        if not all(map(_fails, _same(step, runs))):
            return True
    return False


def _same(step: Step | None, runs: Sequence[Run]) -> list[Step]:
    """The steps of a statement in other analyses of its function."""
    statement = None if step is None else step.statement
    return [each for run in runs for each in run.steps if each.statement is statement]


def _kind(error: OverlayError) -> tuple[Kind, type[Exception]]:
    if isinstance(error, (UndefinedName, UnsetVariable)):
        return "name", NameError
    if isinstance(error, (MissingAttribute, ReadOnlyAttribute)):
        return "attribute", AttributeError
    if isinstance(error, WrongFormat):
        return "call", error.raised
    return "call", TypeError

"""Programs generated from dependency graphs, which recompute a run after one choice changes.

The graph is the metadata of a context, in which ``program_of_graph`` is a generated method. So the
program is generated once for each graph, and reused for all choices whose dependent computations
have an equal graph.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from overlay import Context, MethodTable, current_context
from overlay.interpretations.probabilistic.slices import CHOICE, CLEAN, Graph, Group
from overlay.interpretations.probabilistic.tape import StepKind, identical

__all__ = ["INFIX", "program_of", "source_of"]

Program = Callable[..., Any]

INFIX: Final[dict[Any, str]] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}

_table: Final = MethodTable("pruning")
PRUNING: Final = Context(_table, metadata=())


def program_of_graph() -> Program:
    """The program of the graph that is the metadata of the current context.

    It takes the slots, the new value of the choice, and the indices of a slice. It returns the sum
    of the changes of log densities and the values of the slice's slots; None if a guard fails.
    """
    raise LookupError("no graph is in force")


@_table.generated(program_of_graph)
def generated() -> Callable[[], Program]:
    context = current_context()
    assert context is not None
    program = _compiled(context.metadata)
    return lambda: program


def program_of(graph: Graph) -> Program:
    """The program of a graph."""
    return PRUNING.replace(metadata=graph)(program_of_graph)


# ---- source ---------------------------------------------------------------------------------


def source_of(graph: Graph) -> str:
    """The program of a graph as Python source, for reading."""
    return _Writer(graph).source


def _compiled(graph: Graph) -> Program:
    writer = _Writer(graph)
    namespace: dict[str, Any] = {"fsum": math.fsum, "identical": identical, **writer.functions}
    exec(compile(writer.source, "<pruned program>", "exec"), namespace)
    return namespace["pruned"]


class _Writer:
    """Generates the source of the program of a graph. functions: the names that it reads."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.functions: dict[str, Any] = {}
        self.lines: list[str] = []
        self.terms: list[str] = []
        self.results: list[str] = []
        self._names: dict[Any, str] = {}
        self._count = 0
        for number, group in enumerate(graph, start=1):
            self._write(f"g{number}", group)

    @property
    def source(self) -> str:
        """The source of the program."""
        names = "".join(f"i{k}, " for k in range(self._count))
        taken = [f"    {names}= indices"] if names else []
        terms, results = "".join(f"{t}, " for t in self.terms), ", ".join(self.results)
        end = f"    return fsum(({terms})), [{results}]"
        return "\n".join(["def pruned(slots, choice, indices):", *taken, *self.lines, end, ""])

    def _write(self, name: str, group: Group) -> None:
        value, loop = self._value(group)
        if group.kind in (StepKind.VALUE, StepKind.SCORE):
            value = f"[{value} {loop}]" if group.many else value
            self.lines.append(f"    {name} = {value}")
            self.results.append(f"*{name}" if group.many else name)
        elif group.many:
            self.lines += [f"    if not all({value} {loop}):", "        return None"]
        else:
            self.lines += [f"    if not ({value}):", "        return None"]
        if group.kind is StepKind.SCORE:
            old = self._index()
            if group.many:
                self.terms += [f"*{name}", f"*[-slots[k] for k in {old}]"]
            else:
                self.terms += [name, f"-slots[{old}]"]

    def _value(self, group: Group) -> tuple[str, str]:
        """The expression of one step of a group, and the loop clause over all steps."""
        args: list[str] = []
        indices: list[str] = []
        for number, source in enumerate(group.sources):
            at = "slots" if source == CLEAN else f"g{source}"
            if source == CHOICE:
                args.append("choice")
            elif source != CLEAN and not self.graph[source - 1].many:
                args.append(at)
            else:
                indices.append(self._index())
                args.append(f"{at}[k{number}]" if group.many else f"{at}[{indices[-1]}]")
        loop = ""
        if group.many:
            names = [a[a.index("[k") + 1 : -1] for a in args if "[k" in a]
            loop = f"for {', '.join(names)} in zip({', '.join(indices)}, strict=True)"
            if len(names) < 2:
                loop = f"for {names[0]} in {indices[0]}" if names else f"for _ in {self._index()}"
        return self._applied(group, args), loop

    def _applied(self, group: Group, args: list[str]) -> str:
        if group.kind is StepKind.TRUE:
            return f"{args[0]} is True"
        if group.kind is StepKind.FALSE:
            return f"{args[0]} is False"
        if group.kind is StepKind.SAME:
            return f"identical({', '.join(args)})"
        sign = INFIX.get(group.function) if len(args) == 2 else None
        if sign is not None:
            return f"{args[0]} {sign} {args[1]}"
        return f"{self._function(group.function)}({', '.join(args)})"

    def _function(self, function: Any) -> str:
        if function not in self._names:
            name = getattr(function, "__name__", type(function).__name__)
            self._names[function] = f"{name}_{len(self._names)}"
            self.functions[self._names[function]] = function
        return self._names[function]

    def _index(self) -> str:
        self._count += 1
        return f"i{self._count - 1}"

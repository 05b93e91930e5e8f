"""Decomposition of loops of shared variables into blocks that are closed one after the other.

A maximum matching assigns equations to unknowns (Dulmage and Mendelsohn 1958): unmatched equations
belong to an overdetermined part, unmatched unknowns to an underdetermined one, and the rest
decomposes into blocks with as many equations as unknowns, each of which depends only on those
before it (Tarjan 1972).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inversion.program.statements import Operand, Program, Statement, Variable

__all__ = ["LoopBlock", "blocks", "split"]


@dataclass(frozen=True)
class LoopBlock:
    """Statements that are closed together, and the variables for which they are solved."""

    statements: tuple[Statement, ...]
    unknown: tuple[Variable, ...]


def blocks(statements: Sequence[Statement], unknown: Iterable[Variable]) -> list[LoopBlock]:
    """The blocks of some equations between these unknowns, ordered so that each depends only on its
    unknowns and on earlier blocks.
    """
    return _Blocks(statements, unknown).found()


def split(
    program: Program, core: Sequence[Statement]
) -> tuple[list[Statement], list[Statement], list[Statement]]:
    """The statements before a loop of shared variables, those inside and between, and those after
    it.
    """
    chosen = {id(s) for s in core}
    needs: set[Operand] = {a for s in core for a in s.arguments}
    used = set[int]()  # the statements that the loop needs
    for s in reversed(program.statements):
        if not needs.isdisjoint(s.results):
            used.add(id(s))
            needs.update(s.arguments)
    made: set[Operand] = {v for s in core for v in s.results}
    before, inside, after = list[Statement](), list[Statement](), list[Statement]()
    for s in program.statements:
        follows = not made.isdisjoint(s.arguments)
        if id(s) in chosen or (follows and id(s) in used):
            inside.append(s)
            made.update(s.results)
        elif follows:
            after.append(s)
            made.update(s.results)
        else:
            before.append(s)
    return before, inside, after


class _Blocks:
    def __init__(self, statements: Sequence[Statement], unknown: Iterable[Variable]) -> None:
        self.statements = statements
        self.unknown = list(unknown)
        wanted = set(self.unknown)
        # one equation for each result of a statement; the equations of one statement stay together
        self.results = [(i, result) for i, s in enumerate(statements) for result in s.results]
        self.beside: dict[int, list[int]] = {}
        for number, (i, _) in enumerate(self.results):
            self.beside.setdefault(i, []).append(number)
        # the unknowns of each equation, and the equations of each unknown, by number
        self.of = [
            [v for v in statements[i].variables if v in wanted and self.is_in(v, i, result)]
            for i, result in self.results
        ]
        self.users: dict[Variable, list[int]] = {v: [] for v in self.unknown}
        for i, variables in enumerate(self.of):
            for variable in variables:
                self.users[variable].append(i)
        self.equation: dict[Variable, int] = {}
        self.variable: dict[int, Variable] = {}
        self.match()

    def is_in(self, variable: Variable, i: int, result: Variable) -> bool:
        """Return whether a variable of a statement occurs in the equation for this result."""
        return variable == result or variable not in self.statements[i].results

    def together(self, equation: int) -> list[int]:
        """The equations of the same statement."""
        return self.beside[self.results[equation][0]]

    def found(self) -> list[LoopBlock]:
        too_many = [i for i in range(len(self.of)) if i not in self.variable]
        over = self.reached_by_equations(too_many)
        under = self.reached_by_unknowns(v for v in self.unknown if v not in self.equation)
        rest = [i for i in range(len(self.of)) if i not in over and i not in under]
        free = [v for v in self.unknown if v not in self.equation]
        found = [*self.connected(over), *self.ordered(rest), *self.connected(under)]
        return [self.block(part, free) for part in found]

    def block(self, equations: Iterable[int], free: Sequence[Variable]) -> LoopBlock:
        numbers = sorted(equations)
        own = {self.variable[i] for i in numbers if i in self.variable}
        mentioned = {v for i in numbers for v in self.of[i]}
        own.update(v for v in free if v in mentioned)
        return LoopBlock(
            tuple(self.statements[i] for i in sorted({self.results[n][0] for n in numbers})),
            tuple(v for v in self.unknown if v in own),
        )

    # ---- matching ----

    def match(self) -> None:
        """Find a maximum matching, starting from the variables that the equations compute."""
        for i, (_, result) in enumerate(self.results):
            if result in self.users and result not in self.equation:
                self.equation[result], self.variable[i] = i, result
        for i in range(len(self.of)):
            if i not in self.variable:
                self.augment(i)

    def augment(self, start: int) -> None:
        """Match one more equation, along an augmenting path."""
        came: dict[Variable, int] = {}
        waiting = deque([start])
        while waiting:
            i = waiting.popleft()
            for variable in self.of[i]:
                if variable in came:
                    continue
                came[variable] = i
                if variable not in self.equation:
                    self.turn(variable, came, start)
                    return
                waiting.append(self.equation[variable])

    def turn(self, variable: Variable, came: dict[Variable, int], start: int) -> None:
        """Shift the matching along an augmenting path to a free unknown."""
        while True:
            i = came[variable]
            before = self.variable.get(i)
            self.equation[variable], self.variable[i] = i, variable
            if i == start or before is None:
                return
            variable = before

    # ---- over- and underdetermined parts ----

    def reached_by_equations(self, start: Iterable[int]) -> set[int]:
        """The equations that compete with these for their unknowns, including these."""
        found, waiting = set[int](), list(start)
        while waiting:
            i = waiting.pop()
            if i not in found:
                found.add(i)
                waiting += self.together(i)
                waiting += [self.equation[v] for v in self.of[i] if v in self.equation]
        return found

    def reached_by_unknowns(self, start: Iterable[Variable]) -> set[int]:
        """The equations that could be solved for other variables if these unknowns were chosen."""
        found, waiting = set[int](), list(start)
        while waiting:
            for i in (j for user in self.users[waiting.pop()] for j in self.together(user)):
                if i not in found:
                    found.add(i)
                    if i in self.variable:
                        waiting.append(self.variable[i])
        return found

    def connected(self, equations: set[int]) -> Iterator[list[int]]:
        """The connected components of these equations, linked by unknowns."""
        left = set(equations)
        for first in sorted(equations):
            if first not in left:
                continue
            left.discard(first)
            part = [first]
            for i in part:
                near = {j for v in self.of[i] for j in self.users[v]} | set(self.together(i))
                near &= left
                left -= near
                part += sorted(near)
            yield part

    # ---- the square part ----

    def ordered(self, equations: Sequence[int]) -> Iterator[list[int]]:
        """The strongly connected components of these equations, in order of dependence."""
        inside = set(equations)
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        held = set[int]()

        def entered(i: int) -> Iterator[int]:
            index[i] = low[i] = len(index)
            stack.append(i)
            held.add(i)
            needs = [self.equation[v] for v in self.of[i] if v in self.equation]
            return iter([j for j in (*needs, *self.together(i)) if j in inside and j != i])

        for first in equations:
            if first in index:
                continue
            going = [(first, entered(first))]
            while going:
                i, needs = going[-1]
                j = next(needs, None)
                if j is None:
                    going.pop()
                    if going:
                        low[going[-1][0]] = min(low[going[-1][0]], low[i])
                    if low[i] == index[i]:
                        at = stack.index(i)
                        part, stack[at:] = stack[at:], []
                        held.difference_update(part)
                        yield part
                elif j not in index:
                    going.append((j, entered(j)))
                elif j in held:
                    low[i] = min(low[i], index[j])

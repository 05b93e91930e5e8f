"""Statements at which all uses of a shared variable meet again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inversion.program.statements import Statement, Variable

__all__ = ["joins"]

END = -1


def joins(core: Sequence[Statement], unknown: Iterable[Variable]) -> list[tuple[int, Variable]]:
    """For each unknown with several uses the statement, by number, at which all of them meet, if
    there is one: the rest of the loop depends on the variable only through it.
    """
    tree = _Tree(core, set(unknown))
    found: list[tuple[int, Variable]] = []
    for variable, users in tree.users.items():
        if len(users) > 1:
            at = tree.meeting(users)
            if at != END:
                found.append((at, variable))
    return found


class _Tree:
    """The tree of post-dominators: for each statement the next one on every path to the end."""

    def __init__(self, core: Sequence[Statement], unknown: set[Variable]) -> None:
        self.users: dict[Variable, list[int]] = {}
        for i, statement in enumerate(core):
            for argument in statement.arguments:
                if isinstance(argument, Variable) and argument in unknown:
                    self.users.setdefault(argument, []).append(i)
        self.next: dict[int, int] = {}
        self.depth = {END: 0}
        for i in range(len(core) - 1, -1, -1):
            ends = [j for v in core[i].results for j in self.users.get(v, (END,))]
            self.next[i] = self.meeting(ends)
            self.depth[i] = self.depth[self.next[i]] + 1

    def meeting(self, statements: Sequence[int]) -> int:
        """The first statement on every path from these."""
        at = statements[0]
        for other in statements[1:]:
            while at != other:
                if self.depth[at] < self.depth[other]:
                    at, other = other, at
                at = self.next[at]
        return at

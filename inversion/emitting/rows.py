"""The loop over rows: the inverse called for each, as source."""

from __future__ import annotations

from collections.abc import Sequence

from inversion.trees import Tree, mapped, written

__all__ = ["loop_source"]


def loop_source(
    known: Sequence[Tree], parameters: int, unknown: Sequence[Tree], *, raises: bool = True
) -> str:
    """The source of the loop over rows, for known and unknown axes made of these, and so many
    parameters: ``rows(failed, *columns, *outs)``, which notes those that have no answer, and gives
    their number.

    raises: whether the inverse does, where it has no answer; else it answers NaN, and the loop is
    ``rows(*columns, *outs)``.
    """
    columns: list[str] = []

    def column(path: str, leaf: str) -> str:
        columns.append(f"known_{len(columns)}")
        return f"{columns[-1]}[row]"

    given = [written(mapped(tree, column)) for tree in known]
    columns += [f"theta_{i}" for i in range(parameters)]
    outs: list[str] = []
    answers: list[str] = []
    for i, tree in enumerate(unknown):
        mapped(tree, lambda path, _, i=i: answers.append(f"answer[{i}]{path}"))
    outs = [f"out_{i}" for i in range(len(answers))]
    if parameters:
        given.append("(" + "".join(f"theta_{i}[row], " for i in range(parameters)) + ")")
    solved = [
        f"answer = inverse({', '.join(given)})",
        *(f"{out}[row] = {a}" for out, a in zip(outs, answers, strict=True)),
    ]
    if not raises:
        return _loop([*columns, *outs], [*solved, f"refused += {answers[0]} != {answers[0]}"])
    turn = ["try:", *(f"    {row}" for row in solved)]
    turn += ["except Exception:", "    failed[row] = True", "    refused += 1"]
    return _loop(["failed", *columns, *outs], turn)


def _loop(arrays: Sequence[str], turn: Sequence[str]) -> str:
    return "\n".join(
        [
            f"def rows({', '.join(arrays)}):",
            "    refused = 0",
            f"    for row in range({arrays[0]}.shape[0]):",
            *(f"        {row}" for row in turn),
            "    return refused",
        ]
    )

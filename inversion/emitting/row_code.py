"""The loop over rows: source that calls the inverse for each row."""

from __future__ import annotations

from collections.abc import Sequence

from inversion.program.trees import Tree, mapped, written

__all__ = ["loop_source"]


def loop_source(
    known: Sequence[Tree],
    parameters: int,
    unknown: Sequence[Tree],
    *,
    raises: bool = True,
    one_theta: bool = False,
) -> str:
    """The source of the loop over rows, for axes of these structures and a number of parameters.

    ``rows(failed, *columns, *outs)`` marks the rows without an answer, and returns their number.
    raises: whether the inverse raises if there is no answer; otherwise it returns NaN, and the
    loop, ``rows(*columns, *outs)``, returns whether a row has none. one_theta: whether the
    parameters are numbers that all rows share, not columns.
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
        at = "" if one_theta else "[row]"
        given.append("(" + "".join(f"theta_{i}{at}, " for i in range(parameters)) + ")")
    solved = [
        f"answer = inverse({', '.join(given)})",
        *(f"{out}[row] = {a}" for out, a in zip(outs, answers, strict=True)),
    ]
    if not raises:
        solved += [f"largest = max(largest, size({answers[0]}))"]  # cheaper than a count
        return _loop([*columns, *outs], "largest", solved, "largest > INFINITE")
    turn = ["try:", *(f"    {row}" for row in solved)]
    turn += ["except Exception:", "    failed[row] = True", "    refused += 1"]
    return _loop(["failed", *columns, *outs], "refused", turn, "refused")


def _loop(arrays: Sequence[str], noted: str, turn: Sequence[str], given: str) -> str:
    return "\n".join(
        [
            f"def rows({', '.join(arrays)}):",
            f"    {noted} = 0",
            f"    for row in range({arrays[0]}.shape[0]):",
            *(f"        {row}" for row in turn),
            f"    return {given}",
        ]
    )

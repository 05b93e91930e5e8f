"""Operators as targets of a context against native Python, interleaved, by processor time.

For each kernel of ``python_engine``: a table of an operator that the kernel does not apply, and one
of operators that it applies, with methods for types that never occur.
"""

import math
import operator
from dataclasses import asdict, dataclass
from time import process_time

from common.options import parser_for
from common.page import part, section, written
from common.timing import interleaved_apart, machine, ratio, ratio_spread, table
from python_engine import KERNELS, LIMIT, in_context, target

from overlay import MethodTable


class Never:
    """A class without instances in the kernels."""


def unmet(x: Never, y: Never):
    raise AssertionError("they are no operands of a kernel")


def of(*operators):
    """A table with a method of each operator, for types that never occur."""
    made = MethodTable("operators")
    for each in operators:
        made.overlay(each)(unmet)
    return made


TABLES = {
    "not applied": (operator.matmul,),
    "applied": (operator.add,),
    "four applied": (operator.add, operator.mul, operator.getitem, operator.lt),
}


@dataclass(frozen=True)
class Row:
    """The figures of one kernel: a native run in seconds, and ratios to it by table."""

    kernel: str
    native: float
    ratios: dict[str, float]
    spreads: dict[str, float]


def measured(kernel, rounds):
    """The kernel's row; each variant has a process of its own."""
    made = {"native": lambda: kernel.run}
    for name, operators in TABLES.items():
        made[name] = lambda operators=operators: in_context(kernel, of(*operators))
    times = interleaved_apart(made, rounds, LIMIT, process_time)
    return Row(
        kernel.name,
        min(times["native"]),
        {name: ratio(times, name, "native") for name in TABLES},
        {name: ratio_spread(times, name, "native") for name in TABLES},
    )


def mean(rows, name):
    return math.prod(row.ratios[name] for row in rows) ** (1 / len(rows))


def remarks(rows):
    """Compare the rows with the targets."""
    yield target("not applied, geometric mean", mean(rows, "not applied"), 1.05)
    worst = max(rows, key=lambda row: row.ratios["not applied"])
    what = f"not applied, worst ({worst.kernel})"
    yield target(what, worst.ratios["not applied"], 1.20)
    yield target("applied to types that never come, geometric mean", mean(rows, "applied"), 1.6)
    yield f"four of them, geometric mean: {mean(rows, 'four applied'):.2f}"


def cells(row):
    return row.kernel, f"{row.native * 1e3:.1f}", *(f"{row.ratios[name]:.2f}" for name in TABLES)


def shown(rows):
    head = ("kernel", "native ms", *TABLES)
    return [
        head,
        *(
            (r.kernel, f"{r.native * 1e3:.1f}", *(f"{v:.2f}" for v in r.ratios.values()))
            for r in rows
        ),
    ]


def page(rows, title):
    text = (
        "The programs of the Python engine in a context with operators on builtin types as "
        "targets. The column *not applied* is for an operator that the program does not "
        "apply, and *applied* for `operator.add` with methods for types that do not occur. "
        "The column *four applied* adds `mul`, `getitem` and `lt`."
    )
    return part(title, text, [section("Programs", "", shown(rows), remarks(rows))])


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[*KERNELS], default=[*KERNELS])
    parser.add_argument("--title", default="Operators as targets", help="of the part of the report")
    chosen = parser.parse_args()
    rounds = 1 if chosen.smallest else chosen.rounds
    print(f"{machine()}; processor time")
    rows = [measured(KERNELS[name](), rounds) for name in chosen.only]
    print(table(shown(rows)))
    print("\n".join(remarks(rows)))
    figures = {"machine": machine(), "kernels": [asdict(row) for row in rows]}
    written({**figures, "page": page(rows, chosen.title)}, chosen.json)


if __name__ == "__main__":
    main()

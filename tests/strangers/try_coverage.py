"""Differentiates the functions that autograd and JAX differentiate, and compares what becomes of
them with the table.

python -m tests.strangers.try_coverage                    what differs from the table
python -m tests.strangers.try_coverage --only numpy.cov   of these alone
python -m tests.strangers.try_coverage --write            renews the table
python -m tests.strangers.try_coverage --keep docs/report/kept/derivative_coverage.json
                                                          the shares, for the report
"""

import json
import sys

from scripts.kept_figures import keep
from tests.strangers.derivative_trials import ways
from tests.strangers.differentiable_functions import FORMS
from tests.strangers.function_trials import (
    LISTS,
    OUTCOMES,
    counted,
    exists,
    outcomes,
    shares,
    table_of,
    tried,
)
from tests.strangers.stranger_trials import command_options


def main():
    options = command_options(__doc__.partition("\n\n")[0])
    before = outcomes() if OUTCOMES.exists() else {}
    found = {}
    for path in options.only or FORMS:
        if not exists(path):
            continue
        found[path] = {way: tried(path, way) for way in ways}
        for way, said in found[path].items():
            if before.get(path, {}).get(way) != said or options.only:
                print(f"{path} {way:9} {said}", flush=True)
    found = {path: found.get(path) or before[path] for path in FORMS}
    print(table_of(found))
    if options.write:
        rows = [f" {json.dumps(path)}: {json.dumps(row)}" for path, row in found.items()]
        OUTCOMES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    if options.keep:
        lists = {
            name: {
                "functions": len(counted(LISTS[name])),
                **{way: right / 100 for way, (right, _) in row.items()},
            }
            for name, row in shares(found).items()
        }
        keep(options.keep, lists=lists)
    return int(any(said.startswith("wrong") for row in found.values() for said in row.values()))


if __name__ == "__main__":
    sys.exit(main())

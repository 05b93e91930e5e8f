"""Differentiates the programs of strangers, and compares what becomes of them with the table.

python -m tests.strangers.try_derivatives               what differs from the table
python -m tests.strangers.try_derivatives --only p01    of these alone
python -m tests.strangers.try_derivatives --write       renews the table
"""

import json
import sys
from collections import Counter

from tests.strangers.derivative_trials import TABLE, programs, table, tried, ways
from tests.strangers.stranger_trials import command_options


def main():
    options = command_options(__doc__.partition("\n")[0])
    before = table() if TABLE.exists() else {}
    found, counts = {}, Counter()
    for name, program in programs().items():
        if options.only and name not in options.only:
            continue
        found[name] = {way: tried(program, way) for way in ways}
        counts.update((way, said.partition(":")[0]) for way, said in found[name].items())
        for way, said in found[name].items():
            if before.get(name, {}).get(way) != said or options.only:
                print(f"{name} {way:9} {said}", flush=True)
    for (way, said), count in sorted(counts.items()):
        print(f"{way:9} {said:8} {count:3} of {len(found)}")
    if options.write:
        rows = [f" {json.dumps(n)}: {json.dumps(row)}" for n, row in {**before, **found}.items()]
        TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return int(any(said == "wrong" for _, said in counts))


if __name__ == "__main__":
    sys.exit(main())

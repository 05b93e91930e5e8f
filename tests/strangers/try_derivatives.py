"""Differentiates the programs of strangers, and compares what becomes of them with the table.

python -m tests.strangers.try_derivatives               what differs from the table
python -m tests.strangers.try_derivatives --only p01    of these alone
python -m tests.strangers.try_derivatives --write       renews the table
"""

import argparse
import json
import sys
from collections import Counter

from tests.strangers.derivative_trials import TABLE, programs, table, tried, ways


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="renew the table")
    parser.add_argument("--only", nargs="+", default=(), help="names of programs")
    asked = parser.parse_args()
    before = table() if TABLE.exists() else {}
    found, counts = {}, Counter()
    for name, program in programs().items():
        if asked.only and name not in asked.only:
            continue
        found[name] = {way: tried(program, way) for way in ways}
        counts.update((way, said.partition(":")[0]) for way, said in found[name].items())
        for way, said in found[name].items():
            if before.get(name, {}).get(way) != said or asked.only:
                print(f"{name} {way:9} {said}", flush=True)
    for (way, said), count in sorted(counts.items()):
        print(f"{way:9} {said:8} {count:3} of {len(found)}")
    if asked.write:
        rows = [f" {json.dumps(n)}: {json.dumps(row)}" for n, row in {**before, **found}.items()]
        TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return int(any(said == "wrong" for _, said in counts))


if __name__ == "__main__":
    sys.exit(main())

"""A hook that the context's metadata configures.

Kind: observed calls
Shows: metadata, and a changed copy of a context
Tests: tests/overlay/python/test_metadata.py:
 test_metadata_change_for_a_call_and_below_it
"""

import math

from overlay import Context, Plugin, current_context


class Watch(Plugin):
    def around(self, callee, run):
        def watched(*args):
            if callee in current_context().metadata:
                print(f"{callee.__name__}{args}")
            return run(*args)

        return watched


def bell(x):
    return math.exp(-x * x / 2) / math.sqrt(math.tau)


watching = Context(plugins=(Watch(),), metadata=(math.exp,))
print(f"{watching(bell, 0.5):.6f}")
print(f"{watching.replace(metadata=(math.sqrt,))(bell, 0.5):.6f}")
print(f"{watching.replace(metadata=())(bell, 0.5):.6f}")

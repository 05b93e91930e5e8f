"""C functions that call some of their arguments, with the positions and names of these."""

from __future__ import annotations

import bisect
import functools
import itertools
import operator
import re
from typing import Any

__all__ = ["CALLBACKS"]

_BISECT, _SIDES = ("bisect", "insort"), ("left", "right")
_CALLERS: list[tuple[Any, tuple[int, ...], tuple[str, ...]]] = [
    (map, (0,), ()),
    (filter, (0,), ()),
    (functools.reduce, (0,), ()),
    (functools.cmp_to_key, (0,), ("mycmp",)),
    (operator.call, (0,), ()),
    (sorted, (), ("key",)),
    (min, (), ("key",)),
    (max, (), ("key",)),
    (list.sort, (), ("key",)),
    (itertools.accumulate, (1,), ("func",)),
    (itertools.dropwhile, (0,), ()),
    (itertools.filterfalse, (0,), ()),
    (itertools.groupby, (1,), ("key",)),
    (itertools.starmap, (0,), ()),
    (itertools.takewhile, (0,), ()),
    (re.Pattern.sub, (1,), ("repl",)),
    (re.Pattern.subn, (1,), ("repl",)),
    *((getattr(bisect, f"{f}_{side}"), (), ("key",)) for f in _BISECT for side in _SIDES),
]
# By the function's identity: the function, and the positions and keywords of arguments it calls.
CALLBACKS = {id(caller[0]): caller for caller in _CALLERS}

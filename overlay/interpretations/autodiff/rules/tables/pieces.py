"""Rules of functions that join arrays and split them."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, rearranging
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["PIECES"]


def _newer() -> tuple[ArrayRule, ...]:
    """The rules of functions that numpy 1.26 does not have."""
    unstack: Any = getattr(np, "unstack", None)
    if unstack is None:
        return ()
    given = call(floats(2, 3)), call(floats(2, 3), axis=1), call(floats(2, 3, 2), axis=-1)
    return (rearranging(unstack, *given, data=("x",)),)


TYPED = "tup, *, dtype=None, casting='same_kind'"
# fmt: off
PIECES: tuple[ArrayRule, ...] = (
    rearranging(np.vstack, call([floats(3), floats(3)]), call((floats(2, 3), floats(3))),
                call([floats(), 1.0]), call([[floats(), 1.0], [2.0, floats()]]),
                call([complexes(2), floats(2)]), data=("tup",), parameters=TYPED),
    rearranging(np.hstack, call([floats(3), floats(2)]), call((floats(2, 3), floats(2, 1))),
                call([floats(), 1.0]), call([[floats(), 1.0], [floats()]]),
                data=("tup",), parameters=TYPED),
    rearranging(np.dstack, call([floats(3), floats(3)]), call((floats(2, 3), floats(2, 3))),
                call([[floats(), 1.0], [2.0, floats()]]), data=("tup",)),
    rearranging(np.column_stack, call([floats(3), floats(3)]), call((floats(3, 2), floats(3))),
                call([[floats(), 1.0], [2.0, floats()]]), call([floats(2), np.array([1, 2])]),
                data=("tup",)),
    rearranging(np.block, call([floats(2), floats(3)]),
                call([[floats(2, 2), np.zeros((2, 1))], [floats(1, 2), 1.0]]),
                call([[floats(), 1.0], [2.0, floats()]]), call(floats(2)), data=("arrays",)),
    rearranging(np.append, call(floats(3), floats()), call(floats(2, 3), floats(2)),
                call(floats(2, 3), floats(1, 3), 0), call(floats(2, 3), floats(2, 1), axis=-1),
                call(floats(2), [1.0, floats()]), call([1.0, floats()], floats(2)),
                call(np.array([1.0, 2.0]), floats()), data=("arr", "values")),
    rearranging(np.split, call(floats(4), 2), call(floats(5), [1, 3]), call(floats(2, 4), 2, 1),
                call(floats(2, 4), np.array([1]), axis=-1), call(complexes(4), 2), data=("ary",)),
    rearranging(np.array_split, call(floats(5), 2), call(floats(3, 2), 2, axis=0),
                call(floats(2, 5), [2, 4], axis=1), data=("ary",)),
    rearranging(np.hsplit, call(floats(4), 2), call(floats(2, 4), [1]), data=("ary",)),
    rearranging(np.vsplit, call(floats(4, 2), 2), data=("ary",)),
    rearranging(np.dsplit, call(floats(1, 2, 4), 2), data=("ary",)),
    *_newer(),
)
# fmt: on

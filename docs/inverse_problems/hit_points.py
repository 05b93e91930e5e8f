"""Games: a creature's hidden values from its hit points.

Field: games
Shows: all solutions through two roundings, and the one nearest to a guess
Source: Bulbapedia, Stat (the formula of the third generation on)
Question: A creature of level 50, of a kind with base 108, shows 175 hit points. Which individual
    value (0 to 31) and effort (a multiple of four, up to 252) can it have?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers


def hit_points(
    individual: Annotated[int, Integers(0, 31)], effort: Annotated[int, Integers(0, 63)]
):
    """``effort`` in units of four points."""
    return (2 * 108 + individual + effort) * 50 // 100 + 50 + 10


# ---- the question
births = invert(hit_points)
answers = sorted(branch.point for branch in births.solutions(175))

# ---- the check
print(len(answers), "pairs:", *answers[:6], "...")
print("nearest to 20, 0:", births.nearest(175, (20, 0)))


def holds(*answer):
    return hit_points(*answer) == 175

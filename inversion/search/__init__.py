"""A plan walked through choice by choice."""

from inversion.search.starting import box_of, infeasible, states
from inversion.search.state import Frame, State
from inversion.search.unproved import Unproved
from inversion.search.ways import Search

__all__ = ["Frame", "Search", "State", "Unproved", "box_of", "infeasible", "states"]

"""A plan walked through choice by choice."""

from inversion.search.state import Frame, State
from inversion.search.ways import Search

__all__ = ["Frame", "Search", "State"]

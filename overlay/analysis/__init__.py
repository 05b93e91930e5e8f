"""Abstract interpretation of programs: what holds of them, without running them.

>>> from overlay.analysis import array, prove
>>> def total(values):
...     found = 0.0
...     for i in range(len(values)):
...         found += values[i]
...     return found / len(values)
>>> [(site.kind, site.proved) for site in prove(total, array("n")).sites]
[('index', True), ('divisor', False)]

A domain of one's own is a ``Domain``: a lattice with a method table of transfer functions.
``Interpreter`` runs a function over it.
"""

from overlay.analysis.calls import CallError, CallErrors, check_calls
from overlay.analysis.interpreter import Interpreter
from overlay.analysis.intervals import Intervals
from overlay.analysis.lattice import Domain, Lattice
from overlay.analysis.proofs import Proofs, Site, prove, sites
from overlay.analysis.runs import Run, Step
from overlay.analysis.values import Interval, array, floats, integers

__all__ = [
    "CallError",
    "CallErrors",
    "Domain",
    "Interpreter",
    "Interval",
    "Intervals",
    "Lattice",
    "Proofs",
    "Run",
    "Site",
    "Step",
    "array",
    "check_calls",
    "floats",
    "integers",
    "prove",
    "sites",
]

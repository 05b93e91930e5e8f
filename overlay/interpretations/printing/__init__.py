"""Output of a program: collected, suppressed, or sliced out with the computations only it needs.

``collecting``: collects the output of a program.
``printed_effects``: calls of a function that have no effect, by the rules of ``Slicer``.
``slicer``: program slicing: programs without their prints, and without the computations only
these need.
``ir_slicing``: slices of functions being compiled, in the IR of plugins.
``slicing``: slices of functions: without some calls, and without the statements only these need.

>>> from overlay.interpretations.printing import collect
>>> def greet(name):
...     print("hello,", name)
...     return len(name)
>>> found = collect(greet, "Ada")
>>> found.result, found.text
(3, 'hello, Ada\\n')
"""

from overlay.core.public_names import completes
from overlay.interpretations.printing.collecting import Printed, PrintedCall, collect, silenced
from overlay.interpretations.printing.slicer import Slicer

__all__ = ["Printed", "PrintedCall", "Slicer", "collect", "silenced"]
__dir__ = completes(__all__)

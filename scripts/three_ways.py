"""Prints the files of the packages that one call runs through, as JSON: the first time, and again.

python -m scripts.three_ways context .

A way is ``context``, for ``ctx(f, x)``, ``jit``, for ``ctx.jit(f)(x)``, or ``invert``, for
``invert(f)(y)``. Code run by imports does not count. The packages are those of the folder.
"""

import gc
import json
import math
import os
import sys
from pathlib import Path
from types import CodeType

from scripts.structure import PACKAGES

TEXTS = {"context": "ctx(f, x)", "jit": "ctx.jit(f)(x)", "invert": "invert(f)(y)"}


def shifted(x: float) -> float:
    return 2 * math.sin(x)


def line(x: float) -> float:
    return 2 * x + 1


def call_of(way):
    """A function without arguments that makes the call."""
    from overlay import Context, MethodTable, call_next

    table = MethodTable("shift")

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return call_next(x) + 1

    ctx = Context(table)
    if way == "context":
        return lambda: ctx(shifted, 0.5)
    if way == "jit":
        return lambda: ctx.jit(shifted)(0.5)
    from inversion import invert

    return lambda: invert(line)(3.0)


def files_of(call, root):
    """The files whose code a call enters, in order, each with its first line entered."""
    monitoring, found = sys.monitoring, {}
    tool, started = monitoring.PROFILER_ID, monitoring.events.PY_START
    folders = tuple(str(root / package) + os.sep for package in PACKAGES)

    def enter(code: CodeType, _):
        file = code.co_filename
        if not file.startswith(folders):
            return monitoring.DISABLE  # permanently: it is not a file of the packages
        if file not in found and not in_import(sys._getframe(1)):
            place = f"{Path(file).relative_to(root).as_posix()}:{code.co_firstlineno}"
            found[file] = place, code.co_qualname
        return None

    monitoring.use_tool_id(tool, "three_ways")
    monitoring.register_callback(tool, started, enter)
    monitoring.set_events(tool, started)
    try:
        call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return list(found.values())


def in_import(frame):
    """Whether a frame runs within the import of a module, at any depth."""
    while frame is not None and frame.f_code is not files_of.__code__:
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def main():
    way, root = sys.argv[1], Path(sys.argv[2]).resolve()
    sys.path.insert(0, str(root))
    call = call_of(way)
    gc.disable()  # a collection might run code that is not part of the call
    print(json.dumps({"first": files_of(call, root), "again": files_of(call, root)}))


if __name__ == "__main__":
    main()

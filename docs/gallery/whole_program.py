"""A context for all later lines.

Kind: replaced calls
Shows: install, which applies to top-level code until its handle is removed
Tests: tests/overlay/tools/test_install.py:
 test_the_top_level_code_of_a_script_is_in_what_its_first_line_installs
"""

import math
from concurrent.futures import ThreadPoolExecutor

from overlay import Context, MethodTable, install

table = MethodTable("degrees")


@table.overlay(math.sin)
def sine(x):
    return math.cos(math.radians(90 - x))


handle = install(Context(table))
print(f"{math.sin(30):.3f}")
print([f"{math.sin(x):.3f}" for x in (0, 90)])
with ThreadPoolExecutor() as pool:
    print("in a thread:", *[f"{value:.3f}" for value in pool.map(math.sin, [30])])
handle.remove()
print(f"{math.sin(30):.3f}")

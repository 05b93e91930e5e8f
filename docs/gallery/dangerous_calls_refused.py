"""Refuse a dangerous call, whatever its form.

Kind: whole runs
Shows: a splat, a callback, a name made at run time, code made at run time
Tests: tests/overlay/interpretations/test_sandbox.py:
 test_a_call_is_refused_however_it_is_made
"""

import os
import subprocess

from overlay.interpretations.sandbox import Refused, Sandbox

COMMAND = "echo this must not run"
programs = {
    "as written": lambda: os.system(COMMAND),
    "a splat": lambda: os.system(*[COMMAND]),
    "keywords": lambda: os.system(**{"command": COMMAND}),
    "a callback": lambda: list(map(os.system, [COMMAND])),
    "getattr": lambda: getattr(os, "sys" + "tem")(COMMAND),
    "in a library": lambda: subprocess.run(["echo", "this must not run"], check=True),
    "code made at run time": lambda: eval("os.system(COMMAND)"),
}
for name, program in programs.items():
    box = Sandbox()
    try:
        box(program)
    except Refused as error:
        print(f"{name}: {error.call.name} is refused")

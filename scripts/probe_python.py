"""Reports in three lines on the Python that runs it, for scripts/choose_python.sh.

The path of its executable, its implementation with the version, and its missing parts (or nothing).
"""

import os
import platform
import sys
import sysconfig

lacks = []
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    lacks.append("a lock (it is free-threaded)")
try:
    import ensurepip
    import venv  # noqa: F401

    ensurepip.version()  # Debian's python3 without python3-venv fails here
except Exception:
    lacks.append("venv or ensurepip")
if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
    lacks.append("Python.h")

# for an environment, its base Python, since the environment may be removed
print(getattr(sys, "_base_executable", None) or sys.executable)
print(platform.python_implementation(), platform.python_version())
print(" and ".join(lacks))

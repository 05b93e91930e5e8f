"""The distribution: where its packages are imported from.

``overlay``, ``primitives`` and ``inversion`` are common words. Another distribution may install a
package of such a name, and a file ``overlay.py`` beside a script hides ours. ``check`` detects
this; our packages call it for the packages that they import. ``python -m overlay_dispatch`` lists
the location of each.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

__all__ = ["check", "found", "is_ours"]

PACKAGES = {"overlay": "MethodTable", "primitives": "relation_of", "inversion": "invert"}
"""Our packages, and a name that only ours has."""
_HERE = os.path.dirname(os.path.abspath(__file__))


def found(name: str) -> str | None:
    """The file that a package is imported from, as things stand; None where there is none."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None)
    spec = importlib.util.find_spec(name)
    return None if spec is None else spec.origin


def is_ours(name: str) -> bool:
    """Whether a module, by its full name, is one of our packages or stands in one."""
    package = name.partition(".")[0]
    if package not in PACKAGES:
        return False
    place = found(package)
    return place is not None and os.path.abspath(place) == _file_of(package)


def _file_of(package: str) -> str:
    return os.path.join(_HERE, package, "__init__.py")


def check(*names: str) -> None:
    """Import packages of ours; an ImportError where others have their names."""
    for name in names:
        if not is_ours(name):
            place = found(name)
            raise ImportError(_message(name, place, _file_of(name)), name=name, path=place)
        if PACKAGES[name] not in dir(importlib.import_module(name)):
            raise ImportError(_message(name, found(name), None), name=name, path=found(name))


def _message(name: str, place: str | None, own: str | None) -> str:
    what = f"which is not that of overlay-dispatch ({own})" if own else "which another wrote over"
    return (
        f"the package {name!r} is imported from {place}, {what}\n"
        f"  help: a file of yours named {name}.py or a folder {name}/ hides it: rename it; or "
        "another distribution has a package of this name: install it in another environment, and "
        "this one again\n"
        "  python -m overlay_dispatch lists what is imported from where"
    )


def main() -> int:
    """Print where each package is imported from; 1 where one is not ours, 2 for arguments."""
    if sys.argv[1:]:
        print("python -m overlay_dispatch takes no arguments", file=sys.stderr)
        return 2
    status = 0
    for name in PACKAGES:
        try:
            check(name)
            print(f"{name}: {found(name)}")
        except ImportError as error:
            print(f"{name}: {error}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

"""The distribution: where its packages are imported from.

``overlay``, ``primitives`` and ``inversion`` are common words. Another distribution may install a
package of such a name, and a file ``overlay.py`` beside a script hides ours. ``check`` finds this
out, and our packages ask it about those that they stand on. ``python -m overlay_dispatch`` lists
what is imported from where.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

__all__ = ["check", "found"]

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


def check(*names: str) -> None:
    """Import packages of ours; an ImportError where others have their names."""
    for name in names:
        place, own = found(name), os.path.join(_HERE, name, "__init__.py")
        if place is None or os.path.abspath(place) != own:
            raise ImportError(_message(name, place, own), name=name, path=place)
        if not hasattr(importlib.import_module(name), PACKAGES[name]):
            raise ImportError(_message(name, place, None), name=name, path=place)


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

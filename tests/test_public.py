"""The public names of the packages, and what is said of each."""

import inspect
from pathlib import Path

import pytest

import inversion
import overlay
import primitives

LISTED = Path(__file__).with_name("public_names.txt")
PACKAGES = (overlay, primitives, inversion)


def classes():
    for package in PACKAGES:
        for name in sorted(package.__all__):
            found = getattr(package, name)
            if inspect.isclass(found) and found.__module__.split(".")[0] in ("overlay", *NAMES):
                yield package, name, found


NAMES = tuple(package.__name__ for package in PACKAGES)


def shown(cls):
    """The names of a class that are in no class of Python's own."""
    hidden = getattr(cls, "__hidden__", ())
    bases = (object, Exception, tuple, dict, type)
    return sorted(
        name
        for name in dir(cls)
        if not name.startswith("_")
        and name not in hidden
        and not any(hasattr(base, name) for base in bases if issubclass(cls, base))
    )


def public_names():
    for package in PACKAGES:
        yield from (f"{package.__name__}.{name}" for name in sorted(package.__all__))
    for package, name, cls in classes():
        yield from (f"{package.__name__}.{name}.{each}" for each in shown(cls))


def test_what_is_public_is_meant_to_be():
    """A name that comes or goes is written into the list, and into the changelog."""
    found, listed = set(public_names()), set(LISTED.read_text().split())
    assert (sorted(found - listed), sorted(listed - found)) == ([], [])


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_each_public_name_has_a_docstring(package):
    without = [
        name
        for name in package.__all__
        if callable(getattr(package, name)) and not inspect.getdoc(getattr(package, name))
    ]
    for owner, name, cls in classes():
        if owner is package:
            without += [
                f"{name}.{each}"
                for each in shown(cls)
                if (inspect.isroutine(found := getattr(cls, each)) or isinstance(found, property))
                and not inspect.getdoc(found)
            ]
    assert without == []


def test_hidden_names_are_there_and_are_not_completed():
    for _, _, cls in classes():
        for name in getattr(cls, "__hidden__", ()):
            assert name not in shown(cls)
    context = overlay.Context()
    assert "stacks" not in dir(context)
    assert context.stacks is not None
    assert "jit" in dir(context)


if __name__ == "__main__":
    LISTED.write_text("\n".join(public_names()) + "\n")

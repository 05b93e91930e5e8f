"""All exceptions of the packages can be pickled, to cross between processes."""

import importlib
import inspect
import pickle
import pkgutil

import pytest

import inversion
import overlay
import primitives
from inversion import NotInvertible, invert
from overlay.interpretations.sandbox import Refused, RefusedCall
from tests.inversion.refusal_calls import nested_deeply

HOLD_WHAT_RUNS = {"CallsItself", "Split", "NeedsArray"}  # signals within one run


def classes():
    """The exceptions whose modules can be imported here."""
    found = {}
    for package in (overlay, primitives, inversion):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "cuda" in module.name or module.name.endswith("__main__"):
                continue
            for kind in vars(importlib.import_module(module.name)).values():
                if isinstance(kind, type) and issubclass(kind, BaseException):
                    found[f"{kind.__module__}.{kind.__qualname__}"] = kind
    ours = ("overlay", "primitives", "inversion")
    return {name: kind for name, kind in found.items() if name.partition(".")[0] in ours}


def made(kind):
    """An error of the class, with texts for its parameters."""
    if kind is Refused:
        return Refused(RefusedCall("os.remove", "'x'", "here.py:1"))
    own = inspect.signature(kind.__init__).parameters
    parameters = [each for name, each in own.items() if name != "self"]
    needed = [each for each in parameters if each.default is each.empty]
    by_place = [each.name for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD]
    return kind(*by_place, **{each.name: "x" for each in needed if each.kind is each.KEYWORD_ONLY})


@pytest.mark.filterwarnings("ignore")
def test_every_exception_comes_back_with_its_class_and_text():
    found = classes()
    assert len(found) > 50
    for name, kind in found.items():
        if kind.__name__ in HOLD_WHAT_RUNS:
            continue
        error = made(kind)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (kind, str(error)), name


def untranslated():
    def scaled(n: int):
        return n * 0.5

    pytest.importorskip("z3")
    invert(scaled, solver="z3")


@pytest.mark.parametrize("refused", [nested_deeply, untranslated])
def test_a_refusal_is_pickled_with_its_traceback_and_what_led_to_it(refused):
    support = pytest.importorskip("tblib.pickling_support")  # as dask does
    with pytest.raises(NotInvertible) as caught:
        refused()
    support.install(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (NotInvertible, str(caught.value))

"""Dependencies of an inverse: an edit of one is detected, and no answer is wrong."""

import types

import numpy as np
import pytest

from inversion import NoSolution, invert


class Base:
    inherited = 2.0


class Scale(Base):
    shared = 2.0

    def __init__(self):
        self.own = 2.0

    def by_own(self, x: float):
        return x * self.own

    def by_shared(self, x: float):
        return x * self.shared

    def by_inherited(self, x: float):
        return x * self.inherited

    def by_method(self, x: float):
        return self.by_own(x)

    @property
    def computed(self):
        return self.own


def of_object():
    scale = Scale()
    return scale.by_own, lambda: setattr(scale, "own", 5.0)


def of_object_below_a_method():
    scale = Scale()
    return scale.by_method, lambda: setattr(scale, "own", 5.0)


def of_object_in_a_closure():
    scale = Scale()
    return lambda x: x * scale.own, lambda: setattr(scale, "own", 5.0)


def hidden_by_the_object():
    scale = Scale()
    return scale.by_shared, lambda: setattr(scale, "shared", 5.0)


def of_its_class():
    kind = type("Kind", (Scale,), {"shared": 2.0})
    return kind().by_shared, lambda: setattr(kind, "shared", 5.0)


def of_a_class_above():
    base = type("Base", (), {"inherited": 2.0, "by_inherited": Scale.by_inherited})
    kind = type("Kind", (base,), {})
    return kind().by_inherited, lambda: setattr(base, "inherited", 5.0)


def of_a_property():
    scale = Scale()
    return lambda x: x * scale.computed, lambda: setattr(scale, "own", 5.0)


def a_method():
    kind = type("Kind", (Scale,), {"by_own": Scale.by_own})
    return kind().by_method, lambda: setattr(kind, "by_own", lambda self, x: x * 5.0)


def of_a_class_itself():
    kind = type("Kind", (), {"rate": 2.0})
    return lambda x: x * kind.rate, lambda: setattr(kind, "rate", 5.0)


def of_a_module():
    module = types.ModuleType("settings")
    module.rate = 2.0
    return lambda x: x * module.rate, lambda: setattr(module, "rate", 5.0)


def of_a_closure():
    rate = 2.0

    def edit():
        nonlocal rate
        rate = 5.0

    return lambda x: x * rate, edit


def of_a_default():
    def scaled(x, rate=2.0):
        return x * rate

    return lambda x: scaled(x), lambda: setattr(scaled, "__defaults__", (5.0,))


EDITS = (
    *(of_object, of_object_below_a_method, of_object_in_a_closure, hidden_by_the_object),
    *(of_its_class, of_a_class_above, of_a_property, a_method, of_a_class_itself),
    *(of_a_module, of_a_closure, of_a_default),
)


@pytest.mark.parametrize("kind", EDITS, ids=lambda kind: kind.__name__)
def test_an_edit_is_told(kind):
    function, edit = kind()
    inverse = invert(function, float)
    assert inverse(4.0) == (2.0,)
    assert not inverse.is_out_of_date
    edit()
    assert function(2.0) == 10.0
    assert inverse.is_out_of_date
    with pytest.raises(NoSolution, match="has changed since: call invert again"):
        inverse(10.0)
    with pytest.raises(NoSolution):
        inverse.batch(np.array([10.0]))
    assert invert(function, float)(10.0) == (2.0,)


@pytest.mark.parametrize("kind", EDITS, ids=lambda kind: kind.__name__)
def test_no_list_of_solutions_is_complete_after_an_edit(kind):
    function, edit = kind()
    inverse = invert(function, float)
    edit()
    found = inverse.solutions(10.0)
    assert list(found) == []
    assert found.status == "not_exhausted"
    assert "has changed since" in found.reason
    for ask in (lambda: inverse.nearest(10.0, 2.0), lambda: inverse.log_abs_det(10.0)):
        with pytest.raises(NoSolution, match="has changed since"):
            ask()


def test_what_was_proved_of_the_function_before_is_not_said_of_it_now():
    scale = Scale()
    inverse = invert(lambda x: x * x * scale.own, float)
    scale.own = -2.0
    found = inverse.solutions(-8.0)
    assert list(found) == []
    assert found.status == "not_exhausted"
    with pytest.raises(NoSolution, match="has changed since") as refused:
        inverse(-8.0)
    assert not refused.value.proved

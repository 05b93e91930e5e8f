"""Functions that the interpreter enters because of what it knows of a class: ``__init__`` and the
getters of properties, however and whenever they came to the class."""

import gc
from unittest import mock

import pytest

from overlay import Context, MethodTable

HOT = 300
table = MethodTable("entered functions")


class Base:
    def __init__(self):
        self.found = "natively"

    @property
    def name(self):
        return "natively"


class Silent:
    def __init_subclass__(cls):
        """Goes no further up."""


@table.overlay(Base.__init__)
def _(self):
    self.found = "method"


@table.overlay(Base.name.fget)
def _(self):
    return "method"


def subclass():
    return type("Sub", (Base,), {})


def after_another():
    """Below a class whose only subclass has died."""
    parent = subclass()
    type("First", (parent,), {})
    gc.collect()
    assert not parent.__subclasses__()
    return type("Second", (parent,), {})


def below_one_that_came_later():
    return type("Below", (subclass(),), {})


def in_its_body(base=object):
    return type("Made", (base,), {"__init__": Base.__init__, "name": Base.name})


def in_its_body_unheard():
    return in_its_body(Silent)


def assigned(base=object):
    cls = type("Made", (base,), {})
    hot(cls, lambda each: each)
    cls.__init__, cls.name = Base.__init__, property(Base.name.fget)
    return cls


def assigned_below_silent():
    return assigned(Silent)


def assigned_above():
    above = type("Above", (), {})
    below = type("Below", (above,), {})
    hot(below, lambda each: each)
    above.__init__, above.name = Base.__init__, property(Base.name.fget)
    return below


def assigned_to_a_builtins_subclass():
    return assigned(dict)


def replaced():
    cls = type("Made", (), {"__init__": lambda self: None, "name": property(lambda self: "first")})
    hot(cls, lambda each: each.name)
    setattr(cls, "__init__", Base.__init__)  # noqa: B010
    setattr(cls, "name", property(Base.name.fget))  # noqa: B010
    return cls


def patched():
    cls = type("Made", (), {"__init__": lambda self: None, "name": None})
    mock.patch.multiple(cls, __init__=Base.__init__, name=property(Base.name.fget)).start()
    return cls


def given_bases():
    cls = type("Made", (type("Other", (), {}),), {})
    below = type("Below", (cls,), {})
    hot(below, lambda each: each)
    cls.__bases__ = (Base,)
    return below


WAYS = [
    subclass,
    after_another,
    below_one_that_came_later,
    in_its_body,
    in_its_body_unheard,
    assigned,
    assigned_below_silent,
    assigned_above,
    assigned_to_a_builtins_subclass,
    replaced,
    patched,
    given_bases,
]


def hot(cls, read):
    return [read(cls()) for _ in range(HOT)]


@pytest.fixture
def ctx():
    yield Context(table)
    mock.patch.stopall()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", [lambda each: each.found, lambda each: each.name])
@pytest.mark.parametrize("inside", [True, False])
def test_each_way_to_a_class_is_seen(way, read, inside, ctx):
    if inside:
        with ctx:
            cls = way()
            assert set(hot(cls, read)) == {"method"}
    else:
        cls = way()
        assert set(hot(cls, read)) == {"natively"}
    assert set(ctx(hot, cls, read)) == {"method"}
    assert set(hot(cls, read)) == {"natively"}
    del ctx
    assert set(hot(cls, read)) == {"natively"}


def test_classes_come_to_a_target_while_no_context_lives():
    first = subclass()
    for _ in range(2):
        ctx = Context(table)
        below = type("Below", (first,), {})
        assert set(ctx(hot, below, lambda each: each.found)) == {"method"}
        del ctx
        gc.collect()
        assert set(hot(below, lambda each: each.found)) == {"natively"}
        late = assigned()
        ctx = Context(table)
        assert set(ctx(hot, late, lambda each: each.name)) == {"method"}

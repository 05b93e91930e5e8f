"""Edits of the dependencies of a program: for each kind a program that multiplies by 1.0, and the
edit that makes the factor 9.0.
"""

import types

import numpy as np
from plum import Dispatcher

from overlay import Context, MethodTable, generic


def of_class():
    class Constants:
        rate = 1.0

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Constants, "rate", 9.0)


def inherited():
    class Base:
        rate = 1.0

    class Constants(Base):
        pass

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Base, "rate", 9.0)


def hidden_from_now_on():
    class Base:
        rate = 1.0

    class Constants(Base):
        pass

    def program(x):
        return x * Constants.rate

    return program, lambda: setattr(Constants, "rate", 9.0)


def deleted_from_the_nearer_class():
    class Base:
        rate = 9.0

    class Constants(Base):
        rate = 1.0

    def program(x):
        return x * Constants.rate

    return program, lambda: delattr(Constants, "rate")


def static_method():
    class Tools:
        @staticmethod
        def grow(x):
            return x * 1.0

    def program(x):
        return Tools.grow(x)

    return program, lambda: setattr(Tools, "grow", staticmethod(lambda x: x * 9.0))


def of_class_in_module():
    module = types.ModuleType("settings")
    module.Constants = type("Constants", (), {"rate": 1.0})

    def program(x):
        return x * module.Constants.rate

    return program, lambda: setattr(module.Constants, "rate", 9.0)


def of_module():
    module = types.ModuleType("settings")
    module.rate = 1.0

    def program(x):
        return x * module.rate

    return program, lambda: setattr(module, "rate", 9.0)


def function_of_module():
    module = types.ModuleType("settings")
    module.grow = lambda x: x * 1.0

    def program(x):
        return module.grow(x)

    return program, lambda: setattr(module, "grow", lambda x: x * 9.0)


def a_global():
    namespace = {"rate": 1.0}
    exec("def program(x): return x * rate", namespace)
    return namespace["program"], lambda: namespace.update(rate=9.0)


def a_global_function():
    namespace = {}
    exec("def grow(x): return x * 1.0\ndef program(x): return grow(x)", namespace)
    return namespace["program"], lambda: exec("def grow(x): return x * 9.0", namespace)


def closure():
    rate = 1.0

    def program(x):
        return x * rate

    def edit():
        nonlocal rate
        rate = 9.0

    return program, edit


def default():
    def scaled(x, rate=1.0):
        return x * rate

    def program(x):
        return scaled(x)

    return program, lambda: setattr(scaled, "__defaults__", (9.0,))


def keyword_default():
    def scaled(x, *, rate=1.0):
        return x * rate

    def program(x):
        return scaled(x)

    return program, lambda: setattr(scaled, "__kwdefaults__", {"rate": 9.0})


def code():
    def scaled(x):
        return x * 1.0

    def program(x):
        return scaled(x)

    return program, lambda: setattr(scaled, "__code__", (lambda x: x * 9.0).__code__)


def of_object():
    thing = types.SimpleNamespace(rate=1.0)

    def program(x):
        return x * thing.rate

    return program, lambda: setattr(thing, "rate", 9.0)


def of_object_hiding_its_class():
    thing = type("Thing", (), {"rate": 1.0})()

    def program(x):
        return x * thing.rate

    return program, lambda: setattr(thing, "rate", 9.0)


def of_class_of_object():
    kind = type("Kind", (), {"rate": 1.0})
    thing = kind()

    def program(x):
        return x * thing.rate

    return program, lambda: setattr(kind, "rate", 9.0)


def method():
    kind = type("Kind", (), {"grow": lambda self, x: x * 1.0})
    thing = kind()

    def program(x):
        return thing.grow(x)

    return program, lambda: setattr(kind, "grow", lambda self, x: x * 9.0)


def element_of_list():
    rates = [1.0, 2.0]

    def program(x):
        return x * rates[0]

    return program, lambda: rates.__setitem__(0, 9.0)


def length_of_list():
    rates = [1.0]

    def program(x):
        return x * len(rates)

    return program, lambda: rates.extend([1.0] * 8)


def element_of_array():
    rates = np.array([1.0, 2.0])

    def program(x):
        return x * rates[0]

    return program, lambda: rates.__setitem__(0, 9.0)


def item_of_dict():
    rates = {"one": 1.0}

    def program(x):
        return x * rates["one"]

    return program, lambda: rates.update(one=9.0)


def method_of_generic():
    @generic
    def scaled(x): ...

    @scaled.dispatch
    def _(x: object):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @scaled.dispatch
        def _(x: float):
            return x * 9.0

    return program, edit


def method_of_generic_in_place_of_another():
    @generic
    def scaled(x): ...

    @scaled.dispatch
    def _(x: float):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @scaled.dispatch
        def _(x: float):
            return x * 9.0

    return program, edit


def method_of_plum_function():
    dispatch = Dispatcher()

    @dispatch
    def scaled(x: object):
        return x * 1.0

    def program(x):
        return scaled(x)

    def edit():
        @dispatch
        def scaled(x: float):
            return x * 9.0

    return program, edit


EDITS = (
    *(of_class, inherited, hidden_from_now_on, deleted_from_the_nearer_class, static_method),
    *(of_class_in_module, of_module, function_of_module, a_global, a_global_function),
    *(closure, default, keyword_default, code, element_of_list, length_of_list, element_of_array),
    *(of_object, of_object_hiding_its_class, of_class_of_object, method, item_of_dict),
    *(method_of_generic, method_of_generic_in_place_of_another, method_of_plum_function),
)
# of a list or dict, of an object that is no constant, of functions with methods of their own
LISTS = {"element_of_list", "length_of_list", "item_of_dict"}
OBJECTS = {"of_object", "of_object_hiding_its_class", "of_class_of_object", "method"}
GENERIC = {
    *("method_of_generic", "method_of_generic_in_place_of_another", "method_of_plum_function"),
}


def method_of_table():
    """The result of the program in a context; it is returned as well."""
    table = MethodTable("edited")

    def grow(x):
        return x

    @table.overlay(grow)
    def _(x: float):
        return x * 1.0

    def program(x):
        return grow(x)

    def edit():
        @table.overlay(grow)
        def _(x: float):
            return x * 9.0

    return Context(table), program, edit

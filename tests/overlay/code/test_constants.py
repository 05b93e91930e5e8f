"""Names that a module's code binds and stores, found without the source of the module."""

from textwrap import dedent

import pytest

from overlay.analysis import check
from overlay.code.constants import codes_of_module, stored_attributes, stored_in
from overlay.core.target import attributes_of

# each binds the global ``N``, and stores the attribute ``part``
HOLDERS = {
    "function": "def f(x):\n    {body}",
    "nested": "def f():\n    def g(x):\n        {body}\n    return g",
    "decorated": "@functools.wraps(print)\ndef f(x):\n    {body}",
    "cached": "@functools.cache\ndef f(x):\n    {body}",
    "partial": "f = functools.partial(lambda x: store(x))\ndef store(x):\n    {body}",
    "compiled": "@numba.njit\ndef f(x):\n    {body}",
    "method": "class C:\n    def f(self, x):\n        {body}",
    "static method": "class C:\n    @staticmethod\n    def f(x):\n        {body}",
    "class method": "class C:\n    @classmethod\n    def f(x, y):\n        {body}",
    "getter": "class C:\n    @property\n    def f(x):\n        {body}",
    "setter": "class C:\n    f = property()\n    @f.setter\n    def f(x, y):\n        {body}",
    "deleter": "class C:\n    f = property()\n    @f.deleter\n    def f(x):\n        {body}",
    "cached property": "class C:\n    @functools.cached_property\n    def f(x):\n        {body}",
    "abstract class": "class C(abc.ABC):\n    def f(self, x):\n        {body}",
    "inner class": "class C:\n    class D:\n        def f(self, x):\n            {body}",
}
IMPORTS = "import abc, functools, numba\n"


def module_of(source):
    """The namespace of a module that no loader has, as in a notebook."""
    namespace = {"__name__": "without_a_loader"}
    exec(compile(IMPORTS + source, "a cell", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("holder", HOLDERS)
def test_code_in_every_holder_is_found(holder):
    namespace = module_of(HOLDERS[holder].format(body="global N; N = x.part = 1"))
    codes = list(codes_of_module(namespace))
    assert any("N" in stored_in(code, ("STORE_GLOBAL",)) for code in codes)
    if type(cls := namespace.get("C")) is type:
        assert "part" in stored_attributes(cls)


def test_classes_that_a_class_only_mentions_are_no_part_of_it():
    namespace = module_of("class A:\n    def f(x): x.part = 1\nclass B:\n    other = A")
    assert "part" in stored_attributes(namespace["A"])
    assert "other" in attributes_of(namespace["B"])
    assert "part" not in stored_attributes(namespace["B"])


def test_an_attribute_that_a_setter_stores_is_not_missing():
    source = """
    class Named(abc.ABC):
        def __init__(self, name): self.name = name
        @property
        def name(self): return self._name
        @name.setter
        def name(self, value): self._name = value
    def f(name): return Named(name).name
    """
    assert check(module_of(dedent(source))["f"], str) == ()

"""Depths of the stack, where frames do not tell where their stack ends."""

import sys

import pytest

from overlay.code.depths import BadCode, depths

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="frames tell it")


def test_nested_handlers_that_only_raise_have_their_depth():
    def program(f, g):
        try:
            f()
        except ValueError:
            try:
                try:
                    raise
                finally:
                    raise
            except ValueError:
                pass
        return g()

    code = program.__code__
    assert max(depths(code).values()) == code.co_stacksize


def test_code_with_a_stack_that_is_too_small_is_refused():
    def program(a):
        return a + a * a

    assert max(depths(program.__code__).values()) <= program.__code__.co_stacksize
    with pytest.raises(BadCode, match="deeper than 1"):
        depths(program.__code__.replace(co_stacksize=1))

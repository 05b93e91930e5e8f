"""What changes while a function is compiled is seen by the next call, as other changes are."""

import pytest

from overlay import Context, Plugin


@pytest.mark.parametrize("times", [1, 100])
def test_what_changes_while_a_function_is_compiled_is_seen_by_the_next_call(times):
    def level(x=-1.0):
        return x

    def program(x):
        return level() + x

    class Changes(Plugin):
        left = times

        def after_codegen(self, module):
            if self.left:
                self.left -= 1
                level.__defaults__ = (float(self.left),)

    plugin = Changes()
    hot = Context(plugins=(plugin,)).jit(program)
    hot(0.0)
    assert plugin.left < times
    assert plugin.left > 0 or times == 1  # a call ends, though something changes all the time
    plugin.left = 0
    assert hot(0.0) == level()

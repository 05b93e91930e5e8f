"""A plugin of pytest: each context without plugins has one that changes nothing.

    BESIDE=around python -m pytest -p tests.overlay.beside_a_plugin tests/overlay/python

What holds for tables then has to hold beside plugins. BESIDE: the hook of the plugin.
"""

import os

from overlay import Plugin
from overlay.contexts import context


class Surrounds(Plugin):
    def around(self, callee, run):
        return lambda *args, **kwargs: run(*args, **kwargs)


class Enters(Plugin):
    def enter(self, callee, types):
        return self


PLUGINS = {"around": Surrounds(), "enter": Enters()}
beside = PLUGINS[os.environ["BESIDE"]]
composed = context.composed
context.composed = lambda plugins: composed(tuple(plugins) or (beside,))

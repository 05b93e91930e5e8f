"""A plugin of pytest: each context without plugins has one that changes nothing.

    BESIDE=around python -m pytest -p tests.overlay.beside_a_plugin tests/overlay/python

BESIDE: the hook of the plugin.
"""

import os

from overlay import Plugin
from overlay.contexts import context
from tests.overlay.idle_plugins import Enters, Surrounds

PLUGINS = {"around": Surrounds(), "enter": Enters()}
beside = PLUGINS[os.environ["BESIDE"]]
composed = context.composed
context.composed = lambda plugins: composed(
    plugins if isinstance(plugins, Plugin) else tuple(plugins) or (beside,)
)

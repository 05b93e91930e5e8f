"""Contexts with a plugin around each call that passes it on."""

from overlay import Context, MethodTable, Plugin

__all__ = ["context"]


class GoesOn(Plugin):
    """A plugin that wraps each call in a function that makes it."""

    def around(self, callee, run):
        def goes_on(*args, **kwargs):
            return run(*args, **kwargs)

        return goes_on


PLUGIN = GoesOn()


def context(*tables: MethodTable) -> Context:
    """A context with these tables and the plugin."""
    return Context(*tables, plugins=(PLUGIN,))

"""Plugins that change nothing: what holds without plugins has to hold beside each of them."""

from overlay import Plugin


class Surrounds(Plugin):
    """Stands around each call, and goes on with it."""

    def around(self, callee, run):
        def goes_on(*args, **kwargs):
            return run(*args, **kwargs)

        return goes_on


class Enters(Plugin):
    """Is asked at each call, and stays active in it."""

    def enter(self, callee, types):
        return self

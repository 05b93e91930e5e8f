"""Contexts, and the stack of them that is in force.

``context``: contexts, with what can be done in them: ``ctx(f)``, ``ctx.jit``, ``ctx.explain``.
``with_blocks``, ``wrapping``, ``report``: ``with ctx:``, ``ctx.wrap`` and ``ctx.report``.
``stack``: contexts entered one inside the other, and their engines.
``current``: what code in a context can say, such as ``call_next``.
``rules_alone``: contexts of the tables that interpret, in which their rules run.
"""

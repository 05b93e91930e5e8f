"""Contexts, and the stack of contexts in force.

``context``: contexts and their methods: ``ctx(f)``, ``ctx.jit``, ``ctx.explain``.
``with_blocks``, ``wrapping``, ``report``: ``with ctx:``, ``ctx.wrap`` and ``ctx.report``.
``compilations``: the result of ``ctx.compilations``.
``stack``: nested contexts, and their engines.
``current``: functions for code inside a context, such as ``call_next``.
``rules_alone``: interpreting tables without others, for rules and own code of interpretations.
"""

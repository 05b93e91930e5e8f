"""The Python engine: runs ordinary code, written by anyone, under a context.

``engines``: gives a stack its engine, if this Python has one; ``self_test`` tests a new Python.
``interception``: that engine: calls of targets are intercepted and resolved.
``sites``, ``entered_functions``: instructions that apply or enter functions without a call.
``plugin_calls``, ``entering``: stand-ins for callees, and the plugins active inside a callee.
``carrying``: passes the stack on to threads and executors.
``own_objects``: objects of which each stack has its own copy.
``seen_calls``: the kinds of calls that are intercepted, and those that are not, by name.
``hidden_frames``: functions without a visible frame.
``frame_readers``: builtins that read the frame that calls them: ``locals()``, ``eval(text)``,
``super()``.
"""

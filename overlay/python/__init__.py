"""The Python engine: ordinary code, written by anyone, under a context.

``engines``: the engine of a stack, if this Python has one; ``self_test`` tries a new Python.
``interception``: that engine: calls of targets are intercepted and resolved.
``sites``, ``entered_functions``: instructions that apply or enter functions without a call.
``plugin_calls``, ``entering``: what plugins put in the place of callees, and which go on.
``carrying``: the stack is handed on to threads and executors.
``own_objects``: objects that are others in each stack.
``hidden_frames``: functions that leave no frame.
"""

"""Generic functions: ours, and plum's.

``declared``: functions made generic; ``generic_function`` is their type for type checkers.
``views``: resolution of calls in a stack, and the position at which ``call_next`` continues; calls
of intercepted targets are resolved by them, too.
``plum_methods``: base methods, resolved by plum.
"""

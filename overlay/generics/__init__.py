"""Generic functions: ours, and plum's.

``declared``: functions made generic; ``generic_function`` is their type for type checkers.
``views``: what calls of one resolve to in a stack, and where ``call_next`` goes on; calls of
intercepted targets are resolved by them, too.
``plum_methods``: base methods, resolved by plum.
"""

"""Plugins, and what interpretations are built of in compiled code.

``plugin``: the class with its hooks, and how plugins are composed.
``markers``: functions that stand for what a plugin does with LLVM.
``known_functions``: types for functions, functions for objects.
``attempts``: calls that may raise, where an exception cannot be caught.
"""

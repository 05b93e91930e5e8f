"""Plugins, and the building blocks of interpretations in compiled code.

``plugin``: the class with its hooks, and how plugins are composed.
``markers``: functions of the program that mark calls for a plugin to rewrite in LLVM.
``known_functions``: types for functions, functions for callable objects.
``attempts``: calls that may raise, in code that cannot catch exceptions.
"""

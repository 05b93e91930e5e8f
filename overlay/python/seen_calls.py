"""Kinds of calls that the Python engine intercepts, and those that it does not see, by short names.

``docs/python_engine.md`` explains each of them.
"""

__all__ = ["SEEN", "UNSEEN"]

SEEN = (
    "Python function",
    "C function",
    "__import__, __build_class__",
    "method of a C class, such as str.upper",
    "class",
    "ufunc of numpy, function of Cython, wrapper of wrapt, any object with its own vectorcall",
    "object that its class calls in C, such as an lru_cache function",
    "object of a class with __call__ in Python",
    "slot wrapper, such as int.__add__",
    "plum function, generic function",
    "operator (operator.add, also as a + b)",
)
UNSEEN = (
    "Calls of a C function by its address in C code",
    "Machine code that numba compiled outside the context",
    "Slots of builtin types",
    "Work with other context variables",
    "Subclasses of a class that is a target",
)

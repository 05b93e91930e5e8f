"""Nonstandard interpretations: small libraries on the public API of ``overlay``.

Each is a module or package of its own and is imported by its name:
``from overlay.interpretations.autodiff import derivative``.
"""

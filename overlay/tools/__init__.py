"""Tools: the command line, ``install``, notebook magics and the pytest plugin.

``command_line``: ``python -m overlay``, which runs ``whole_programs`` or a console.
``doctor``: what works in this installation.
``named``, ``terminal``: objects named on a command line, and its output.
``install``, ``magics``: a context for all later code, and for cells of a notebook.
``pytest_plugin``: ``pytest --overlay``.
"""

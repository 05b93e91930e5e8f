"""Tools: the command line, the console, notebook magics and the pytest plugin.

``command_line``: ``python -m overlay``, which runs ``whole_programs`` or a ``console``.
``doctor``: what works in this environment.
``named``, ``terminal``: objects named on a command line, and its output.
``install``, ``magics``: a context for a session, and for cells of a notebook.
``pytest_plugin``: ``pytest --overlay``.
"""

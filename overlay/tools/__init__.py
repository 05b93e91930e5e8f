"""The command line, the console, notebooks and pytest.

``command_line``: ``python -m overlay``, which runs ``whole_programs`` or a ``console``.
``named``, ``terminal``: what command lines name, and what they print.
``install``, ``magics``: a context for a session, and for cells of a notebook.
``pytest_plugin``: ``pytest --overlay``.
"""

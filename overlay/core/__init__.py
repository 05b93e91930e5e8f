"""Method tables, and the resolution of calls in them.

``table``, ``method``: tables of methods, by ``target`` and ``signature``. ``fitting``,
``checking``: whether a method fits its target, and values its annotations. ``dispatch``: the
method for a call, also for ``interpreted_values``. ``in_force``: the stack of contexts in force.
``metadata``: comparison of contexts' metadata. ``pickling``, ``content_identity``: tables,
contexts and functions in other processes. ``cache_folder``, ``bounded_store``: caches on disk,
and in memory. ``background``: values that a thread makes in the background. ``logs``: records for
``logging``. ``jitted``: functions made by numba. ``late_binding``: hooks bound to higher layers.
``errors``, ``location``, ``markup``: messages and their rendering. ``public_names``: attributes
that ``dir`` leaves out. ``short_repr``: representations of objects. ``outline``: indented text, and
a tree in a terminal. ``own_builtins``: builtins for the engine's own code.
"""

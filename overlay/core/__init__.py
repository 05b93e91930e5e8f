"""Method tables, and how a call is resolved in them.

``table``, ``method``: tables of methods, by ``target`` and ``signature``.
``fitting``, ``checking``: whether a method fits its target, and values its annotations.
``dispatch``: the method for a call, also for ``interpreted_values``.
``in_force``: the stack of contexts in force. ``metadata``: how that of contexts is compared.
``pickling``, ``content_identity``: tables, contexts and functions in other processes.
``cache_folder``, ``bounded_store``: what is kept on disk, and in memory.
``jitted``: functions made by numba. ``late_binding``: what lies in higher layers.
``errors``, ``location``, ``markup``: what users read.
"""

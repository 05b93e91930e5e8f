"""The reader of Python code, and the facts of one version of Python.

``listing`` and ``decoding`` give instructions under names that are the same on every version; the
differences are in ``versions``, ``py314``, ``effects`` and ``operators``. ``basic_blocks`` turns
them into basic blocks of ``statements``, one handler per instruction: ``instructions``, split into
``stack_instructions``, ``call_instructions`` and ``container_instructions``. ``scopes`` and
``constants`` resolve names from outside. ``body`` has the data, with ``marks`` in the place of
functions for instructions that are no calls, and ``wording`` describes instructions in errors.

Readers of these blocks: ``read_bodies`` gives the body of a function, with ``handling``;
``structured_tree`` replaces jumps by branches and loops; ``reading`` propagates ``known_values``
and gives ``events``: calls and operators. ``callbacks`` and ``results`` are facts about C
functions.

``applied`` and ``depths`` are for the engine; ``fingerprint``, ``digest`` and ``record`` for
caches.
``dominance``: dominators of blocks.
``raising_calls``: the call that raised an error.
``held_functions``: containers of functions that the program holds.
``contents``: methods of lists, dicts and sets on contents that are known item by item.
"""

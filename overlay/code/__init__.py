"""The reader of Python code, and the facts of one version of Python.

``listing`` and ``decoding`` give instructions in words that are the same on every version:
``versions``, ``py314``, ``effects``, ``operators``. ``basic_blocks`` makes blocks of statements of
them: ``statements``, and for each ``instructions``, by theme ``stack_instructions``,
``call_instructions`` and ``container_instructions``. ``scopes`` says what names from outside stand
for, by ``constants``. ``body`` has the data, with ``marks`` for what is no call.

Readers of these blocks: ``read_bodies`` gives the body of a function, with ``handling``, and
``structured_tree`` branches and loops in the place of jumps; ``reading`` follows ``known_values``
through them, and gives ``events``, calls and operators. ``callbacks`` and ``results`` are facts
about C functions.

``applied`` and ``depths`` are for the engine; ``fingerprint``, ``digest`` and ``record`` for
caches.
"""

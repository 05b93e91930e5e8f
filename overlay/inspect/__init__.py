"""Looking at a program in a context before it runs: what each call resolves to.

``explain``: ``ctx.explain``, which gives an ``explanation``.
``call_tree``: the sites and functions in it; ``call_graph``: the code that these are read from.
``entries``, ``outcome``: the code that a call enters, and what it comes to.
``base_calls``: the outcome where no method applies.
``shadowing``: which methods of a stack of tables hide which.
``html``: drawings of explanations, reports, contexts and tables.
"""
